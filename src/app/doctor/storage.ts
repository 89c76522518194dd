/** Checks that storage is writable and durable, and that other users of the machine cannot read it. */
import { existsSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { type Finding, fatal, good, warning, wrong } from '../../core/finding.ts';
import type { System } from '../../core/system.ts';
import { systemClock } from '../../core/util/clock.ts';
import { databaseFile, tryFolder } from '../../storage/sqlite/database-file.ts';
import { type Storage, StorageError } from '../../storage/storage.ts';
import type { Config } from '../config/read.ts';

const SUBJECT = 'Storage';

/** Enough for a few hundred songs. The bot refuses requests while its database's disk is full. */
const LEAST_FREE_BYTES = 1_000_000_000;

export async function inspectStorage(
  { storage }: Pick<Config, 'storage'>,
  { open, random, log }: Pick<System, 'random' | 'log'> & { open: () => Promise<Storage> },
): Promise<Finding[]> {
  switch (storage.type) {
    case 'sqlite': {
      const path = resolve(storage.directory);
      const findings: Finding[] = [];
      try {
        findings.push(...(await folderFindings(path)));
        findings.push(await databaseFinding(path, open));
      } catch (error) {
        findings.push(refusal(error));
      }
      return findings;
    }
    case 'redis': {
      const { examineRedis } = await import('../../storage/redis/open.ts');
      return await examineRedis(storage.url, { clock: systemClock, random, log }).catch((error: unknown) => [
        refusal(error),
      ]);
    }
    default:
      return storage satisfies never;
  }
}

/** Checks the media folder, or the staging folder of a bucket. Reports problems only. */
export function inspectMediaFolder({
  dataDirectory,
  media: { store },
}: Pick<Config, 'dataDirectory' | 'media'>): Finding[] {
  const path = resolve(store.type === 'folder' ? store.directory : store.stagingDirectory);
  const isInDataDirectory = path.startsWith(join(resolve(dataDirectory), sep));
  try {
    tryFolder(path, isInDataDirectory ? 'DATA_DIR' : 'MEDIA_STORE');
    return [];
  } catch (error) {
    return [wrong('Media', sentenceOf(error))];
  }
}

/** Throws StorageError. */
async function folderFindings(path: string): Promise<Finding[]> {
  const existing = tryFolder(path);
  const findings: Finding[] = [];
  const { bavail, bsize } = await statfs(existing);
  const free = bavail * bsize;
  const room = `${(free / 1e9).toFixed(1)} GB`;
  findings.push(
    free < LEAST_FREE_BYTES
      ? warning(
          SUBJECT,
          `only ${room} free for ${path}`,
          'free some space, or move DATA_DIR to a larger disk',
        )
      : good(SUBJECT, `${path} is writable, ${room} free`),
  );
  for (const name of [path, databaseFile(path)]) {
    const mode = (await stat(name).catch(() => undefined))?.mode;
    if (mode !== undefined && (mode & 0o077) !== 0)
      findings.push(
        warning(SUBJECT, `other users of this machine can read ${name}`, `chmod go= ${JSON.stringify(name)}`),
      );
  }
  return findings;
}

/** Opens an existing database as `npm start` does and checks it completely. Throws StorageError. */
async function databaseFinding(directory: string, open: () => Promise<Storage>): Promise<Finding> {
  const path = databaseFile(directory);
  if (!existsSync(path)) return good(SUBJECT, `${path} will be created when the bot first starts`);
  let storage: Storage;
  try {
    storage = await open();
  } catch (error) {
    if (error instanceof StorageError && error.code === 'locked')
      return good(SUBJECT, `${path} is in use: the bot is already running`);
    throw error;
  }
  try {
    await storage.check();
  } catch (error) {
    return wrong(SUBJECT, sentenceOf(error));
  } finally {
    await storage.close();
  }
  return good(SUBJECT, `${path} opens and is writable`);
}

const refusal = (error: unknown): Finding => fatal(SUBJECT, sentenceOf(error));

function sentenceOf(error: unknown): string {
  if (!(error instanceof StorageError)) throw error;
  return error.message;
}
