/** Shows text while it is being generated, by Slack's streaming or by edits. */
import type { Address } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { type MessageStream, PlatformError, type PostState, type ShowOptions } from '../../platform.ts';
import { createNewestWins } from '../../shared/newest-wins.ts';
import { wellFormed } from '../../shared/text.ts';
import type { Rates } from '../connection/rates.ts';
import type { Workspace } from '../connection/workspaces.ts';
import { LIMITS } from '../limits.ts';
import { createNativeStream } from './native-stream.ts';
import { createPost, layoutOf, type Post, type ShowMode, type ShowTools, toPosted } from './post.ts';
import { show } from './show.ts';

/** The tools of `show` that do not depend on the workspace. */
type StreamTools = Omit<ShowTools, keyof Workspace> & { readonly now: () => number };

/** See Platform.stream. Text of more than a few words uses Slack's streaming. Edits are the fallback. */
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
  /** Includes the latest stored state. */
  let current: ShowOptions = {
    ...options,
    async remember(posted) {
      current = { ...current, posted };
      await options.remember(posted);
    },
  };
  let kind: 'first' | 'next' = 'first';
  // The next write reports a failure.
  opening.catch(() => undefined);

  /** Uses edits while a new stream would have to wait. */
  function shouldStream({ text = '' }: Message, { starts }: Rates): boolean {
    const isLong = text.length > (layout === 'thread' ? 0 : LIMITS.streamFrom);
    return streams && isLong && (hasStreamed || starts.isIdle());
  }

  async function showNow(message: Message, mode: ShowMode): Promise<PostState> {
    const posted = await show(address, message, current, { ...tools, ...(await opening) }, mode);
    current = { ...current, posted, mayHavePosted: false };
    return posted;
  }

  /** The current post, for writes that bypass `show`. */
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
      // The text uses edits until a stream has started.
      hasStreamed ||= post.state.parts.length > length;
    }
    // Stored at once: in a thread with other messages, a later try could not identify the stream.
    if (layout === 'thread' && post.state.parts.length > length) await current.remember(toPosted(post.state));
    if (!streams) await writeWhole(message, { passing: true });
  }

  /** `passing`: the message will change again at once. */
  async function writeWhole(
    message: Message,
    { passing }: { readonly passing: boolean },
  ): Promise<PostState> {
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
      const isStreamed = shouldStream(message(), rates);
      // The first words start a stream, so they do not count as an append.
      if (!isStreamed || hasStreamed) await (isStreamed ? rates.appends : rates.edits).slot(kind);
      kind = 'next';
    },
    async write(build) {
      const message = build();
      if (shouldStream(message, (await opening).rates)) await writeStreamed(message);
      else await writeWhole(message, { passing: true });
    },
    failed(error) {
      tools.log.debug({ err: error }, 'Could not update a streamed message');
      // A closed channel stays closed, so writing stops. `close` reports the error.
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

/** In a thread, the streamed messages hold the text, and the first message with the button is deleted. */
function replaceFirst(state: Post['state']): void {
  const [first, ...streamed] = state.parts;
  if (first?.ts === undefined || streamed.length === 0 || state.parts.some(({ ts }) => ts === undefined))
    return;
  state.parts = streamed;
  state.replaced = [...(state.replaced ?? []), first.ts];
}
