/** What people said of answers: one vote for each person and answer, which they may change. Kept by the day of the answer. */
import { z } from 'zod';
import { type Address, serverOf } from '../core/invocation.ts';
import type { Judgement } from '../core/message.ts';
import type { ModelFeedback } from '../core/moderation.ts';
import type { SettingsStore } from '../storage/storage.ts';

const DAY_MS = 24 * 3_600_000;

const daySchema = z.object({
  version: z.literal(1),
  /** By the answer's job. */
  answers: z.record(
    z.string(),
    z.object({
      model: z.string(),
      /** By the id of who voted. */
      votes: z.record(z.string(), z.enum(['good', 'bad'])),
    }),
  ),
});
type VotesOfDay = z.infer<typeof daySchema>;

type Where = Pick<Address, 'platform' | 'guild' | 'channel' | 'direct'>;

export interface Vote {
  /** The answer's job. */
  readonly job: string;
  readonly model: string;
  /** The day of the answer in UTC, as `2026-01-31`. */
  readonly day: string;
  readonly person: string;
  readonly judgement: Judgement;
}

export interface FeedbackStore {
  /** Resolves to what the person said of it before. */
  vote(where: Where, vote: Vote): Promise<Judgement | undefined>;
  /** The votes on answers of these days, by model; most votes first. */
  summary(where: Where, firstDay: string, days: number): Promise<readonly ModelFeedback[]>;
  /** Takes back every vote of a person, on one platform. */
  forget(platform: string, person: string): Promise<void>;
  /** Erases the votes on answers of days before this one. */
  prune(firstDay: string): Promise<void>;
}

/** Every method throws StorageError, and Error for votes that a newer version wrote. */
export function createFeedback({ settings }: { readonly settings: SettingsStore }): FeedbackStore {
  async function* keysOf(start: string): AsyncGenerator<string> {
    for await (const key of settings.keys()) if (key.startsWith(start)) yield key;
  }

  return {
    async vote(where, { job, model, day, person, judgement }) {
      let before: Judgement | undefined;
      await settings.update(keyOf(where, day), (stored): unknown => {
        const { answers, version } = read(stored);
        const { votes = {} } = answers[job] ?? {};
        before = votes[person];
        if (before === judgement) return stored;
        const answer = { model, votes: { ...votes, [person]: judgement } };
        return { version, answers: { ...answers, [job]: answer } } satisfies VotesOfDay;
      });
      return before;
    },

    async summary(where, firstDay, days) {
      const first = Date.parse(firstDay);
      const dates = Array.from({ length: days }, (_, n) =>
        new Date(first + n * DAY_MS).toISOString().slice(0, 10),
      );
      const found = await Promise.all(dates.map(async (day) => read(await settings.get(keyOf(where, day)))));
      const sums = new Map<string, { good: number; bad: number }>();
      for (const { model, votes } of found.flatMap(({ answers }) => Object.values(answers))) {
        const sum = sums.get(model) ?? { good: 0, bad: 0 };
        for (const judgement of Object.values(votes)) sum[judgement] += 1;
        sums.set(model, sum);
      }
      return [...sums]
        .map(([model, sum]) => ({ model, ...sum }))
        .filter(({ good, bad }) => good + bad > 0)
        .toSorted((one, other) => other.good + other.bad - one.good - one.bad);
    },

    async forget(platform, person) {
      for await (const key of keysOf(`${encoded('feedback', platform)}:`)) {
        await settings.update(key, (stored): unknown => {
          const { answers, version } = read(stored);
          const all = Object.entries(answers);
          if (!all.some(([, { votes }]) => Object.hasOwn(votes, person))) return stored;
          const left = all.map(([job, { model, votes }]) => {
            const { [person]: _, ...others } = votes;
            return [job, { model, votes: others }] as const;
          });
          return { version, answers: Object.fromEntries(left) } satisfies VotesOfDay;
        });
      }
    },

    async prune(firstDay) {
      for await (const key of keysOf('feedback:')) {
        const day = key.slice(key.lastIndexOf(':') + 1);
        if (day < firstDay) await settings.delete(key);
      }
    },
  };
}

const encoded = (...parts: string[]): string => parts.map(encodeURIComponent).join(':');

function keyOf(where: Where, day: string): string {
  const server = serverOf(where);
  const keeper = server === undefined ? ['conversation', where.channel] : ['server', server];
  return encoded('feedback', where.platform, ...keeper, day);
}

function read(stored: unknown): VotesOfDay {
  if (stored === undefined || stored === null) return { version: 1, answers: {} };
  const parsed = daySchema.safeParse(stored);
  if (parsed.success) return parsed.data;
  throw new Error('What people said of answers cannot be read by this version', { cause: parsed.error });
}
