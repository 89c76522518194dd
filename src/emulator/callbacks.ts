import type { RecordedCallback } from './options.ts';

const retrySeconds = [1, 2, 4] as const;
/** With speed 0 a receiver that is just starting up still gets a moment. */
const shortestRetryMilliseconds = 25;
const mostRecorded = 1000;

export type Callbacks = ReturnType<typeof createCallbacks>;

/** Sends callbacks as upstream does: POST of JSON, 15 s to answer, up to three retries. */
export function createCallbacks(tools: {
  fetch: typeof globalThis.fetch;
  sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  speed: number;
  timeoutSeconds: number;
  closing: AbortSignal;
}) {
  const sent: { -readonly [Key in keyof RecordedCallback]: RecordedCallback[Key] }[] = [];

  const attempt = async (url: string, body: string): Promise<boolean> => {
    try {
      const response = await tools.fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'gateway-emulator' },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([tools.closing, AbortSignal.timeout(tools.timeoutSeconds * 1000)]),
      });
      await response.body?.cancel();
      return response.ok;
    } catch {
      // Refused, reset, timed out or closing: all of them mean that the receiver did not take it.
      return false;
    }
  };

  return {
    sent,
    /** Resolves true once the receiver answered 2xx, false when every attempt failed. */
    async deliver(url: string, body: string): Promise<boolean> {
      const record: (typeof sent)[number] = { body, attempts: 0, outcome: 'pending' };
      sent.push(record);
      if (sent.length > mostRecorded) sent.shift();
      for (const wait of [0, ...retrySeconds]) {
        if (wait > 0) {
          await tools.sleep(Math.max(shortestRetryMilliseconds, wait * 1000 * tools.speed), tools.closing);
        }
        record.attempts += 1;
        if (await attempt(url, body)) {
          record.outcome = 'delivered';
          return true;
        }
        if (tools.closing.aborted) break;
      }
      record.outcome = 'given up';
      return false;
    },
  };
}
