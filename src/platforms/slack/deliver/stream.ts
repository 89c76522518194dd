/** Text that is still being written: the newest state wins, one edit is in flight, the last state is always written. */
import type { Address } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { type MessageStream, PlatformError, type Posted, type ShowOptions } from '../../platform.ts';
import { wellFormed } from '../../shared/text.ts';
import type { Workspace } from '../connection/workspaces.ts';
import { LIMITS } from '../limits.ts';
import { createNativeStream } from './native-stream.ts';
import { createPost, type ShowTools, toPosted } from './post.ts';
import { show } from './show.ts';

/** The tools of `show` without those of the workspace. */
type StreamTools = Omit<ShowTools, keyof Workspace> & { readonly now: () => number };

/**
 * See Platform.stream. In channels, text that grows long is streamed in the thread of its message by Slack's own
 * streaming; elsewhere, and where Slack does not stream, it is written by edits.
 */
export function streamTo(
  address: Address,
  options: ShowOptions,
  opening: Promise<Workspace>,
  tools: StreamTools,
): MessageStream {
  const native = createNativeStream(tools.now);
  let streams = mayStream(address);
  let hasStreamed = false;
  /** With what was shown last. */
  let current: ShowOptions = {
    ...options,
    async remember(posted) {
      current = { ...current, posted };
      await options.remember(posted);
    },
  };
  let newest: (() => Message) | undefined;
  let kind: 'first' | 'next' = 'first';
  let running = false;
  let closed = false;
  let inFlight: Promise<unknown> = Promise.resolve();
  // A failure is reported by the next write.
  opening.catch(() => undefined);

  const streamsText = ({ text = '' }: Message): boolean => streams && text.length > LIMITS.streamFrom;

  /** `passing`: the message will change again at once. */
  async function write(message: Message, { passing }: { readonly passing: boolean }): Promise<Posted> {
    const showTools: ShowTools = { ...tools, ...(await opening), passing };
    const showNow = async (more: Partial<ShowTools>): Promise<Posted> => {
      const posted = await show(address, message, current, { ...showTools, ...more });
      current = { ...current, posted, mayHavePosted: false };
      return posted;
    };
    const text = wellFormed(message.text ?? '');
    if (passing && streamsText(message)) {
      hasStreamed = true;
      await showNow({ inThread: true, firstOnly: true });
      const post = createPost(address, current, showTools);
      try {
        streams = await native.write(text, post);
      } finally {
        current = { ...current, posted: toPosted(post.state) };
      }
      if (streams) return toPosted(post.state);
    }
    if (hasStreamed) await native.stop(createPost(address, current, showTools));
    return await showNow({ inThread: hasStreamed });
  }

  async function writePassing(message: Message): Promise<void> {
    try {
      await write(message, { passing: true });
    } catch (error) {
      tools.log.debug({ err: error }, 'A passing state of a stream was not written');
      // A channel that is closed stays closed while the text is written; `close` reports it.
      if (error instanceof PlatformError && error.code !== 'unavailable') closed = true;
    }
  }

  async function run(): Promise<void> {
    running = true;
    try {
      const { rates } = await opening;
      while (newest !== undefined && !closed) {
        const rate = streamsText(newest()) ? rates.appends : rates.editsIn(address.channel);
        await rate.slot(kind);
        kind = 'next';
        const message: (() => Message) | undefined = newest;
        newest = undefined;
        if (closed || message === undefined) break;
        inFlight = writePassing(message());
        await inFlight;
      }
    } catch {
      // `close` reports it.
    }
    running = false;
  }

  return {
    update(message) {
      newest = message;
      if (!running && !closed) void run();
    },
    async close(message) {
      closed = true;
      await inFlight;
      await (await opening).rates.editsIn(address.channel).ready();
      return await write(message, { passing: false });
    },
  };
}

/** Slack streams only inside a thread: under an answer in a channel. In a thread that people talk in it would be one more. */
function mayStream({ channel, thread }: Address): boolean {
  return thread === undefined && /^[CG]/.test(channel);
}
