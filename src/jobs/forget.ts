/** Erases finished jobs and their files, except files that other jobs use, and removes a person's words from other jobs. */
import { UserError } from '../core/errors.ts';
import { isOpen, type Job } from '../core/job.ts';
import { counted } from '../core/util/words.ts';
import type { Inquiry, InquiryTurn, Work } from '../core/work.ts';
import { isUnreadableRecord } from '../storage/job-record.ts';
import type { JobText, Storage } from '../storage/storage.ts';
import type { JobDependencies } from './dependencies.ts';
import { checkWrite } from './invariants.ts';

interface EraseDependencies {
  readonly storage: Pick<Storage, 'jobs'>;
  /** Erases a stored file. Does nothing if there is no such file. */
  readonly removeFile: (name: string) => Promise<void>;
}

export type ForgetDependencies = EraseDependencies & Pick<JobDependencies, 'measure' | 'log'>;

export interface Erased {
  readonly jobs: number;
  readonly files: number;
}

interface Owner {
  readonly platform: string;
  readonly person: string;
}

/** Jobs erased in parallel. Storage writes them together. */
const ERASED_AT_ONCE = 20;

/** Erases these jobs, except running ones, whose messages would stay unfinished. */
export async function eraseJobs(
  jobs: AsyncIterable<Job>,
  { storage, removeFile }: EraseDependencies,
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
  await excludeOpen(versions, files, storage);
  // Files first: after a crash, the job still lists them.
  for (const name of files) await removeFile(name);
  const pending = [...versions];
  let count = 0;
  while (pending.length > 0) {
    const batch = pending.splice(0, ERASED_AT_ONCE);
    const erased = await Promise.all(batch.map(([id, version]) => storage.jobs.erase(id, version)));
    count += erased.filter(Boolean).length;
  }
  return { jobs: count, files: files.size };
}

/** Excludes jobs that **Show it** reopened, or that **Again** created, while all records were being read. */
async function excludeOpen(
  versions: Map<string, number>,
  files: Set<string>,
  storage: EraseDependencies['storage'],
): Promise<void> {
  for await (const id of storage.jobs.open()) {
    versions.delete(id);
    const job = files.size > 0 ? await storage.jobs.read(id).catch(ignoreUnreadable) : undefined;
    for (const name of filesIn(JSON.stringify(job ?? {}))) files.delete(name);
  }
}

/** The files of an unreadable record were already found in its text. */
function ignoreUnreadable(error: unknown): undefined {
  if (!isUnreadableRecord(error)) throw error;
}

/** Erases a person's jobs on a platform, and their messages and titles in jobs of others. Throws UserError if one of their jobs is running. */
export async function forgetPerson(owner: Owner, dependencies: ForgetDependencies): Promise<Erased> {
  const { jobs } = dependencies.storage;
  const running = await jobs.running({ platform: owner.platform }, owner.person);
  if (running.length > 0) {
    throw new UserError(
      `You have ${counted(running.length, 'running job')}. Let running jobs finish, or cancel them with /jobs, then try again.`,
    );
  }
  const own = new Set<string>();
  for await (const { id } of jobs.ofPerson(owner.platform, owner.person)) own.add(id);
  // Before the files, because quoted messages may refer to some.
  for await (const text of jobs.records())
    if (mayQuote(text, owner) || isBasedOn(text, own)) await removeQuotes(text.id, owner, own, dependencies);
  return eraseJobs(jobs.ofPerson(owner.platform, owner.person), dependencies);
}

/** Matches the names of stored files, which are hashes of their content. */
const KEPT_NAME = /\b[0-9a-f]{64}\.[a-z0-9]{1,8}\b/g;

function filesIn(record: string): string[] {
  return record.match(KEPT_NAME) ?? [];
}

/** True if a record may contain messages of the person. Avoids parsing most records. */
const mayQuote = ({ record }: JobText, { person }: Owner): boolean =>
  record.includes('"turns":') && record.includes(JSON.stringify(person));

/** True if a record names one of these jobs as the one it was made from. */
const isBasedOn = ({ record }: JobText, own: ReadonlySet<string>): boolean =>
  record.includes('"basedOn":') &&
  record.matchAll(/"parent":"([^"]*)"/g).some(([, id]) => id !== undefined && own.has(id));

/** Removes the person's messages and titles from someone else's job. */
async function removeQuotes(
  id: string,
  { platform, person }: Owner,
  own: ReadonlySet<string>,
  dependencies: ForgetDependencies,
): Promise<void> {
  const { jobs } = dependencies.storage;
  for (;;) {
    const job = await jobs.read(id);
    if (!job || job.address.platform !== platform || job.person.id === person) return;
    const cleaned = withoutTitleOf(own, withoutMessagesOf(person, job));
    if (cleaned === job) return;
    const stored = await jobs.replace(cleaned);
    if (stored) return checkWrite(job, stored, dependencies);
  }
}

function withoutMessagesOf(person: string, job: Job): Job {
  const inquiry = inquiryOf(job);
  if (!inquiry) return job;
  const turns = withoutTurnsOf(person, inquiry.turns);
  if (turns.length === inquiry.turns.length) return job;
  // Sound because the request was an inquiry before.
  return { ...job, work: { ...job.work, request: { ...inquiry, turns } } as Job['work'] };
}

/** Removes the title of the job that this one was made from, if it is one of these. */
function withoutTitleOf(own: ReadonlySet<string>, job: Job): Job {
  const { basedOn, ...rest } = job;
  if (basedOn === undefined || job.parent === undefined || !own.has(job.parent)) return job;
  const clean = (text: string) => text.replaceAll(basedOn, 'the original');
  const { work } = job;
  // The description of a saved voice repeats the title.
  const cleaned: Work =
    work.route === 'music.generatePersona'
      ? { ...work, request: { ...work.request, description: clean(work.request.description) } }
      : work;
  return { ...rest, work: cleaned, title: clean(job.title) };
}

/** Removes the person's messages and the answers to them. The last turn is the question itself and stays. */
function withoutTurnsOf(person: string, turns: readonly InquiryTurn[]): InquiryTurn[] {
  return turns.filter((turn, index) => turn.person !== person || index === turns.length - 1);
}

function inquiryOf({ work }: Job): Inquiry | undefined {
  return work.route === 'answer' || work.route === 'gen.image' ? work.request : undefined;
}
