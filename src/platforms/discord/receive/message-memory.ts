/** Messages that were said before, read from Discord; those of the last minutes are remembered. */

import type { System } from '../../../core/system.ts';
import { BoundedMap } from '../../../core/util/bounded-map.ts';
import type { DiscordRest } from '../connection/rest.ts';
import { troubleOf } from '../errors.ts';
import { type IncomingMessage, incomingMessageSchema } from './incoming-message.ts';

const REMEMBERED_MS = 10 * 60_000;
const MOST_REMEMBERED = 1_000;

export type Messages = ReturnType<typeof createMessages>;

/** So that each question in a long chain of replies does not cost a request for each link. */
export function createMessages({
  rest,
  now,
  log,
}: Pick<System, 'now' | 'log'> & { readonly rest: Pick<DiscordRest, 'message' | 'messages'> }) {
  const remembered = new BoundedMap<string, { readonly message: IncomingMessage; readonly until: number }>(
    MOST_REMEMBERED,
  );

  function remember(message: IncomingMessage): void {
    remembered.set(message.id, { message, until: now() + REMEMBERED_MS });
  }

  return {
    remember,

    /** It was edited or deleted. */
    forget(id: string): void {
      remembered.delete(id);
    },

    /** Undefined for a message that was deleted, or that the bot may not read. Never rejects. */
    async read(channel: string, id: string): Promise<IncomingMessage | undefined> {
      const known = remembered.get(id);
      if (known && now() < known.until) return known.message;
      try {
        const { data: message } = incomingMessageSchema.safeParse(await rest.message(channel, id));
        if (message) remember(message);
        return message;
      } catch (error) {
        log.info({ err: error, trouble: troubleOf(error) }, 'Could not read an earlier message');
        return undefined;
      }
    },

    /** Oldest first; none where they cannot be read. Ids grow with time, so `before` may be any. Never rejects. */
    async latest(channel: string, before: string, most: number): Promise<IncomingMessage[]> {
      try {
        const found = await rest.messages(channel, { before }, most);
        if (!Array.isArray(found)) return [];
        return found.flatMap((one) => incomingMessageSchema.safeParse(one).data ?? []).reverse();
      } catch (error) {
        log.warn({ err: error, trouble: troubleOf(error) }, 'Could not read earlier messages');
        return [];
      }
    },
  };
}
