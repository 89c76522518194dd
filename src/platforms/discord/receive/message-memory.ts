/** Reads earlier messages from Discord, and caches them for some minutes. */

import type { System } from '../../../core/system.ts';
import { BoundedMap } from '../../../core/util/bounded-map.ts';
import type { DiscordRest } from '../connection/rest.ts';
import { errorKindOf } from '../errors.ts';
import { type IncomingMessage, incomingMessageSchema } from './incoming-message.ts';

const CACHED_MS = 10 * 60_000;
const MAX_CACHED = 1_000;

export type Messages = ReturnType<typeof createMessages>;

/** The cache keeps each question in a long chain of replies from reading the whole chain again. */
export function createMessages({
  rest,
  now,
  log,
}: Pick<System, 'now' | 'log'> & { readonly rest: Pick<DiscordRest, 'message' | 'messages'> }) {
  const cache = new BoundedMap<string, { readonly message: IncomingMessage; readonly until: number }>(
    MAX_CACHED,
  );

  function remember(message: IncomingMessage): void {
    cache.set(message.id, { message, until: now() + CACHED_MS });
  }

  return {
    remember,

    /** Call this when a message was edited or deleted. */
    forget(id: string): void {
      cache.delete(id);
    },

    /** Returns undefined if the message was deleted or the bot may not read it. Never rejects. */
    async read(channel: string, id: string): Promise<IncomingMessage | undefined> {
      const known = cache.get(id);
      if (known && now() < known.until) return known.message;
      try {
        const { data: message } = incomingMessageSchema.safeParse(await rest.message(channel, id));
        if (message) remember(message);
        return message;
      } catch (error) {
        log.info({ err: error, kind: errorKindOf(error) }, 'Could not read an earlier message');
        return undefined;
      }
    },

    /** Returns messages, oldest first; empty if they cannot be read. Ids grow with time, so `before` may be any id. Never rejects. */
    async latest(channel: string, before: string, limit: number): Promise<IncomingMessage[]> {
      try {
        const found = await rest.messages(channel, { before }, limit);
        if (!Array.isArray(found)) return [];
        return found.flatMap((one) => incomingMessageSchema.safeParse(one).data ?? []).reverse();
      } catch (error) {
        log.warn({ err: error, kind: errorKindOf(error) }, 'Could not read earlier messages');
        return [];
      }
    },
  };
}
