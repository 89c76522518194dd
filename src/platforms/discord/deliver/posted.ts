/** Links to a post, finds its buttons, and removes it. */
import type { Address } from '../../../core/invocation.ts';
import type { PostState } from '../../platform.ts';
import { addressDataOf, liveToken } from '../address.ts';
import { ignoreErrors, platformErrorOf } from '../errors.ts';
import type { DeliveryTools } from './tools.ts';
import { CLOSED_TO_BOT, createWriter, discordPostOf } from './writer.ts';

/** Links to the first message; `@me` stands for direct messages. https://docs.discord.com/developers/reference */
export async function messageLink({ guild }: Address, posted: PostState): Promise<string | undefined> {
  const [first] = discordPostOf(posted).messages;
  return first && `https://discord.com/channels/${guild ?? '@me'}/${first.channel}/${first.id}`;
}

/** See Platform.offers. */
export async function messageOffers(
  address: Address,
  posted: PostState,
  action: string,
  { rest, now }: Pick<DeliveryTools, 'rest' | 'now'>,
): Promise<boolean | undefined> {
  const { messages } = discordPostOf(posted);
  const token = liveToken(addressDataOf(address), now());
  try {
    for (const { id, channel, via } of messages.toReversed()) {
      const request = via === 'token' && token ? rest.response(token, id) : rest.message(channel, id);
      const found = await ignoreErrors(['message-deleted', 'token-expired', ...CLOSED_TO_BOT], () => request);
      if (found === undefined) return undefined;
      if (JSON.stringify(found).includes(JSON.stringify(action))) return true;
    }
    return messages.length === 0 ? undefined : false;
  } catch (error) {
    throw platformErrorOf(error);
  }
}

/** Deletes the messages of `stray` that are not in `current`. Throws PlatformError. */
export async function retractMessages(
  address: Address,
  stray: PostState,
  current: PostState,
  tools: DeliveryTools,
): Promise<void> {
  const storedIds = new Set(discordPostOf(current).messages.map(({ id }) => id));
  const post = discordPostOf(stray);
  const messages = post.messages.filter(({ id }) => !storedIds.has(id));
  const options = { key: '', remember: async () => undefined };
  try {
    await createWriter(address, { ...post, messages }, options, tools).writePages([]);
  } catch (error) {
    throw platformErrorOf(error);
  }
}
