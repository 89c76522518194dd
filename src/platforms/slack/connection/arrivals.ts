/** How long ago Slack sent what arrives: by its own times, and by how long this process was suspended. */
import type { webApi } from '@slack/bolt';
import { z } from 'zod';
import type { System } from '../../../core/system.ts';

/** Something from Slack that has to be acknowledged in time. By our clock, in milliseconds. */
export interface Arrival {
  readonly at: number;
  /** At least as long before that Slack sent it. */
  readonly delayMs: number;
}

export interface ArrivalOptions extends Pick<System, 'now' | 'elapsed'> {
  readonly fetch?: Fetch;
}

export type Arrivals = ReturnType<typeof createArrivals>;
type Fetch = NonNullable<webApi.WebClientOptions['fetch']>;

const BEAT_MS = 250;
/** How many answers tell the time of Slack's clock. */
const SAMPLES = 20;
/** Slack does not wait longer for us, so no request can be older than this. */
const LONGEST_DELAY_MS = 5 * 60_000;

const secondsSchema = z.coerce.number().positive();
/**
 * Of buttons and shortcuts. Commands and forms have no time of their own: a `trigger_id` holds the workspace and a number, and
 * the `hash` of a view the time of its last change.
 */
const stampedSchema = z.union([
  z.object({ action_ts: secondsSchema }).transform(({ action_ts: seconds }) => seconds),
  z
    .object({ actions: z.tuple([z.object({ action_ts: secondsSchema })]).rest(z.unknown()) })
    .transform(({ actions: [{ action_ts: seconds }] }) => seconds),
]);

export function createArrivals({ now, elapsed, fetch = globalThis.fetch }: ArrivalOptions) {
  /** Slack's clock is at least as far ahead of ours. */
  const ahead: number[] = [];
  let beat: NodeJS.Timeout | undefined;
  let lastBeat = elapsed();
  let suspended = { forMs: 0, until: Number.NEGATIVE_INFINITY };

  /** What is read from a socket after this process was suspended may have waited there for all of that time. */
  function waitedMs(): number {
    const time = elapsed();
    const sinceBeat = beat === undefined ? 0 : time - lastBeat;
    return Math.max(
      sinceBeat > 2 * BEAT_MS ? sinceBeat : 0,
      time - suspended.until < BEAT_MS ? suspended.forMs : 0,
    );
  }

  return {
    /** Reads Slack's clock from its answers, in whole seconds: with that a wrong clock here makes nothing late. */
    async fetch(...request: Parameters<Fetch>): ReturnType<Fetch> {
      const response = await fetch(...request);
      const date = Date.parse(response.headers.get('date') ?? '');
      if (!Number.isNaN(date)) ahead.push(date - now());
      if (ahead.length > SAMPLES) ahead.shift();
      return response;
    },

    start(): void {
      lastBeat = elapsed();
      beat ??= setInterval(() => {
        const time = elapsed();
        if (time - lastBeat > 2 * BEAT_MS) suspended = { forMs: time - lastBeat, until: time };
        lastBeat = time;
      }, BEAT_MS).unref();
    },

    stop(): void {
      clearInterval(beat);
      beat = undefined;
    },

    /** What arrives now. `sentAt`: Slack sent it then or earlier, by Slack's clock in milliseconds. */
    arrival(body: object, sentAt?: number): Arrival {
      const at = now();
      const seconds = secondsOf(body);
      const stamps = [sentAt, seconds === undefined ? undefined : seconds * 1000];
      // While Slack's clock is unknown its times say nothing.
      const delays = stamps.map((stamp) =>
        stamp === undefined || ahead.length === 0 ? 0 : at + Math.max(...ahead) - stamp,
      );
      const plausible = [waitedMs(), ...delays].filter((delay) => delay > 0 && delay <= LONGEST_DELAY_MS);
      return { at, delayMs: Math.max(0, ...plausible) };
    },
  };
}

/** Undefined for commands, without a refusal by the schema: those of many who ask together cost time. */
function secondsOf(body: object): number | undefined {
  return 'action_ts' in body || 'actions' in body ? stampedSchema.safeParse(body).data : undefined;
}
