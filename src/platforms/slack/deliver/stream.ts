/** Text that is still being written, by Slack's own streaming or by edits. */
import type { Address } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { type MessageStream, PlatformError, type Posted, type ShowOptions } from '../../platform.ts';
import { createNewestWins } from '../../shared/newest-wins.ts';
import { wellFormed } from '../../shared/text.ts';
import type { Rates } from '../connection/rates.ts';
import type { Workspace } from '../connection/workspaces.ts';
import { LIMITS } from '../limits.ts';
import { createNativeStream } from './native-stream.ts';
import { createPost, layoutOf, type Post, type ShowTools, toPosted } from './post.ts';
import { show } from './show.ts';

/** The tools of `show` without those of the workspace. */
type StreamTools = Omit<ShowTools, keyof Workspace> & { readonly now: () => number };

/**
 * See Platform.stream. What is longer than a few words is written by Slack's own streaming; where Slack does not stream, by
 * edits.
 */
export function streamTo(
  address: Address,
  options: ShowOptions,
  opening: Promise<Workspace>,
  tools: StreamTools,
): MessageStream {
  const native = createNativeStream(tools.now);
  const layout = layoutOf(address);
  let streams = true;
  let hasStreamed = false;
  /** With what was shown last. */
  let current: ShowOptions = {
    ...options,
    async remember(posted) {
      current = { ...current, posted };
      await options.remember(posted);
    },
  };
  let kind: 'first' | 'next' = 'first';
  // A failure is reported by the next write.
  opening.catch(() => undefined);

  /** A stream that would have to wait for its beginning leaves the text to edits for now. */
  function isToStream({ text = '' }: Message, { starts }: Rates): boolean {
    const isLong = text.length > (layout === 'thread' ? 0 : LIMITS.streamFrom);
    return streams && isLong && (hasStreamed || starts.isIdle());
  }

  /** The tools, and `show` for what is shown by them. */
  async function open(passing: boolean) {
    const showTools: ShowTools = { ...tools, ...(await opening), passing };
    const showNow = async (message: Message, more: Partial<ShowTools> = {}): Promise<Posted> => {
      const posted = await show(address, message, current, { ...showTools, ...more });
      current = { ...current, posted, mayHavePosted: false };
      return posted;
    };
    return { showTools, showNow };
  }

  async function writeStreamed(message: Message): Promise<void> {
    const { showTools, showNow } = await open(true);
    const { text: _, ...silent } = message;
    if (layout === 'thread') await showNow(silent, { firstOnly: true });
    else await showNow(message, { firstOnly: true, ...(layout === 'channel' ? { inThread: true } : {}) });
    const post = createPost(address, current, showTools);
    const { length } = post.state.parts;
    try {
      streams = await native.write(wellFormed(message.text ?? ''), post);
    } finally {
      current = { ...current, posted: toPosted(post.state) };
      // Until one has begun, the text goes by edits where Slack lets none begin.
      hasStreamed ||= post.state.parts.length > length;
    }
    // Among what others say, a later try could not tell whose stream it is.
    if (layout === 'thread' && post.state.parts.length > length) await current.remember(toPosted(post.state));
    if (!streams) await writeWhole(message, { passing: true });
  }

  /** `passing`: the message will change again at once. */
  async function writeWhole(message: Message, { passing }: { readonly passing: boolean }): Promise<Posted> {
    const { showTools, showNow } = await open(passing);
    if (hasStreamed) {
      const post = createPost(address, current, showTools);
      await native.stop(post);
      if (!passing && layout === 'thread') replaceFirst(post.state);
      current = { ...current, posted: toPosted(post.state) };
    }
    return await showNow(message, hasStreamed && layout === 'channel' ? { inThread: true } : {});
  }

  const writer = createNewestWins<() => Message>({
    async ready(message) {
      const { rates } = await opening;
      const isStreamed = isToStream(message(), rates);
      // A stream begins with its first words, which are no addition.
      if (!isStreamed || kind === 'next')
        await (isStreamed ? rates.appends : rates.editsIn(address.channel)).slot(kind);
      kind = 'next';
    },
    async write(made) {
      const message = made();
      if (isToStream(message, (await opening).rates)) await writeStreamed(message);
      else await writeWhole(message, { passing: true });
    },
    failed(error) {
      tools.log.debug({ err: error }, 'A passing state of a stream was not written');
      // A channel that is closed stays closed while the text is written; `close` reports it.
      if (error instanceof PlatformError && error.code !== 'unavailable') void writer.close();
    },
  });

  return {
    update: writer.offer,
    async close(message) {
      await writer.close();
      await (await opening).rates.editsIn(address.channel).ready();
      return await writeWhole(message, { passing: false });
    },
  };
}

/** In a thread the text stays where it was streamed: the message with the button, above it, goes. */
function replaceFirst(state: Post['state']): void {
  const [first, ...streamed] = state.parts;
  if (first?.ts === undefined || streamed.length === 0 || state.parts.some(({ ts }) => ts === undefined))
    return;
  state.parts = streamed;
  state.replaced = [...(state.replaced ?? []), first.ts];
}
