/** Questions whose message was deleted: none of them is begun, and what was begun for them ends. */
import { SnowflakeUtil } from 'discord.js';
import { z } from 'zod';
import type { Bot } from '../../../core/bot/bot.ts';
import type { Outcome } from '../../../core/bot/outcome.ts';
import type { Invocation } from '../../../core/invocation.ts';

/** What an older message asked for has ended: an answer is given up after ten minutes, and may wait in line before. */
const ANSWERED_WITHIN_MS = 60 * 60_000;
/** More are deleted at a time only by moderators who tidy up. */
const MOST_REMEMBERED = 1000;

const deletionSchema = z.union([
  z.object({ id: z.string() }).transform(({ id }) => [id]),
  z.object({ ids: z.array(z.string()) }).transform(({ ids }) => ids),
]);

export type Deletions = ReturnType<typeof createDeletions>;

export function createDeletions(now: () => number) {
  const deleted = new Set<string>();
  const withdraw = (bot: Bot, id: string) => bot.withdraw?.({ platform: 'discord', id });

  return {
    /** Takes MESSAGE_DELETE and MESSAGE_DELETE_BULK, of any message. Never rejects. */
    async receive(data: unknown, bot: Bot): Promise<void> {
      const { data: ids = [] } = deletionSchema.safeParse(data);
      const recent = ids.filter((id) => SnowflakeUtil.timestampFrom(id) > now() - ANSWERED_WITHIN_MS);
      for (const id of recent) deleted.add(id);
      for (const oldest of deleted) {
        if (deleted.size <= MOST_REMEMBERED) break;
        deleted.delete(oldest);
      }
      await Promise.all(recent.map((id) => withdraw(bot, id)));
    },

    isDeleted: (id: string): boolean => deleted.has(id),

    /** Runs the invocation that has its message's id. Undefined when the message is gone: then there is nothing to say. */
    async run(invocation: Invocation, bot: Bot): Promise<Outcome | undefined> {
      const { id } = invocation;
      if (deleted.has(id)) return undefined;
      const outcome = await bot.run(invocation);
      if (!deleted.has(id)) return outcome;
      // The event came before there was anything to cancel.
      await withdraw(bot, id);
      if (outcome.type === 'accepted') outcome.begin();
      return undefined;
    },
  };
}
