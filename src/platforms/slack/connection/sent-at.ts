/** When Slack sent what arrives: it waits three seconds for an acknowledgement, and then tells the person that none came. */
import { z } from 'zod';

/** Clocks may differ by as much, so a stamp that is younger says nothing. */
const MOST_SKEW_MS = 10_000;
/** Slack does not wait longer for us, so no request can be older than this. */
const LONGEST_DELAY_MS = 5 * 60_000;

const secondsSchema = z.coerce.number().positive();
/** Buttons and shortcuts have a time of their own, in seconds. Commands and forms have none. */
const stampedSchema = z.union([
  z.object({ action_ts: secondsSchema }).transform(({ action_ts: seconds }) => seconds),
  z
    .object({ actions: z.tuple([z.object({ action_ts: secondsSchema })]).rest(z.unknown()) })
    .transform(({ actions: [{ action_ts: seconds }] }) => seconds),
]);

/**
 * When something was sent that arrives now, in milliseconds by our clock.
 * @param sentAt by Slack's clock, of a request by HTTP
 */
export function sentAtOf(body: object, now: number, sentAt = stampOf(body)): number {
  const delay = sentAt === undefined ? 0 : now - sentAt;
  return delay > MOST_SKEW_MS && delay <= LONGEST_DELAY_MS ? now - delay : now;
}

function stampOf(body: object): number | undefined {
  const seconds = stampedSchema.safeParse(body).data;
  return seconds === undefined ? undefined : seconds * 1000;
}
