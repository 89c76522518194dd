/** Work that only one replica may do at a time. */

export interface HeldLock {
  /** Aborts when another replica may take over, because this one was suspended or lost its storage for too long. */
  readonly lost: AbortSignal;
  /** False once the lock may be lost. After a suspension it is right before `lost` aborts, which needs a timer to run. */
  readonly isHeld: () => boolean;
}

export interface LockOptions {
  /** Stops waiting for the lock. Work that already runs is not affected. */
  readonly signal?: AbortSignal;
  /** When the lock of a dead replica expires; a minute by default. */
  readonly lockMs?: number;
  /** Called if another replica holds the lock. */
  readonly onWaiting?: () => void;
}

/**
 * Runs `work` once no other replica runs a task of this name, however long that takes. Throws the errors of storage and `work`, and
 * the signal's reason.
 */
export type WithLock = <Value>(
  task: string,
  work: (lock: HeldLock) => Promise<Value>,
  options?: LockOptions,
) => Promise<Value>;
