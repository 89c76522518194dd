/** A lock for tasks that every replica runs, such as at its start: one replica at a time. */
import { z } from 'zod';
import type { System } from '../core/system.ts';
import { type Clock, pause } from './schedule.ts';
import type { SettingsStore } from './storage.ts';

/** A holder that has not renewed its lock for this long is dead. */
const LOCK_MS = 60_000;
/** Two renewals may fail before the lock is lost. */
const RENEW_MS = LOCK_MS / 3;
const POLL_MS = 1_000;

const lockSchema = z.object({ holder: z.string(), until: z.number() });
const readLock = (value: unknown) => lockSchema.safeParse(value).data;

export interface Locks {
  /**
   * Runs `work` when no other replica runs a task of this name, however long it takes. Throws StorageError and what `work`
   * throws.
   */
  run<Value>(task: string, work: () => Promise<Value>): Promise<Value>;
}

export interface LockOptions extends Pick<System, 'newId'> {
  readonly settings: Pick<SettingsStore, 'update'>;
  readonly clock: Clock;
}

export function createLocks({ settings, clock, newId }: LockOptions): Locks {
  const untilExpiry = () => clock.now() + LOCK_MS;

  async function acquire(key: string, holder: string): Promise<void> {
    for (;;) {
      const lock = await settings.update(key, (value) => {
        const held = readLock(value);
        return held && held.until > clock.now() ? value : { holder, until: untilExpiry() };
      });
      if (readLock(lock)?.holder === holder) return;
      await pause(POLL_MS, new AbortController().signal, clock);
    }
  }

  async function setExpiry(key: string, holder: string, until: number): Promise<void> {
    await settings.update(key, (value) => (readLock(value)?.holder === holder ? { holder, until } : value));
  }

  async function renew(key: string, holder: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      await pause(RENEW_MS, signal, clock);
      if (signal.aborted) return;
      // The next renewal tries again.
      await setExpiry(key, holder, untilExpiry()).catch(() => undefined);
    }
  }

  return {
    async run(task, work) {
      const key = `lock:${task}`;
      const holder = newId();
      await acquire(key, holder);
      const ended = new AbortController();
      const renewed = renew(key, holder, ended.signal);
      try {
        return await work();
      } finally {
        ended.abort();
        await renewed;
        await setExpiry(key, holder, 0);
      }
    },
  };
}
