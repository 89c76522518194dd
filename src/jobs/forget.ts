/** Erases finished jobs with the media that no other job holds, and what other jobs quote of a person. */
import { UserError } from '../core/errors.ts';
import { isOpen, type Job } from '../core/job.ts';
import type { Inquiry, InquiryTurn } from '../core/work.ts';
import { isUnreadableRecord } from '../storage/job-record.ts';
import type { JobText, Storage } from '../storage/storage.ts';

export interface ForgetDependencies {
  readonly storage: Pick<Storage, 'jobs'>;
  /** Erases a kept file; one that is not kept is no mistake. */
  readonly removeFile: (name: string) => Promise<void>;
}

export interface Erased {
  readonly jobs: number;
  readonly files: number;
}

interface Whose {
  readonly platform: string;
  readonly person: string;
}

/** Jobs erased at a time: storage writes them together. */
const ERASED_AT_ONCE = 20;

/** Erases these jobs, except for those that still run: their message would stay unfinished. */
export async function eraseJobs(
  jobs: AsyncIterable<Job>,
  { storage, removeFile }: ForgetDependencies,
): Promise<Erased> {
  const versions = new Map<string, number>();
  const files = new Set<string>();
  for await (const job of jobs) {
    if (isOpen(job)) continue;
    versions.set(job.id, job.version);
    for (const name of filesIn(JSON.stringify(job))) files.add(name);
  }
  if (files.size > 0) {
    for await (const { id, record } of storage.jobs.records())
      if (!versions.has(id)) for (const name of filesIn(record)) files.delete(name);
  }
  await keepTaken(versions, files, storage);
  // Files first: after a crash the job still leads to them.
  for (const name of files) await removeFile(name);
  const all = [...versions];
  let count = 0;
  while (all.length > 0) {
    const some = all.splice(0, ERASED_AT_ONCE);
    const gone = await Promise.all(some.map(([id, version]) => storage.jobs.erase(id, version)));
    count += gone.filter(Boolean).length;
  }
  return { jobs: count, files: files.size };
}

/** Looking through all records takes a while. Meanwhile **Show it** may open a job again, and **Again** may make a new one. */
async function keepTaken(
  versions: Map<string, number>,
  files: Set<string>,
  storage: ForgetDependencies['storage'],
): Promise<void> {
  for await (const id of storage.jobs.open()) {
    versions.delete(id);
    const job = files.size > 0 ? await storage.jobs.read(id).catch(ofNewerVersion) : undefined;
    for (const name of filesIn(JSON.stringify(job ?? {}))) files.delete(name);
  }
}

/** Its files were found in the text of its record, unless it is newer than that. */
function ofNewerVersion(error: unknown): undefined {
  if (!isUnreadableRecord(error)) throw error;
}

/**
 * Erases a person's jobs on a platform, and what conversations of others hold of them. Throws UserError while one of
 * their jobs runs.
 */
export async function forgetPerson(who: Whose, dependencies: ForgetDependencies): Promise<Erased> {
  const { jobs } = dependencies.storage;
  const running = await jobs.running({ platform: who.platform }, who.person);
  if (running.length > 0) {
    throw new UserError(
      `Some of your jobs are still running (${running.length}). Wait for them or cancel them with /jobs, then try again.`,
    );
  }
  // Before the files: what was quoted may hold some.
  for await (const text of jobs.records()) if (mayQuote(text, who)) await removeQuotes(text.id, who, jobs);
  return eraseJobs(jobs.ofPerson(who.platform, who.person), dependencies);
}

/** How kept files are named: the hash of their content, anywhere in a record. */
const KEPT_NAME = /\b[0-9a-f]{64}\.[a-z0-9]{1,8}\b/g;

function filesIn(record: string): string[] {
  return record.match(KEPT_NAME) ?? [];
}

/** Whether a record may hold turns of the person: most are never parsed. */
const mayQuote = ({ record }: JobText, { person }: Whose): boolean =>
  record.includes('"turns":') && record.includes(JSON.stringify(person));

/** Out of the job of somebody else. */
async function removeQuotes(id: string, { platform, person }: Whose, jobs: Storage['jobs']): Promise<void> {
  for (;;) {
    const job = await jobs.read(id);
    const inquiry = job && inquiryOf(job);
    if (!inquiry || job.address.platform !== platform || job.person.id === person) return;
    const turns = withoutTurnsOf(person, inquiry.turns);
    if (turns.length === inquiry.turns.length) return;
    // The request is an inquiry, as it was before.
    const work = { ...job.work, request: { ...inquiry, turns } } as Job['work'];
    if (await jobs.replace({ ...job, work })) return;
  }
}

/** Without what the person said, and without the answers to it. The newest turn is the question itself, and stays. */
function withoutTurnsOf(person: string, turns: readonly InquiryTurn[]): InquiryTurn[] {
  return turns.filter((turn, index) => turn.person !== person || index === turns.length - 1);
}

function inquiryOf({ work }: Job): Inquiry | undefined {
  return work.route === 'answer' || work.route === 'gen.image' ? work.request : undefined;
}
