/** Text that is still being written: the newest wins, one edit is in flight, the last state always stands. */
import type { Address, Log } from '../../command.ts';
import type { Message } from '../../message.ts';
import { type MessageStream, PlatformError, type Posted, type ShowOptions } from '../platform.ts';
import { LIMITS } from './limits.ts';
import { createNativeStream } from './native-stream.ts';
import type { Pace } from './pace.ts';
import { createPost, type ShowTools } from './post.ts';
import { toPosted } from './posted.ts';
import { show } from './show.ts';
import type { Workspace } from './workspaces.ts';

interface StreamOptions extends Pick<Pace, 'turn' | 'open'> {
  /** Makes the message stand, given what stood after the last write. `passing`: it will change again at once. */
  readonly write: (message: Message, state: { readonly passing: boolean }) => Promise<Posted>;
  readonly log: Log;
}

function createStream({ write, turn, open, log }: StreamOptions): MessageStream {
  let newest: Message | undefined;
  let running = false;
  let closed = false;
  let begun = false;
  let inFlight: Promise<unknown> = Promise.resolve();

  async function run(): Promise<void> {
    running = true;
    while (newest !== undefined && !closed) {
      try {
        await turn(begun ? 'next' : 'first');
        begun = true;
      } catch {
        // The end says why.
        break;
      }
      const message: Message | undefined = newest;
      newest = undefined;
      if (closed || message === undefined) break;
      inFlight = write(message, { passing: true }).catch((error: unknown) => {
        log.debug({ err: error }, 'A passing state of a stream was not written');
        // A place that is closed will not open again while the text is written; the end says so.
        if (error instanceof PlatformError && error.code !== 'unavailable') closed = true;
      });
      await inFlight;
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
      await open();
      return await write(message, { passing: false });
    },
  };
}

/** What a stream needs beside the workspace that it writes in. */
export type StreamTools = Omit<ShowTools, keyof Workspace> & { readonly now: () => number };

/**
 * See Platform.stream. In channels, text that grows long is streamed in the thread of its message by Slack's own means;
 * elsewhere, and where Slack does not stream, by edits. What stands after each write is remembered.
 */
export function streamTo(
  address: Address,
  options: ShowOptions,
  opening: Promise<Workspace>,
  tools: StreamTools,
): MessageStream {
  let { posted } = options;
  const remember: ShowOptions['remember'] = async (state) => {
    posted = state;
    await options.remember(state);
  };
  const native = createNativeStream(tools);
  let streams = mayStream(address);
  let began = false;
  // Whoever writes or closes hears of it.
  opening.catch(() => undefined);

  async function write(message: Message, { passing }: { readonly passing: boolean }): Promise<Posted> {
    const workspace = await opening;
    const showTools: ShowTools = { ...tools, ...workspace, passing };
    const showOptions = () => ({ ...options, posted, remember });
    const text = message.text ?? '';
    if (passing && streams && text.length > LIMITS.streamFrom) {
      began = true;
      posted = await show(address, message, showOptions(), { ...showTools, inThread: true, firstOnly: true });
      const post = createPost(address, showOptions(), showTools);
      streams = await native.write(text, post);
      posted = toPosted(post.state);
      if (streams) return posted;
    }
    if (began) await native.stop(createPost(address, showOptions(), showTools));
    posted = await show(address, message, showOptions(), { ...showTools, inThread: began });
    return posted;
  }

  return createStream({
    turn: async (kind) => (await opening).pace.turn(kind),
    open: async () => (await opening).pace.open(),
    log: tools.log,
    write,
  });
}

/** Slack streams only inside a thread: in a channel the answer's own; where people talk already, it would be one more. */
function mayStream({ channel, thread }: Address): boolean {
  return thread === undefined && /^[CG]/.test(channel);
}
