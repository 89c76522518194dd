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
import { createPost, layoutOf, type Post, type ShowMode, type ShowTools, toPosted } from './post.ts';
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

  async function showNow(message: Message, mode: ShowMode): Promise<Posted> {
    const posted = await show(address, message, current, { ...tools, ...(await opening) }, mode);
    current = { ...current, posted, mayHavePosted: false };
    return posted;
  }

  /** The post as it is shown, for what is not shown by `show`. */
  const currentPost = async () => createPost(address, current, { ...tools, ...(await opening) });

  async function writeStreamed(message: Message): Promise<void> {
    const { text = '', ...silent } = message;
    const mode = { passing: true, firstOnly: true, inThread: layout === 'channel' };
    await showNow(layout === 'thread' ? silent : message, mode);
    const post = await currentPost();
    const { length } = post.state.parts;
    try {
      streams = await native.write(wellFormed(text), post);
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
    if (hasStreamed) {
      const post = await currentPost();
      await native.stop(post);
      if (!passing && layout === 'thread') replaceFirst(post.state);
      current = { ...current, posted: toPosted(post.state) };
    }
    return await showNow(message, { passing, inThread: hasStreamed && layout === 'channel' });
  }

  const writer = createNewestWins<() => Message>({
    async ready(message) {
      const { rates } = await opening;
      const isStreamed = isToStream(message(), rates);
      // A stream begins with its first words, which are no addition.
      if (!isStreamed || hasStreamed) await (isStreamed ? rates.appends : rates.edits).slot(kind);
      kind = 'next';
    },
    async write(build) {
      const message = build();
      if (isToStream(message, (await opening).rates)) await writeStreamed(message);
      else await writeWhole(message, { passing: true });
    },
    failed(error) {
      tools.log.debug({ err: error }, 'Could not update a streamed message');
      // A channel that is closed stays closed while the text is written; `close` reports it.
      if (error instanceof PlatformError && error.code !== 'unavailable') void writer.close();
    },
  });

  return {
    update: writer.offer,
    async close(message) {
      await writer.close();
      await (await opening).rates.edits.ready();
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
