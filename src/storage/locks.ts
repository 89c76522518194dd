/** Locks for work that only one replica at a time may do. */

import type { System } from '../core/system.ts';
import { type Clock, pause } from '../core/util/clock.ts';
import type { WithLock } from '../core/util/lock.ts';
import type { Leases, Storage } from './storage.ts';

const LOCK_MS = 60_000;
/** Renewals per lock period: two may fail before a lock is lost. */
const RENEWALS = 3;
/** Polls as well, because the notification of a release may be lost. */
const POLL_MS = 1_000;

export interface LockTools extends Pick<System, 'newId'>, Pick<Storage, 'leases' | 'notifications'> {
  readonly clock: Clock;
}

export function createLocks({ leases, notifications, clock, newId }: LockTools): WithLock {
  async function untilReleased(name: string, signal: AbortSignal): Promise<void> {
    const released = new AbortController();
    const unsubscribe = notifications.subscribe(name, () => released.abort());
    await pause(POLL_MS, AbortSignal.any([signal, released.signal]), clock);
    unsubscribe();
  }

  return async (task, work, { signal = new AbortController().signal, lockMs = LOCK_MS, onWaiting } = {}) => {
    const name = `lock:${task}`;
    const holder = newId();
    const lost = new AbortController();
    const ended = new AbortController();
    let heldUntil = 0;

    /** Resolves to false if another replica holds the lock. */
    async function take(): Promise<boolean> {
      // Read before the request, because the process may be suspended while it waits for the answer.
      const requestedAt = clock.elapsed();
      const isAcquired = await leases.take(name, holder, lockMs);
      if (isAcquired) heldUntil = requestedAt + lockMs;
      return isAcquired;
    }

    async function renew(): Promise<void> {
      while (!lost.signal.aborted) {
        await pause(lockMs / RENEWALS, ended.signal, clock);
        if (ended.signal.aborted) return;
        const isAcquired = await take().catch(() => undefined);
        if (isAcquired === false || clock.elapsed() >= heldUntil) lost.abort();
      }
    }

    while (!(await take())) {
      onWaiting?.();
      await untilReleased(name, signal);
      signal.throwIfAborted();
    }
    const renewal = renew();
    try {
      const isHeld = () => !lost.signal.aborted && clock.elapsed() < heldUntil;
      return await work({ lost: lost.signal, isHeld });
    } finally {
      ended.abort();
      await renewal;
      // A lock that is not released expires.
      await leases.release(name, holder).catch(() => undefined);
      await notifications.publish(name).catch(() => undefined);
    }
  };
}

/** Leases for a storage used by one process. */
export function localLeases(elapsed: () => number): Leases {
  const leases = new Map<string, { readonly holder: string; readonly until: number }>();
  return {
    async take(name, holder, milliseconds) {
      const lease = leases.get(name);
      if (lease && lease.holder !== holder && lease.until > elapsed()) return false;
      leases.set(name, { holder, until: elapsed() + milliseconds });
      return true;
    },
    async release(name, holder) {
      if (leases.get(name)?.holder === holder) leases.delete(name);
    },
  };
}
