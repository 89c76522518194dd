/** Pages that are open, each told of every change. */
import type { HistoryChange } from '../deliver/history.ts';

type Listener = (change: HistoryChange) => void;

export function createWatchers() {
  const listeners = new Map<Listener, () => void>();
  return {
    tell(change: HistoryChange): void {
      for (const listener of listeners.keys()) listener(change);
    },

    /** Resolves when the signal aborts, or when all of it closes. */
    async watch(listener: Listener, signal: AbortSignal): Promise<void> {
      if (signal.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      listeners.set(listener, resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
      await promise;
      listeners.delete(listener);
    },

    count: (): number => listeners.size,

    close(): void {
      for (const end of listeners.values()) end();
    },
  };
}
