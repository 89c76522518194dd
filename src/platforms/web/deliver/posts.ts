/** The bot's messages in the chat's channels. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import type { System } from '../../../core/system.ts';
import { type MessageStream, PlatformError, type PostState, type ShowOptions } from '../../platform.ts';
import { createNewestWins } from '../../shared/newest-wins.ts';
import { directChannelOf, isIn, WEB } from '../connection/community.ts';
import { WEB_LIMITS } from '../limits.ts';
import { renderForWeb } from '../render/convert.ts';
import type { WebMessage } from '../render/message.ts';
import type { History } from './history.ts';

export interface PostTools extends Pick<System, 'now' | 'newId'> {
  readonly history: History;
}

export type Posts = ReturnType<typeof createWebPosts>;

export function createWebPosts({ history, now, newId }: PostTools) {
  function assertReachable({ platform, channel, person }: Address): void {
    if (platform !== WEB || !isIn(channel, person))
      throw new PlatformError('gone', 'The channel does not exist, or the person is not in it');
  }

  async function messageFor(
    { channel, person, platformData }: Address,
    message: Message,
    { id, to }: { readonly id: string; readonly to?: string | undefined },
  ): Promise<WebMessage> {
    const { content, source } = await renderForWeb(message, person);
    const questionId = typeof platformData?.message === 'string' ? platformData.message : undefined;
    const { replyTo = questionId } = history.find(id) ?? {};
    return { ...content, id, channel, at: now(), source, replyTo, to };
  }

  /** The key alone identifies the message. */
  async function show(requested: Address, message: Message, options: ShowOptions): Promise<PostState> {
    assertReachable(requested);
    const { person, toPerson } = requested;
    const address = toPerson ? { platform: WEB, channel: directChannelOf(person), person } : requested;
    const id = postId(options.key);
    const rendered = await messageFor(address, message, { id });
    options.beforeWriting?.();
    history.put(rendered);
    return { id };
  }

  return {
    show,

    stream(address: Address, options: ShowOptions): MessageStream {
      const id = postId(options.key);
      const writer = createNewestWins<() => Message>({
        ready: () => sleep(WEB_LIMITS.streamMs),
        async write(make) {
          if (!isIn(address.channel, address.person)) return;
          const rendered = await messageFor(address, make(), { id });
          options.beforeWriting?.();
          history.put(rendered);
        },
        // `close` reports the error.
        failed: () => undefined,
      });
      return {
        update: writer.offer,
        async close(message) {
          await writer.close();
          return await show(address, message, options);
        },
      };
    },

    /** Resolves to the message's id. */
    async sendPrivately(address: Address, message: Message): Promise<string> {
      assertReachable(address);
      const privateMessage = await messageFor(address, message, { id: newId(), to: address.person });
      history.put(privateMessage);
      return privateMessage.id;
    },
  };
}

/** The prefix keeps job ids apart from other message ids. */
export const postId = (key: string): string => `b-${key}`;
