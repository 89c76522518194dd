/** What runs for a person in a whole server, wherever they asked for it. */
import type { Address } from '../command.ts';
import type { JobStore } from '../storage/storage.ts';
import type { JobView } from '../work.ts';
import { isOpen } from './job.ts';
import { viewOf } from './record.ts';

/** Read at a time: open jobs are few, and each is read by its id. */
const AT_ONCE = 20;

/** Oldest first. Throws StorageError. */
export async function runningEverywhere(
  jobs: Pick<JobStore, 'open' | 'read'>,
  { platform, guild, person }: Pick<Address, 'platform' | 'guild' | 'person'>,
): Promise<JobView[]> {
  const found: JobView[] = [];
  let ids: string[] = [];
  const readAll = async (): Promise<void> => {
    const read = await Promise.all(ids.map((id) => jobs.read(id).catch(() => undefined)));
    ids = [];
    for (const job of read)
      if (
        job &&
        isOpen(job) &&
        job.person.id === person &&
        job.address.platform === platform &&
        job.address.guild === guild
      )
        found.push(viewOf(job));
  };
  for await (const id of jobs.open()) {
    ids.push(id);
    if (ids.length >= AT_ONCE) await readAll();
  }
  await readAll();
  return found.sort((left, right) => left.createdAt - right.createdAt);
}
