/** Erases finished jobs with the media that nobody else's job holds. */
import { UserError } from '../errors.ts';
import type { Storage } from '../storage/storage.ts';
import { isOpen, type Job } from './job.ts';

export interface ForgetDependencies {
  readonly storage: Pick<Storage, 'jobs'>;
  /** Erases a kept file; one that is not kept is no mistake. */
  readonly removeFile: (name: string) => Promise<void>;
}

export interface Erased {
  readonly jobs: number;
  readonly files: number;
}

/** Erases what is meant by `isMeant`, except for what still runs: it would stand unfinished in its channel. */
export async function eraseJobs(
  isMeant: (job: Job) => boolean,
  { storage, removeFile }: ForgetDependencies,
): Promise<Erased> {
  const erased: string[] = [];
  const theirFiles = new Set<string>();
  const othersFiles = new Set<string>();
  for await (const job of storage.jobs.all()) {
    const meant = isMeant(job) && !isOpen(job);
    if (meant) erased.push(job.id);
    for (const name of filesOf(job)) (meant ? theirFiles : othersFiles).add(name);
  }
  const lone = [...theirFiles].filter((name) => !othersFiles.has(name));
  // Files first: while the job stands, a crash leaves something that leads to them.
  for (const name of lone) await removeFile(name);
  for (const id of erased) await storage.jobs.erase(id);
  return { jobs: erased.length, files: lone.length };
}

/** Erases a person's jobs on a platform. Throws UserError while one of them runs. */
export async function forgetPerson(
  { platform, person }: { readonly platform: string; readonly person: string },
  dependencies: ForgetDependencies,
): Promise<Erased> {
  const isTheirs = (job: Job): boolean => job.address.platform === platform && job.person.id === person;
  let running = 0;
  for await (const id of dependencies.storage.jobs.open()) {
    const job = await dependencies.storage.jobs.read(id);
    if (job && isTheirs(job)) running += 1;
  }
  if (running > 0) {
    throw new UserError(
      `Something of yours is still running (${running}). Wait for it, or cancel it with /jobs, and ask again.`,
    );
  }
  return eraseJobs(isTheirs, dependencies);
}

/** How kept files are named: the hash of their content, wherever in a record they stand. */
const KEPT_NAME = /\b[0-9a-f]{64}\.[a-z0-9]{1,8}\b/g;

function filesOf(job: Job): string[] {
  return JSON.stringify(job).match(KEPT_NAME) ?? [];
}
