/** Creates or updates a backup, even while the bot runs. */
import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { System } from '../../core/system.ts';
import { copyDatabase } from '../../storage/sqlite/copy.ts';
import { databaseFile } from '../../storage/sqlite/database-file.ts';
import type { Storage } from '../../storage/storage.ts';
import { exportTo } from '../../storage/transfer.ts';
import type { Config } from '../config/read.ts';
import { openStorage } from '../services.ts';
import {
  asBackupError,
  BackupError,
  type CopiedFiles,
  copyMedia,
  EXPORT_FILE,
  MEDIA_FOLDER,
  mediaIn,
  PARTIAL_FILE,
  SNAPSHOT_FOLDER,
  sync,
} from './folder.ts';

export type BackupTools = Pick<System, 'random' | 'log'>;

export interface BackupReport {
  readonly lines: number;
  /** Absent if media is in a bucket. */
  readonly media?: CopiedFiles;
}

/**
 * Creates a backup in `folder`, or updates the one there. Only new media is copied, because file names are content hashes.
 * An earlier backup stays valid until the new one is complete. All jobs are from the same instant.
 * Throws BackupError and StorageError.
 */
export async function backUp(
  folder: string,
  config: Pick<Config, 'storage' | 'media'>,
  tools: BackupTools,
): Promise<BackupReport> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const expected = [EXPORT_FILE, PARTIAL_FILE, MEDIA_FOLDER, SNAPSHOT_FOLDER];
    const foreign = (await readdir(folder)).find((name) => !expected.includes(name));
    if (foreign !== undefined)
      throw new BackupError(
        `${folder} contains ${foreign}, which is not part of a backup. Choose an empty folder or an earlier backup.`,
      );
    await chmod(folder, 0o700);
    const lines = await writeExport(folder, config, tools);
    const { store } = config.media;
    const mediaFolder = join(folder, MEDIA_FOLDER);
    // Copied after the export, so that every file named by a job is included.
    const media = store.type === 'folder' ? await copyMedia(store.directory, mediaFolder) : undefined;
    await rename(join(folder, PARTIAL_FILE), join(folder, EXPORT_FILE));
    await sync(folder);
    if (store.type === 'folder') await removeStale(mediaFolder, new Set(await mediaIn(store.directory)));
    return { lines, ...(media && { media }) };
  } catch (error) {
    throw asBackupError(error, folder);
  }
}

/** Returns the number of lines. */
async function writeExport(
  folder: string,
  config: Pick<Config, 'storage'>,
  tools: BackupTools,
): Promise<number> {
  const snapshot = join(folder, SNAPSHOT_FOLDER);
  await rm(snapshot, { recursive: true, force: true });
  try {
    const storage = await openCopy(config, snapshot, tools);
    try {
      return await exportTo(join(folder, PARTIAL_FILE), 'w', storage);
    } finally {
      await storage.close();
    }
  } finally {
    await rm(snapshot, { recursive: true, force: true });
  }
}

/** Opens the storage to export. A database file is copied first, because a running bot locks it. */
async function openCopy(
  config: Pick<Config, 'storage'>,
  snapshot: string,
  tools: BackupTools,
): Promise<Storage> {
  const { storage } = config;
  if (storage.type === 'redis') return openStorage(config, tools);
  await mkdir(snapshot, { mode: 0o700 });
  await copyDatabase(databaseFile(storage.directory), databaseFile(snapshot));
  return openStorage({ storage: { type: 'sqlite', directory: snapshot } }, tools);
}

async function removeStale(folder: string, names: ReadonlySet<string>): Promise<void> {
  for (const name of await mediaIn(folder))
    if (!names.has(name)) await rm(join(folder, name), { force: true });
}
