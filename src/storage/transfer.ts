/**
 * Exports a storage as JSON lines and imports them into another one of any kind. Secrets, settings (including voices), jobs with
 * their callbacks, and daily usage have one line each. The last line has the counts. Counters of limits are not exported: they
 * start at zero.
 */

import { open } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { OperatorError } from '../core/errors.ts';
import { isOpen, type Job, type JobState, jobSchema } from '../core/job.ts';
import type { Storage } from './storage.ts';

const countsSchema = z.object({
  secrets: z.int(),
  settings: z.int(),
  jobs: z.int(),
  usage: z.int(),
});

export interface ImportReport extends z.infer<typeof countsSchema> {
  /** Entries that existed already and were not overwritten. */
  readonly known: number;
}

/** An export that cannot be read or imported. The message is for the operator. */
export class TransferError extends OperatorError {
  override readonly name = 'TransferError';
}

const VERSION = 1;

/** End states after which a result may still arrive. */
const LATE_STATES: ReadonlySet<JobState> = new Set(['expired', 'cancelled']);

const callbackSchema = z.object({ receivedAt: z.number(), body: z.string() });
const headSchema = z.object({ minstrel: z.literal('export'), version: z.number().int() });
const lineSchema = z.union([
  z.object({ secret: z.object({ name: z.string(), value: z.string() }) }),
  z.object({ setting: z.object({ key: z.string(), value: z.unknown() }) }),
  z.object({ job: jobSchema, callbacks: z.array(callbackSchema) }),
  z.object({
    usage: z.object({
      platform: z.string(),
      guild: z.string(),
      person: z.string(),
      displayName: z.string(),
      family: z.string(),
      day: z.string(),
      requests: z.number(),
      units: z.number(),
      uncertain: z.number(),
    }),
  }),
  z.object({ end: countsSchema }),
]);
type Line = z.infer<typeof lineSchema>;

/** Writes {@link exportLines} to a file and returns the number of lines. With the flag `wx`, fails if the file exists. */
export async function exportTo(path: string, flags: 'w' | 'wx', storage: Storage): Promise<number> {
  // The file has secrets, so only this user may read it.
  const file = await open(path, flags, 0o600);
  try {
    let lines = 0;
    for await (const line of exportLines(storage)) {
      await file.write(`${line}\n`);
      lines += 1;
    }
    await file.sync();
    return lines;
  } finally {
    await file.close();
  }
}

/**
 * Yields the lines without line breaks. Nothing else may write to the storage meanwhile. Throws StorageError. The lines contain
 * the secrets that sign callbacks and links of this deployment.
 */
export async function* exportLines(storage: Storage): AsyncGenerator<string> {
  const line = (value: Line): string => JSON.stringify(value);
  const counts = { secrets: 0, settings: 0, jobs: 0, usage: 0 };
  yield JSON.stringify({ minstrel: 'export', version: VERSION });
  for (const [name, value] of await storage.secrets()) {
    counts.secrets += 1;
    yield line({ secret: { name, value } });
  }
  for await (const key of storage.settings.keys()) {
    const value = await storage.settings.get(key);
    // Damaged.
    if (value === undefined) continue;
    counts.settings += 1;
    yield line({ setting: { key, value } });
  }
  for await (const job of storage.jobs.all()) {
    counts.jobs += 1;
    const entries = await storage.inbox.read(job.id, 0);
    const callbacks = entries.map(({ receivedAt, body }) => ({ receivedAt, body }));
    // The other storage numbers callbacks from 1, so the count of read callbacks is exported.
    const inboxRead = entries.filter(({ sequence }) => sequence <= job.inboxRead).length;
    yield line({ job: { ...job, inboxRead }, callbacks });
  }
  for await (const usage of storage.usage.history()) {
    counts.usage += 1;
    yield line({ usage });
  }
  yield line({ end: counts });
}

/**
 * Imports an export. Reads it to the end before writing anything, and does not overwrite existing entries. Each call of `open`
 * returns the lines from the beginning. `adopt` may change each job before it is stored. Throws TransferError and StorageError.
 * Importing the same lines again continues where the first import stopped.
 */
export async function importLines(
  open: () => AsyncIterable<string>,
  storage: Storage,
  adopt: (job: Job) => Job = (job) => job,
): Promise<ImportReport> {
  await checkSecrets(open, storage);
  const report = { secrets: 0, settings: 0, jobs: 0, usage: 0, known: 0 };
  for await (const line of readLines(open())) {
    if ('secret' in line) {
      await storage.secret(line.secret.name, () => line.secret.value);
      report.secrets += 1;
    } else if ('setting' in line) {
      const { key, value } = line.setting;
      const isNew = ((await storage.settings.get(key)) ?? undefined) === undefined;
      if (isNew) await storage.settings.set(key, value);
      report[isNew ? 'settings' : 'known'] += 1;
    } else if ('job' in line) {
      const { callbacks } = line;
      const job = adopt(line.job);
      const isNew = await storage.jobs.create(job);
      // Also for a known job, because an earlier import may have stopped right after storing it.
      for (const { body, receivedAt } of callbacks) await storage.receive({ job: job.id, body, receivedAt });
      // Timers are not exported, so open jobs continue immediately, and late results are polled again.
      const mayArriveLate = job.taskId !== undefined && LATE_STATES.has(job.state);
      if (isNew && (isOpen(job) || mayArriveLate)) await storage.schedule.wake(job.id);
      report[isNew ? 'jobs' : 'known'] += 1;
    } else if ('usage' in line) {
      report[(await storage.usage.restore(line.usage)) ? 'usage' : 'known'] += 1;
    }
  }
  return report;
}

/** Reads to the end, and checks that existing signed links and callbacks would stay valid. */
async function checkSecrets(open: () => AsyncIterable<string>, storage: Storage): Promise<void> {
  const existing = new Map(await storage.secrets());
  for await (const line of readLines(open())) {
    if (!('secret' in line)) continue;
    const { name, value } = line.secret;
    if ((existing.get(name) ?? value) !== value) {
      throw new TransferError(
        `This storage already has a different secret “${name}”. An import would break existing links. Import into empty storage.`,
      );
    }
  }
}

/** Throws TransferError unless the lines are a complete export of a known version. */
async function* readLines(lines: AsyncIterable<string>): AsyncGenerator<Line> {
  const counts = { secrets: 0, settings: 0, jobs: 0, usage: 0 };
  let number = 0;
  let ended = false;
  for await (const text of lines) {
    number += 1;
    if (text.trim() === '') continue;
    if (ended) throw new TransferError(`Line ${number}: unexpected text after the end of the export.`);
    const value = parse(text, number);
    if (number === 1) {
      const head = headSchema.safeParse(value);
      if (!head.success) throw new TransferError('This is not a Minstrel export.');
      if (head.data.version !== VERSION) {
        throw new TransferError(
          `The export has version ${head.data.version}, but this Minstrel reads version ${VERSION}.`,
        );
      }
      continue;
    }
    const line = lineSchema.safeParse(value).data;
    if (!line) throw new TransferError(`Line ${number} of the export cannot be read.`);
    if (!('end' in line)) {
      counts[kindOf(line)] += 1;
      yield line;
      continue;
    }
    ended = true;
    if (!isDeepStrictEqual(line.end, counts))
      throw new TransferError('The export is missing lines. Please export again.');
  }
  if (number === 0) throw new TransferError('The export is empty.');
  if (!ended) throw new TransferError('The export ends too early. Please export again.');
}

function kindOf(line: Exclude<Line, { end: unknown }>): keyof z.infer<typeof countsSchema> {
  if ('secret' in line) return 'secrets';
  if ('setting' in line) return 'settings';
  return 'job' in line ? 'jobs' : 'usage';
}

/** Splits a stream of text at line feeds only, because JSON may contain all other Unicode line separators. */
export async function* linesIn(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    const lines = `${rest}${piece}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function parse(text: string, number: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TransferError(`Line ${number} of the export is not valid JSON.`);
  }
}
