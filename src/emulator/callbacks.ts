import type { RecordedCallback } from './options.ts';

const retrySeconds = [1, 2, 4] as const;
/** Gives a receiver time to start, even with speed 0. */
const shortestRetryMilliseconds = 25;
const maxRecorded = 1000;

export type Callbacks = ReturnType<typeof createCallbacks>;

/** Sends callbacks like the real gateway: POST of JSON, 15 s timeout, up to three retries. */
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
      // Refused, reset, timed out or closing: the receiver did not accept it.
      return false;
    }
  };

  return {
    sent,
    /** Resolves to true after a 2xx response, and to false if every attempt failed. */
    async deliver(url: string, body: string): Promise<boolean> {
      const record: (typeof sent)[number] = { body, attempts: 0, outcome: 'pending' };
      sent.push(record);
      if (sent.length > maxRecorded) sent.shift();
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
