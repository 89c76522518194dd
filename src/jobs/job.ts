/** The job record: our durable promise to an address. Small; media lives in files. */
import { z } from 'zod';
import { addressSchema } from '../command.ts';
import type { Result, Work } from '../work.ts';

const JOB_STATES = [
  'accepted',
  'submitting',
  'waiting',
  'ready',
  'delivered',
  'failed',
  'expired',
  'cancelled',
] as const;

/** States in which there is something left to do. */
const OPEN_STATES = ['accepted', 'submitting', 'waiting', 'ready'] as const;

const keptFileSchema = z.object({ name: z.string(), bytes: z.number(), contentType: z.string() });

const failureSchema = z.object({
  code: z.string(),
  /** What the person reads. */
  sentence: z.string(),
  /** Names the log line with the cause. */
  reference: z.string(),
  /** Whether the gateway may have done the work all the same. */
  taken: z.enum(['no', 'unknown']),
});
export type JobFailure = z.infer<typeof failureSchema>;

const jobFields = z.object({
  id: z.string(),
  /** Counts up with every write; writes compare it first. */
  version: z.number().int(),
  state: z.enum(JOB_STATES),
  command: z.string(),
  title: z.string(),
  address: addressSchema,
  person: z.object({
    id: z.string(),
    displayName: z.string(),
    moderator: z.boolean(),
    roles: z.array(z.string()),
  }),
  /** The invocation that caused it: the same event that comes twice makes one job. */
  invocation: z.string(),
  // Written by commands whose requests the gateway client checks again when it sends them.
  work: z.custom<Work>(
    (value) => z.looseObject({ route: z.string(), request: z.looseObject({}) }).safeParse(value).success,
  ),
  parent: z.string().optional(),
  /** What it was made from, for people. */
  madeFrom: z.string().optional(),
  taskId: z.string().optional(),
  /** Built from the gateway's readers only; partial until the job is `ready`. */
  result: z
    .custom<Result>(
      (value) =>
        z.looseObject({ songs: z.array(z.json()), images: z.array(z.json()) }).safeParse(value).success,
    )
    .optional(),
  /** Set with `ready`: which of the four ends it will have once the person was told. */
  end: z.enum(['delivered', 'failed', 'expired', 'cancelled']).optional(),
  failure: failureSchema.optional(),
  cancelRequestedBy: z.string().optional(),
  /** Remote URL to what was kept of it, or null where it could not be had. */
  kept: z.record(z.string(), keptFileSchema.nullable()),
  /** Remote URL of a song to what was kept of it with its tags written in. */
  tagged: z.record(z.string(), keptFileSchema).optional(),
  /** What the platform remembers of the message that stands. */
  posted: z.record(z.string(), z.json()).optional(),
  /** What stands in the channel, so that equal messages are not written again. */
  shown: z.string().optional(),
  /** The rough style was sent to be polished; it is never sent twice. */
  polish: z.enum(['sent', 'done']).optional(),
  /** The lyrics were asked for before the song; they are never asked for twice. */
  lyrics: z.enum(['sent', 'done']).optional(),
  /** Failures of the present step in a row. */
  attempts: z.number().int(),
  /** How often the task was asked about. */
  polls: z.number().int(),
  /** Last callback read, so that each counts once. */
  inboxRead: z.number().int(),
  /** How long such work took lately, in milliseconds. */
  estimateMs: z.number().optional(),
  /** Milliseconds since the epoch. */
  createdAt: z.number(),
  submittedAt: z.number().optional(),
  deadlineAt: z.number().optional(),
  finishedAt: z.number().optional(),
  /** Whether it counts as used; absent until its end is known. */
  charged: z.boolean().optional(),
  /** It could be shown nowhere; `/jobs` offers it. */
  unplaced: z.boolean().optional(),
  /** From 1, while others are before it. */
  queuePlace: z.number().optional(),
  /** When its turn came, if it had to wait in line. */
  startedAt: z.number().optional(),
  /** Since when the gateway does not know the task. */
  unknownSince: z.number().optional(),
});
export type Job = z.infer<typeof jobFields>;

/** Keeps what it does not know: while an upgrade rolls, an older replica writes records of a newer one. */
export const jobSchema = jobFields
  .extend({
    address: addressSchema.loose(),
    person: jobFields.shape.person.loose(),
    failure: failureSchema.loose().optional(),
  })
  .loose();

export function isOpen(job: Job): boolean {
  return (OPEN_STATES as readonly string[]).includes(job.state);
}
