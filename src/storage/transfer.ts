/**
 * Everything that a storage keeps as JSON lines, and back: from one storage to another, whichever they are. A line each
 * for secrets, settings (voices among them) and jobs with the callbacks that came for them; a last line says how many.
 * Counters of limits are not carried over: they begin anew.
 */
import { z } from 'zod';
import { jobSchema } from '../jobs/job.ts';
import type { Storage } from './storage.ts';

export interface TransferCounts {
  readonly secrets: number;
  readonly settings: number;
  readonly jobs: number;
}

export interface ImportReport extends TransferCounts {
  /** What was there already under the same name, and stays as it was. */
  readonly known: number;
}

/** What an export cannot be read or taken for; the message is for the operator. */
export class TransferError extends Error {
  override readonly name = 'TransferError';
}

const VERSION = 1;

const callbackSchema = z.object({ receivedAt: z.number(), body: z.string() });
const headSchema = z.object({ minstrel: z.literal('export'), version: z.number().int() });
const countsSchema = z.object({
  secrets: z.number().int(),
  settings: z.number().int(),
  jobs: z.number().int(),
});
const lineSchema = z.union([
  z.object({ secret: z.object({ name: z.string(), value: z.string() }) }),
  z.object({ setting: z.object({ key: z.string(), value: z.unknown() }) }),
  z.object({ job: jobSchema, callbacks: z.array(callbackSchema) }),
  z.object({ end: countsSchema }),
]);
type Line = z.infer<typeof lineSchema>;

/**
 * The lines, without line breaks. Nothing else may write the storage meanwhile. Throws StorageError. The lines hold
 * secrets: whoever has them can sign callbacks and links of this deployment.
 */
export async function* exportLines(storage: Storage): AsyncGenerator<string> {
  const line = (value: Line): string => JSON.stringify(value);
  const counts = { secrets: 0, settings: 0, jobs: 0 };
  yield JSON.stringify({ minstrel: 'export', version: VERSION });
  for (const [name, value] of await storage.secrets()) {
    counts.secrets += 1;
    yield line({ secret: { name, value } });
  }
  for (const [key, value] of await storage.settings.entries()) {
    counts.settings += 1;
    yield line({ setting: { key, value } });
  }
  for await (const job of storage.jobs.all()) {
    counts.jobs += 1;
    const entries = await storage.inbox.read(job.id, 0);
    const callbacks = entries.map(({ receivedAt, body }) => ({ receivedAt, body }));
    // Storages number callbacks anew, from 1: what was read of them is counted, so that none is passed over.
    const inboxRead = entries.filter(({ sequence }) => sequence <= job.inboxRead).length;
    yield line({ job: { ...job, inboxRead }, callbacks });
  }
  yield line({ end: counts });
}

/**
 * Takes an export into a storage. It is read to its end before anything is written; what is there under the same name
 * stays. `open` gives the lines from the beginning, each time it is called. Throws TransferError and StorageError; a
 * second import of the same lines goes on where one broke off.
 */
export async function importLines(
  open: () => AsyncIterable<string>,
  storage: Storage,
): Promise<ImportReport> {
  await checkSecrets(open, storage);
  const report = { secrets: 0, settings: 0, jobs: 0, known: 0 };
  for await (const line of readLines(open())) {
    if ('secret' in line) {
      await storage.secret(line.secret.name, () => line.secret.value);
      report.secrets += 1;
    } else if ('setting' in line) {
      const { key, value } = line.setting;
      let isNew = false;
      await storage.settings.update(key, (stored) => {
        isNew = stored === undefined || stored === null;
        return isNew ? value : stored;
      });
      report[isNew ? 'settings' : 'known'] += 1;
    } else if ('job' in line) {
      const { job, callbacks } = line;
      const isNew = (await storage.jobs.read(job.id)) === undefined;
      if (isNew) {
        // Before the job, so that nobody finds it without them.
        for (const { body, receivedAt } of callbacks) await storage.inbox.put(job.id, body, receivedAt);
        if (!(await storage.jobs.create(job))) {
          report.known += 1;
          continue;
        }
      }
      report[isNew ? 'jobs' : 'known'] += 1;
    }
  }
  return report;
}

/** Reads to the end, and makes sure that links and callbacks that were signed before stay good. */
async function checkSecrets(open: () => AsyncIterable<string>, storage: Storage): Promise<void> {
  const own = new Map(await storage.secrets());
  for await (const line of readLines(open())) {
    if (!('secret' in line)) continue;
    const { name, value } = line.secret;
    if ((own.get(name) ?? value) !== value) {
      throw new TransferError(
        `This storage has a secret “${name}” of its own, so Minstrel has run on it already, and links from there would end. Import into an empty storage.`,
      );
    }
  }
}

/** Throws TransferError unless the lines are a whole export of a known version. */
async function* readLines(lines: AsyncIterable<string>): AsyncGenerator<Line> {
  const counts = { secrets: 0, settings: 0, jobs: 0 };
  let number = 0;
  let ended = false;
  for await (const text of lines) {
    number += 1;
    if (text.trim() === '') continue;
    if (ended) throw new TransferError(`Line ${number}: there is more after the end of the export.`);
    const value = parse(text, number);
    if (number === 1) {
      const head = headSchema.safeParse(value);
      if (!head.success) throw new TransferError('This is no export of Minstrel.');
      if (head.data.version !== VERSION) {
        throw new TransferError(
          `The export has version ${head.data.version}; this Minstrel reads version ${VERSION}.`,
        );
      }
      continue;
    }
    const line = lineSchema.safeParse(value);
    if (!line.success) throw new TransferError(`Line ${number} of the export cannot be read.`);
    if ('end' in line.data) {
      ended = true;
      const { secrets, settings, jobs } = line.data.end;
      if (secrets !== counts.secrets || settings !== counts.settings || jobs !== counts.jobs)
        throw new TransferError('Lines are missing in the export. Please make it again.');
      continue;
    }
    if ('secret' in line.data) counts.secrets += 1;
    else if ('setting' in line.data) counts.settings += 1;
    else counts.jobs += 1;
    yield line.data;
  }
  if (number === 0) throw new TransferError('The export is empty.');
  if (!ended) throw new TransferError('The export ends too early. Please make it again.');
}

function parse(text: string, number: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TransferError(`Line ${number} of the export is no JSON.`);
  }
}
