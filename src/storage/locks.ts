/** A lock for tasks that every replica runs, such as at its start: one replica at a time. */
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { System } from '../core/system.ts';
import type { SettingsStore } from './storage.ts';

/** Longer than any task under a lock. Past it, the holder has died. */
const LOCK_MS = 60_000;
const POLL_MS = 1_000;

const lockSchema = z.object({ holder: z.string(), until: z.number() });
const readLock = (value: unknown) => lockSchema.safeParse(value).data;

export interface Locks {
  /** Runs `work` when no other replica runs a task of this name. Throws StorageError and what `work` throws. */
  run<Value>(task: string, work: () => Promise<Value>): Promise<Value>;
}

export interface LockOptions extends Pick<System, 'now' | 'newId'> {
  readonly settings: Pick<SettingsStore, 'update'>;
  readonly sleep?: (milliseconds: number) => Promise<void>;
}

export function createLocks({ settings, now, newId, sleep = (ms) => delay(ms) }: LockOptions): Locks {
  return {
    async run(task, work) {
      // The stored name is older than the word “lock”; replicas of two versions share it during an upgrade.
      const key = `turn:${task}`;
      const holder = newId();
      for (;;) {
        const lock = await settings.update(key, (value) => {
          const held = readLock(value);
          return held && held.until > now() ? value : { holder, until: now() + LOCK_MS };
        });
        if (readLock(lock)?.holder === holder) break;
        await sleep(POLL_MS);
      }
      try {
        return await work();
      } finally {
        await settings.update(key, (value) =>
          readLock(value)?.holder === holder ? { holder, until: 0 } : value,
        );
      }
    },
  };
}
