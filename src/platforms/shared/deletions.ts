/** Questions whose message was deleted: none of them is begun, and what was begun for them ends. */
import type { Bot } from '../../core/bot/create-bot.ts';
import type { Outcome } from '../../core/bot/outcome.ts';
import type { Invocation } from '../../core/invocation.ts';

/** What an older message asked for has ended: an answer is given up after ten minutes, and may wait in line before. */
const ANSWERED_WITHIN_MS = 60 * 60_000;
/** More are deleted at a time only by moderators who tidy up. */
const MOST_REMEMBERED = 1000;

export interface DeletedMessage {
  /** Of the invocation that it would be. */
  readonly id: string;
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number;
}

export type Deletions = ReturnType<typeof createDeletions>;

export function createDeletions(platform: string, now: () => number) {
  const deleted = new Set<string>();
  const withdraw = async (bot: Bot, id: string): Promise<void> => await bot.withdraw({ platform, id });

  return {
    /** Takes messages of any kind. Never rejects. */
    async receive(messages: readonly DeletedMessage[], bot: Bot): Promise<void> {
      const recent = messages.filter(({ at }) => at > now() - ANSWERED_WITHIN_MS);
      for (const { id } of recent) deleted.add(id);
      for (const oldest of deleted) {
        if (deleted.size <= MOST_REMEMBERED) break;
        deleted.delete(oldest);
      }
      await Promise.all(recent.map(({ id }) => withdraw(bot, id)));
    },

    isDeleted: (id: string): boolean => deleted.has(id),

    /** Runs the invocation that has its message's id. Undefined when the message is gone: then there is nothing to say. */
    async run(invocation: Invocation, bot: Bot): Promise<Outcome | undefined> {
      const { id } = invocation;
      if (deleted.has(id)) return undefined;
      const outcome = await bot.run(invocation);
      if (!deleted.has(id)) return outcome;
      await withdraw(bot, id);
      if (outcome.type === 'accepted') outcome.begin();
      return undefined;
    },
  };
}
