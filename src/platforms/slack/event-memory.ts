/** Remembers which events were taken, because Slack sends an event again when it doubts that it arrived. */

export interface EventMemory {
  /** False when it was taken before. */
  take(eventId: string): boolean;
  /** It may come again. */
  forget(eventId: string): void;
}

/** The newest `most` events of this process; jobs know theirs beyond it, by the invocation. */
export function createEventMemory(most = 5000): EventMemory {
  const seen = new Set<string>();
  return {
    take(eventId) {
      if (seen.has(eventId)) return false;
      seen.add(eventId);
      const [oldest] = seen;
      if (seen.size > most && oldest !== undefined) seen.delete(oldest);
      return true;
    },
    forget: (eventId) => void seen.delete(eventId),
  };
}
