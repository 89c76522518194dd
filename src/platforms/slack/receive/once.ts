/** Handles events once, because Slack resends an event that may not have arrived. */

const MAX_EVENTS = 5000;

/**
 * Handles each event once, and again only after a failure. A repetition waits for the first run. Older events are recognised
 * by the invocation ID of their job.
 */
export function createOnce(): (event: string, handle: () => Promise<void>) => Promise<void> {
  const handledEvents = new Map<string, Promise<void>>();
  return async (event, handle) => {
    const first = handledEvents.get(event);
    if (first !== undefined) return first;
    const handled = handle();
    handledEvents.set(event, handled);
    const [oldest] = handledEvents.keys();
    if (handledEvents.size > MAX_EVENTS && oldest !== undefined) handledEvents.delete(oldest);
    try {
      await handled;
    } catch (error) {
      handledEvents.delete(event);
      throw error;
    }
  };
}
