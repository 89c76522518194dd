/** One replica at a time, for what all of them would do at their start. */
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { SettingsStore } from './storage.ts';

/** Longer than any task that takes turns. Past it, whoever holds the turn has died. */
const TURN_MS = 60_000;
const LOOK_EVERY_MS = 1_000;

const turnSchema = z.object({ holder: z.string(), until: z.number() });

export interface Turns {
  /** Runs `work` when no other replica runs a task of this name. Throws StorageError and what `work` throws. */
  run<Value>(task: string, work: () => Promise<Value>): Promise<Value>;
}

export interface TurnOptions {
  readonly settings: Pick<SettingsStore, 'update'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Never the same twice. */
  readonly newId: () => string;
  readonly sleep?: (milliseconds: number) => Promise<void>;
}

export function createTurns({ settings, now, newId, sleep = (ms) => delay(ms) }: TurnOptions): Turns {
  return {
    async run(task, work) {
      const key = `turn:${task}`;
      const holder = newId();
      for (;;) {
        const turn = await settings.update(key, (value) => {
          const taken = turnSchema.safeParse(value).data;
          return taken && taken.until > now() ? value : { holder, until: now() + TURN_MS };
        });
        if (turnSchema.safeParse(turn).data?.holder === holder) break;
        await sleep(LOOK_EVERY_MS);
      }
      try {
        return await work();
      } finally {
        await settings.update(key, (value) =>
          turnSchema.safeParse(value).data?.holder === holder ? { holder, until: 0 } : value,
        );
      }
    },
  };
}
