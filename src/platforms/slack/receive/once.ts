/** Events that may be questions: Slack sends an event again when it doubts that it arrived. */

const MOST_EVENTS = 5000;

/**
 * Handles each event once, and again only when that failed. A repetition ends like the first. Older events are known by the
 * invocation of their job.
 */
export function createOnce(): (event: string, handle: () => Promise<void>) => Promise<void> {
  const taken = new Map<string, Promise<void>>();
  return async (event, handle) => {
    const first = taken.get(event);
    if (first !== undefined) return first;
    const handled = handle();
    taken.set(event, handled);
    const [oldest] = taken.keys();
    if (taken.size > MOST_EVENTS && oldest !== undefined) taken.delete(oldest);
    try {
      await handled;
    } catch (error) {
      taken.delete(event);
      throw error;
    }
  };
}
