/** Restores a backup into an empty storage. */
import { createReadStream } from 'node:fs';
import { link, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Job } from '../../core/job.ts';
import { docsPage } from '../../core/util/installation.ts';
import { RESTORED_SENTENCE } from '../../jobs/sentences.ts';
import { transition } from '../../jobs/transitions.ts';
import { restoreObstacle } from '../../storage/sqlite/copy.ts';
import { databaseFile } from '../../storage/sqlite/database-file.ts';
import type { Storage } from '../../storage/storage.ts';
import { type ImportReport, importLines, linesIn } from '../../storage/transfer.ts';
import type { Config } from '../config/read.ts';
import { isBotAt } from '../doctor/public-url.ts';
import { openStorage } from '../services.ts';
import type { BackupTools } from './create.ts';
import {
  asBackupError,
  BackupError,
  type CopiedFiles,
  copyMedia,
  EXPORT_FILE,
  MEDIA_FOLDER,
  mediaIn,
  sync,
  undefinedWhenMissing,
} from './folder.ts';

export interface RestoreTools extends BackupTools {
  readonly fetch: typeof fetch;
}

export interface RestoreReport extends ImportReport {
  /** Absent if media is in a bucket. */
  readonly media?: CopiedFiles;
}

/**
 * Restores a backup into the configured storage. The whole backup is validated before anything is written. Open work is
 * never paid for twice: jobs that had not started are failed, since they may have started after the backup.
 * Throws BackupError, TransferError and StorageError.
 */
export async function restore(
  folder: string,
  config: Pick<Config, 'storage' | 'media' | 'listener'>,
  tools: RestoreTools,
): Promise<RestoreReport> {
  try {
    const path = join(folder, EXPORT_FILE);
    if (!(await stat(path).catch(undefinedWhenMissing))?.isFile())
      throw new BackupError(`${folder} is not a complete backup: ${EXPORT_FILE} is missing.`);
    await assertNoBotAt(config.listener.publicUrl, tools.fetch);
    const lines = () => linesIn(createReadStream(path, 'utf8'));
    const report = await restoreStorage(lines, config, tools);
    const { store } = config.media;
    const mediaFolder = join(folder, MEDIA_FOLDER);
    if (store.type === 'folder')
      return { ...report, media: await copyMedia(mediaFolder, store.directory, { verified: true }) };
    if ((await mediaIn(mediaFolder)).length === 0) return report;
    throw new BackupError(
      `Jobs and settings were restored, but not the files in ${mediaFolder}. Copy those to the MEDIA_STORE bucket; see ${docsPage('media.md')}.`,
    );
  } catch (error) {
    throw asBackupError(error, folder);
  }
}

/** Two bots with the same jobs would both post results and both respond. */
async function assertNoBotAt(publicUrl: string | undefined, fetch: RestoreTools['fetch']): Promise<void> {
  if (publicUrl === undefined || !(await isBotAt(publicUrl, fetch))) return;
  throw new BackupError(
    `A bot is running at ${publicUrl} (PUBLIC_URL). Stop it for good first. Otherwise, two bots will work on the same jobs.`,
  );
}

async function restoreStorage(
  lines: () => AsyncIterable<string>,
  config: Pick<Config, 'storage'>,
  tools: RestoreTools,
): Promise<ImportReport> {
  const { storage: target } = config;
  if (target.type === 'redis') {
    const storage = await openStorage(config, tools);
    try {
      await assertEmpty(storage);
      return await importLines(lines, storage, markRestored);
    } finally {
      await storage.close();
    }
  }
  const path = databaseFile(target.directory);
  const reason = restoreObstacle(path);
  if (reason !== undefined) throw new BackupError(reason);
  const staging = join(target.directory, 'restoring');
  await rm(staging, { recursive: true, force: true });
  try {
    const storage = await openStorage({ storage: { type: 'sqlite', directory: staging } }, tools);
    const report = await importLines(lines, storage, markRestored).finally(() => storage.close());
    // Unlike a rename, a link never overwrites: a bot may have been started meanwhile.
    await link(databaseFile(staging), path);
    await sync(target.directory);
    return report;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function assertEmpty(storage: Storage): Promise<void> {
  for await (const { id } of storage.jobs.records())
    throw new BackupError(
      `The Redis at REDIS_URL already contains jobs, such as ${id}. Use an empty Redis, or first delete all keys that start with minstrel:.`,
    );
}

function markRestored(job: Job): Job {
  const failure = {
    code: 'restored',
    sentence: RESTORED_SENTENCE,
    reference: job.id,
    taken: 'unknown',
  } as const;
  return transition(job, { type: 'restored', failure });
}
