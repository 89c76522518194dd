/** The job record: what is owed to an address, durably. Small; media lives in files. */
import { z } from 'zod';
import {
  addressSchema,
  channelOf,
  type Invocation,
  isPlainObject,
  jsonObject,
  serverOf,
  serverWord,
} from './invocation.ts';
import { keptFileSchema } from './message.ts';
import type { Result, Work } from './work.ts';

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
    (value) =>
      isPlainObject(value) &&
      'route' in value &&
      typeof value.route === 'string' &&
      'request' in value &&
      isPlainObject(value.request),
  ),
  parent: z.string().optional(),
  /** What it was made from, for people. */
  madeFrom: z.string().optional(),
  /** What the person said, by option; shortened. Only of commands whose result would not say it. */
  asked: z.record(z.string(), z.string()).optional(),
  taskId: z.string().optional(),
  /** Built from the gateway's readers only; partial until the job is `ready`. */
  result: z
    .custom<Result>(
      (value) =>
        isPlainObject(value) &&
        'songs' in value &&
        Array.isArray(value.songs) &&
        'images' in value &&
        Array.isArray(value.images),
    )
    .optional(),
  /** Set with `ready`: which of the four ends it will have once the person was told. */
  end: z.enum(['delivered', 'failed', 'expired', 'cancelled']).optional(),
  failure: failureSchema.optional(),
  cancelRequestedBy: z.string().optional(),
  /** Remote URL to what was kept of it. */
  kept: z.record(z.string(), keptFileSchema),
  /** What cannot be had any more: remote URLs, and names of files that came as bytes. */
  lost: z.array(z.string()).optional(),
  /** Remote URL of a song to what was kept of it with its tags written in. */
  tagged: z.record(z.string(), keptFileSchema).optional(),
  /** What is in an archive to the archive. */
  archives: z.record(z.string(), keptFileSchema).optional(),
  /** Remote URL of a song to its sound for voice channels. */
  opus: z.record(z.string(), keptFileSchema).optional(),
  /** What the platform needs to find its message again. */
  posted: jsonObject.optional(),
  /** A run was interrupted, and may have posted more than `posted` tells. */
  mayHavePosted: z.boolean().optional(),
  /**
   * Two runs wrote the message, because a replica was suspended for longer than its lease. What the later one posted besides
   * it is taken back, and the message written again.
   */
  overtaken: z.array(jsonObject).optional(),
  /** It was open in a backup, so it may have ended after the copy was made: no failure is written over its result. */
  restored: z.boolean().optional(),
  /** A digest of the message that is shown, so that equal messages are not written again. */
  shown: z.string().optional(),
  /** The rough style was sent to be polished; it is never sent twice. */
  polishSent: z.boolean().optional(),
  /** The lyrics were asked for before the song; they are never asked for twice. */
  lyrics: z.enum(['sent', 'done']).optional(),
  /** Failures of the present step in a row. */
  attempts: z.number().int(),
  /** How often the gateway refused the work for now. */
  refusals: z.number().int().optional(),
  /** A call that was refused with a time to wait is not repeated before then, even if the job is woken earlier. */
  held: z.object({ asking: z.number().optional(), showing: z.number().optional() }).optional(),
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
  /** It counts, though it is unknown whether the gateway charged it. */
  chargeUncertain: z.boolean().optional(),
  /** It could be shown nowhere; `/jobs` offers it. */
  undelivered: z.boolean().optional(),
  /** From 1, while others are before it. */
  queuePosition: z.number().optional(),
  /** When it got a slot, if it had to wait in line. */
  startedAt: z.number().optional(),
  /** Since when the gateway does not know the task. */
  unknownSince: z.number().optional(),
  /** The result is whole; absent without one. */
  complete: z.boolean().optional(),
  /** When the gateway had made it. */
  endedAt: z.number().optional(),
  /** The person who asked, or a moderator, took its page away. */
  pageWithdrawn: z.boolean().optional(),
  /** It is unknown whether the gateway took the work. */
  uncertain: z.boolean().optional(),
  /** A callback came that could not be read. */
  unreadable: z.boolean().optional(),
  /** Where it was accepted, for operators' traces: https://www.w3.org/TR/trace-context-1/#traceparent-header */
  traceparent: z.string().optional(),
});
export type Job = z.infer<typeof jobFields>;

/** Keeps unknown fields: during an upgrade, an older replica writes records of a newer one. */
export const jobSchema = jobFields
  .extend({
    address: addressSchema.loose(),
    person: jobFields.shape.person.loose(),
    failure: failureSchema.loose().optional(),
  })
  .loose();

/** As a job's record names the event of a platform that made it. */
export const invocationKey = (platform: string, event: string): string => `${platform}:${event}`;

/** Whether there is a result, and nothing of it is still to come. */
export function hasWholeResult({ result, complete = true }: Pick<Job, 'result' | 'complete'>): boolean {
  return result !== undefined && complete;
}

export function isOpen(job: Job): boolean {
  return (OPEN_STATES as readonly string[]).includes(job.state);
}

export type JobState = Job['state'];

/** Whether the gateway charged for a job; `uncertain` counts as used, too. */
export type Charge = 'yes' | 'no' | 'uncertain';

/** What commands see of a job. */
export type JobView = Readonly<Job> & {
  /** What it was made from; known only while it is rendered, as long as that is stored. */
  readonly parentJob?: Job;
  /** The message with what it was made from, where the platform can link to it; known only while it is rendered. */
  readonly parentUrl?: string;
  /** The page of the song, or of the song that it was made from; known only while it is rendered, where there is one. */
  readonly pageUrl?: string;
};

/**
 * Why a button of a job does nothing here: what was made in a channel answers there alone, since others may not see it.
 * Their own work people cancel from everywhere, and what was sent to them alone they use where it was sent. Undefined where
 * it works.
 */
export function whyOutOfReach(
  job: Pick<JobView, 'address' | 'person' | 'undelivered'>,
  action: string,
  { address, person }: Pick<Invocation, 'address' | 'person'>,
): string | undefined {
  const isOwn = job.person.id === person.id;
  const isSentToThem = serverOf(address) === undefined || job.undelivered === true;
  const isOnPlatform = job.address.platform === address.platform;
  if (isOnPlatform && isOwn && (action === 'cancel' || isSentToThem)) return undefined;
  if (!isOnPlatform || job.address.guild !== address.guild)
    return `This button only works in the ${serverWord(address)} where it was posted.`;
  const isThere = isOwn || channelOf(job.address) === channelOf(address);
  return isThere ? undefined : 'This button only works in the channel where it was posted.';
}

export const EMPTY_RESULT: Result = { songs: [], lyrics: [], images: [], stems: [] };

/** The newer of two results, keeping what only the older one has. Nothing that was known is forgotten. */
export function mergeResults(older: Result | undefined, newer: Result): Result {
  if (!older) return newer;
  return {
    ...older,
    ...newer,
    songs: mergeSongs(older.songs, newer.songs),
    lyrics: newer.lyrics.length > 0 ? newer.lyrics : older.lyrics,
    images: newer.images.length > 0 ? newer.images : older.images,
    stems: newer.stems.length > 0 ? newer.stems : older.stems,
  };
}

/** A take is known by its id, or by its position where it has none. Takes with a sound that the newer leaves out stay. */
function mergeSongs(older: Result['songs'], newer: Result['songs']): Result['songs'] {
  if (newer.length === 0) return older;
  const left = new Set(older);
  const merged = newer.map((song, index) => {
    const named = older.find(({ audioId }) => audioId !== undefined && audioId === song.audioId);
    const there = older[index];
    const isNameless = song.audioId === undefined || there?.audioId === undefined;
    const before = named ?? (isNameless && there !== undefined && left.has(there) ? there : undefined);
    if (before === undefined) return song;
    left.delete(before);
    return { ...before, ...song };
  });
  return [...merged, ...[...left].filter(({ audioUrl }) => audioUrl !== undefined)];
}

/** Whether a result has something that the delivered one lacks. */
export function holdsMore(newer: Result, older: Result | undefined): boolean {
  const counts = (result: Result | undefined) => [
    result?.songs.filter(({ audioUrl }) => audioUrl !== undefined).length ?? 0,
    result?.images.length ?? 0,
    result?.stems.length ?? 0,
    result?.wavUrl === undefined ? 0 : 1,
    result?.videoUrl === undefined ? 0 : 1,
  ];
  const known = counts(older);
  return counts(newer).some((count, index) => count > (known[index] ?? 0));
}
