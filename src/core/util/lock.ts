/** Work that one replica at a time does. */

export interface HeldLock {
  /** Aborts when another replica may do the work: this one was suspended, or lost its storage, for too long. */
  readonly lost: AbortSignal;
  /** The same, true already before timers of a process that was suspended run. */
  readonly isHeld: () => boolean;
}

export interface LockOptions {
  /** Ends the waiting; what runs goes on. */
  readonly signal?: AbortSignal;
  /** The lock of a replica that died is free after so many milliseconds; a minute if left out. */
  readonly lockMs?: number;
  /** Another replica does the work. */
  readonly onWaiting?: () => void;
}

/**
 * Runs `work` when no other replica runs a task of this name, however long it takes. Throws what storage and `work` throw, and the
 * signal's reason.
 */
export type WithLock = <Value>(
  task: string,
  work: (lock: HeldLock) => Promise<Value>,
  options?: LockOptions,
) => Promise<Value>;
