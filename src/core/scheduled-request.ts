/** Requests that the bot runs for a person at set times. */
import { z } from 'zod';
import { addressSchema, storedPersonSchema } from './invocation.ts';

export const scheduledRequestSchema = z.object({
  id: z.string(),
  command: z.string(),
  /** The values of the command's options. */
  options: z.record(z.string(), z.string()),
  /** The prompt or question, as plain text. */
  prompt: z.string(),
  /** A cron pattern, or a date and time in ISO 8601 for a single run. Without an offset, in the server's time zone. */
  pattern: z.string(),
  /** The pattern in words, such as `every Friday at 17:00`. */
  when: z.string(),
  /** The channel that gets the results. */
  address: addressSchema,
  person: storedPersonSchema.extend({
    visitor: z.exactOptional(z.union([z.boolean(), z.literal('unknown')])),
  }),
  /** The next run in milliseconds since the epoch; absent while paused. */
  nextAt: z.number().optional(),
});
export type ScheduledRequest = z.infer<typeof scheduledRequestSchema>;

/** A new request. `when` is what the person typed. */
export type NewScheduledRequest = Pick<ScheduledRequest, 'command' | 'options' | 'prompt' | 'when'>;

/** The schedules of a server, or of a conversation in direct messages. */
export interface Schedules {
  /** Those that the person may see, in the order of creation. */
  list(): Promise<readonly ScheduledRequest[]>;
  /** An IANA name, such as `Europe/Berlin`. */
  timeZone(): Promise<string>;
  /** Throws UserError for a time that is not understood, and when the person or the server has too many schedules. */
  add(request: NewScheduledRequest): Promise<ScheduledRequest>;
  /** Pauses or resumes; undefined if it no longer exists. */
  setPaused(id: string, paused: boolean): Promise<ScheduledRequest | undefined>;
  /** False if it no longer exists. */
  remove(id: string): Promise<boolean>;
  /** All schedules keep their hour in the new zone. Throws UserError for an unknown zone. */
  setTimeZone(timeZone: string): Promise<void>;
}
