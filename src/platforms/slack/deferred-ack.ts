/** When events are acknowledged: after what they ask for is stored, or Slack sends them again. */
import type { App, ReceiverEvent } from '@slack/bolt';

export interface DeferOptions {
  readonly sleep: (ms: number) => Promise<void>;
  /** Slack waits three seconds. */
  readonly withinMs: number;
  /** Whether this could not be handled: the app may not act in that workspace, or Slack is away. */
  readonly isFailed: (body: object) => boolean;
}

/**
 * Bolt acknowledges an event before it passes it on, so a process that dies in between would lose it. An event that could
 * not be handled is not acknowledged at all.
 */
export function deferAcknowledgements(app: App, { sleep, withinMs, isFailed }: DeferOptions): void {
  const process = app.processEvent.bind(app);
  app.processEvent = async (event: ReceiverEvent) => {
    const { body, ack } = event;
    const isEvent = body.type === 'event_callback';
    const processed = process({
      ...event,
      ack: async (response?: unknown) => {
        if (isEvent) return;
        if (!isFailed(body)) await ack(response);
        else if (typeof body.command === 'string') await ack({ response_type: 'ephemeral', text: AWAY });
      },
    });
    if (!isEvent) return processed;
    await Promise.race([processed, sleep(withinMs)]);
    if (!isFailed(body)) await ack();
    await processed;
  };
}

const AWAY =
  'I cannot act in this workspace right now. Please try again soon; if it stays like this, install me again.';
