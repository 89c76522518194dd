/** The job record: the durable state of one request, from acceptance to delivery. Files are stored separately, so records stay small. */
import { z } from 'zod';
import {
  addressSchema,
  channelOf,
  type Invocation,
  isPlainObject,
  jsonObject,
  serverOf,
  serverWord,
  storedPersonSchema,
} from './invocation.ts';
import { mediaFileSchema } from './message.ts';
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

/** States of jobs that still have something to do. */
const OPEN_STATES = ['accepted', 'submitting', 'waiting', 'ready'] as const;

const failureSchema = z.object({
  code: z.string(),
  /** The message for the requester. */
  sentence: z.string(),
  /** Identifies the log line with the cause. */
  reference: z.string(),
  /** Whether the gateway may have accepted the work anyway. */
  taken: z.enum(['no', 'unknown']),
});
export type JobFailure = z.infer<typeof failureSchema>;

const jobFields = z.object({
  id: z.string(),
  /** Incremented by every write, and compared before it (optimistic locking). */
  version: z.number().int(),
  state: z.enum(JOB_STATES),
  command: z.string(),
  title: z.string(),
  address: addressSchema,
  person: storedPersonSchema,
  /** Key of the invocation, so that a repeated event creates only one job. */
  invocation: z.string(),
  // Requests are not validated here: the gateway client validates them before it sends them.
  work: z.custom<Work>(
    (value) =>
      isPlainObject(value) &&
      'route' in value &&
      typeof value.route === 'string' &&
      'request' in value &&
      isPlainObject(value.request),
  ),
  parent: z.string().optional(),
  /** The song it was made from, as a text for people. */
  basedOn: z.string().optional(),
  /** The contest that it is an entry of, and the key of the contest's record. */
  contest: z.object({ id: z.string(), key: z.string() }).optional(),
  /** Only the requester may see it, because people are voting without knowing whose it is. */
  hidden: z.boolean().optional(),
  /** Shortened option values, for commands whose result would not show them. */
  options: z.record(z.string(), z.string()).optional(),
  taskId: z.string().optional(),
  /** Partial until the job is `ready`. Always comes from the parsers in src/gateway. */
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
  /** The final state that a `ready` job gets once its message is delivered. */
  end: z.enum(['delivered', 'failed', 'expired', 'cancelled']).optional(),
  failure: failureSchema.optional(),
  cancelRequestedBy: z.string().optional(),
  /** Stored files by remote URL. */
  stored: z.record(z.string(), mediaFileSchema),
  /** Files that cannot be recovered: remote URLs, or names of files that arrived as bytes. */
  lost: z.array(z.string()).optional(),
  /** Songs with their tags written, by remote URL. */
  tagged: z.record(z.string(), mediaFileSchema).optional(),
  /** Archives by a key of their content. */
  archives: z.record(z.string(), mediaFileSchema).optional(),
  /** Songs encoded for voice channels, by remote URL. */
  opus: z.record(z.string(), mediaFileSchema).optional(),
  /** The platform's data to find the job's message again. */
  posted: jsonObject.optional(),
  /** A run was interrupted and may have posted more than `posted` lists. */
  mayHavePosted: z.boolean().optional(),
  /**
   * Messages to delete because two runs posted at the same time: a replica was suspended for longer than its lease. The job's own
   * message is then written again.
   */
  overtaken: z.array(jsonObject).optional(),
  /** Restored from a backup while open. It may have ended since, so a failure must not overwrite its result in the channel. */
  restored: z.boolean().optional(),
  /** Digest of the message shown, so that an unchanged message is not written again. */
  shown: z.string().optional(),
  /** The rough style was sent for polishing, which must happen only once. */
  polishSent: z.boolean().optional(),
  /** The lyrics were requested before the song, which must happen only once. */
  lyrics: z.enum(['sent', 'done']).optional(),
  /** Consecutive failures of the current step. */
  attempts: z.number().int(),
  /** Number of temporary refusals by the gateway. */
  refusals: z.number().int().optional(),
  /** When calls may be repeated after a Retry-After (`asking`: gateway, `showing`: chat platform), even if the job is woken earlier. */
  held: z.object({ asking: z.number().optional(), showing: z.number().optional() }).optional(),
  /** Number of polls of the task. */
  polls: z.number().int(),
  /** Sequence number of the last callback read, so that each counts once. */
  inboxRead: z.number().int(),
  /** Typical duration of similar work, in milliseconds. */
  estimateMs: z.number().optional(),
  /** Milliseconds since the epoch. */
  createdAt: z.number(),
  submittedAt: z.number().optional(),
  deadlineAt: z.number().optional(),
  finishedAt: z.number().optional(),
  /** Whether it counts as usage; absent until its end is known. */
  charged: z.boolean().optional(),
  /** It counts as usage, although the gateway may not have charged for it. */
  chargeUncertain: z.boolean().optional(),
  /** The result could not be delivered; `/jobs` offers it. */
  undelivered: z.boolean().optional(),
  /** Position in the queue, from 1; absent once it has a slot. */
  queuePosition: z.number().optional(),
  /** When it got a slot, if it had to wait in the queue. */
  startedAt: z.number().optional(),
  /** When the gateway first reported the task as unknown. */
  unknownSince: z.number().optional(),
  /** Whether the result is complete; absent without a result. */
  complete: z.boolean().optional(),
  /** When the gateway finished the work. */
  endedAt: z.number().optional(),
  /** The requester or a moderator removed the song's page. */
  pageWithdrawn: z.boolean().optional(),
  /** Whether the gateway accepted the work is unknown. */
  uncertain: z.boolean().optional(),
  /** A callback could not be parsed. */
  unreadable: z.boolean().optional(),
  /** Trace context of the request that created it: https://www.w3.org/TR/trace-context-1/#traceparent-header */
  traceparent: z.string().optional(),
});
export type Job = z.infer<typeof jobFields>;

/** Keeps unknown fields: during an upgrade, an older replica may rewrite records of a newer one. */
export const jobSchema = jobFields
  .extend({
    address: addressSchema.loose(),
    person: jobFields.shape.person.loose(),
    failure: failureSchema.loose().optional(),
  })
  .loose();

/** The value of a job's `invocation` for an event of a platform. */
export const invocationKey = (platform: string, event: string): string => `${platform}:${event}`;

/** True if the result is complete. */
export function hasWholeResult({ result, complete = true }: Pick<Job, 'result' | 'complete'>): boolean {
  return result !== undefined && complete;
}

export function isOpen(job: Job): boolean {
  return (OPEN_STATES as readonly string[]).includes(job.state);
}

export type JobState = Job['state'];

/** Whether the gateway charged for a job. `uncertain` counts as usage, too. */
export type Charge = 'yes' | 'no' | 'uncertain';

/** A job as commands see it. The added fields are only set while its result is rendered. */
export type JobView = Readonly<Job> & {
  /** The job it was made from, if still stored. */
  readonly parentJob?: Job;
  /** Link to the message of that job, if the platform has such links. */
  readonly parentUrl?: string;
  /** The page of the song, or of the song it was made from. */
  readonly pageUrl?: string;
};

/**
 * The reason a job's button may not be used here; undefined if it may. Buttons only work in the job's own channel, because people
 * elsewhere may not be allowed to see its result. Requesters may cancel their jobs from anywhere, and use results that were sent to
 * them privately.
 */
export function buttonRefusal(
  job: Pick<JobView, 'address' | 'person' | 'undelivered'>,
  action: string,
  { address, person }: Pick<Invocation, 'address' | 'person'>,
): string | undefined {
  const isOwn = job.person.id === person.id;
  const isPrivate = serverOf(address) === undefined || job.undelivered === true;
  const isSamePlatform = job.address.platform === address.platform;
  if (isSamePlatform && isOwn && (action === 'cancel' || isPrivate)) return undefined;
  if (!isSamePlatform || job.address.guild !== address.guild)
    return `This button only works in the ${serverWord(address)} where it was posted.`;
  const isAllowed = isOwn || channelOf(job.address) === channelOf(address);
  return isAllowed ? undefined : 'This button only works in the channel where it was posted.';
}

export const EMPTY_RESULT: Result = { songs: [], lyrics: [], images: [], stems: [] };

/** Merges two results. The newer one wins, but nothing of the older one is lost. */
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

/** Matches takes by id, or by position if one has no id. Takes with audio that are missing in the newer result are kept. */
function mergeSongs(older: Result['songs'], newer: Result['songs']): Result['songs'] {
  if (newer.length === 0) return older;
  const unmatched = new Set(older);
  const merged = newer.map((song, index) => {
    const byId = older.find(({ audioId }) => audioId !== undefined && audioId === song.audioId);
    const byPosition = older[index];
    const isMissingId = song.audioId === undefined || byPosition?.audioId === undefined;
    const match =
      byId ?? (isMissingId && byPosition !== undefined && unmatched.has(byPosition) ? byPosition : undefined);
    if (match === undefined) return song;
    unmatched.delete(match);
    return { ...match, ...song };
  });
  return [...merged, ...[...unmatched].filter(({ audioUrl }) => audioUrl !== undefined)];
}

/** True if the newer result has additional files. */
export function hasMoreFiles(newer: Result, older: Result | undefined): boolean {
  const counts = (result: Result | undefined) => [
    result?.songs.filter(({ audioUrl }) => audioUrl !== undefined).length ?? 0,
    result?.images.length ?? 0,
    result?.stems.length ?? 0,
    result?.wavUrl === undefined ? 0 : 1,
    result?.videoUrl === undefined ? 0 : 1,
  ];
  const previous = counts(older);
  return counts(newer).some((count, index) => count > (previous[index] ?? 0));
}
