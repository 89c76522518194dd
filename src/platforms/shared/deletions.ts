/** Questions whose message was deleted: pending ones are skipped, running ones are cancelled. */
import type { Bot } from '../../core/bot/create-bot.ts';
import type { Outcome } from '../../core/bot/outcome.ts';
import type { Invocation } from '../../core/invocation.ts';

/** Older questions have finished: answers time out after ten minutes, plus time in the queue. */
const ANSWERED_WITHIN_MS = 60 * 60_000;
/** Only bulk deletions by moderators exceed this. */
const MAX_REMEMBERED = 1000;

export interface DeletedMessage {
  /** The id its invocation would have. */
  readonly id: string;
  /** When the message was sent, in milliseconds since the epoch. */
  readonly at: number;
}

export type Deletions = ReturnType<typeof createDeletions>;

export function createDeletions(platform: string, now: () => number) {
  const deleted = new Set<string>();
  const withdraw = async (bot: Bot, id: string): Promise<void> => await bot.withdraw({ platform, id });

  return {
    /** Accepts any messages, not only questions. Never rejects. */
    async receive(messages: readonly DeletedMessage[], bot: Bot): Promise<void> {
      const recent = messages.filter(({ at }) => at > now() - ANSWERED_WITHIN_MS);
      for (const { id } of recent) deleted.add(id);
      for (const oldest of deleted) {
        if (deleted.size <= MAX_REMEMBERED) break;
        deleted.delete(oldest);
      }
      await Promise.all(recent.map(({ id }) => withdraw(bot, id)));
    },

    isDeleted: (id: string): boolean => deleted.has(id),

    /** Runs an invocation that shares its message's id. Returns undefined if the message was deleted and needs no reply. */
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
