/** Votes on answers, stored by the day of the answer. Each person has one vote per answer and may change it. */
import { z } from 'zod';
import type { Address } from '../core/invocation.ts';
import type { Judgement } from '../core/message.ts';
import type { ModelFeedback } from '../core/moderation.ts';
import { dayOf } from '../core/util/clock.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { createRecords, keyOfParts, keyOfScope, recordParser } from './records.ts';

const DAY_MS = 24 * 3_600_000;

const daySchema = z.object({
  version: z.literal(1),
  /** By the answer's job. */
  answers: z.record(
    z.string(),
    z.object({
      model: z.string(),
      /** By the voter's id. */
      votes: z.record(z.string(), z.enum(['good', 'bad'])),
    }),
  ),
});

const parse = recordParser(daySchema, { version: 1, answers: {} });

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
  /** Resolves to the person's previous vote. */
  vote(where: Where, vote: Vote): Promise<Judgement | undefined>;
  /** Returns the votes on answers of these days by model, most votes first. */
  summary(where: Where, firstDay: string, days: number): Promise<readonly ModelFeedback[]>;
  /** Removes all votes of a person on one platform. */
  forget(platform: string, person: string): Promise<void>;
  /** Erases votes on answers before `firstDay`. */
  prune(firstDay: string): Promise<void>;
}

/** Every method throws StorageError, or SettingsError for votes of a newer version. */
export function createFeedback({ settings }: { readonly settings: SettingsStore }): FeedbackStore {
  const records = createRecords(settings, parse);
  return {
    async vote(where, { job, model, day, person, judgement }) {
      let before: Judgement | undefined;
      await records.change(keyOfScope('feedback', where, day), (votesOfDay) => {
        const { answers } = votesOfDay;
        const { votes = {} } = answers[job] ?? {};
        before = votes[person];
        if (before === judgement) return votesOfDay;
        const answer = { model, votes: { ...votes, [person]: judgement } };
        return { ...votesOfDay, answers: { ...answers, [job]: answer } };
      });
      return before;
    },

    async summary(where, firstDay, days) {
      const first = Date.parse(firstDay);
      const dates = Array.from({ length: days }, (_, n) => dayOf(first + n * DAY_MS));
      const found = await Promise.all(dates.map((day) => records.read(keyOfScope('feedback', where, day))));
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

    forget: (platform, person) =>
      records.changeAll(`${keyOfParts('feedback', platform)}:`, (votesOfDay) => {
        const all = Object.entries(votesOfDay.answers);
        if (!all.some(([, { votes }]) => Object.hasOwn(votes, person))) return votesOfDay;
        const remaining = all.map(([job, { model, votes }]) => {
          const { [person]: _, ...rest } = votes;
          return [job, { model, votes: rest }] as const;
        });
        return { ...votesOfDay, answers: Object.fromEntries(remaining) };
      }),

    async prune(firstDay) {
      for await (const key of settings.keys('feedback:'))
        if (key.slice(key.lastIndexOf(':') + 1) < firstDay) await settings.delete(key);
    },
  };
}
