/** Checks that storage can be written, that it keeps its data, and that other users of the machine cannot read it. */
import { existsSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { systemClock } from '../../core/clock.ts';
import { type Finding, good, warning, wrong } from '../../core/finding.ts';
import type { System } from '../../core/system.ts';
import { databaseFile, tryFolder } from '../../storage/sqlite/database-file.ts';
import { type Storage, StorageError } from '../../storage/storage.ts';
import type { Config } from '../config/read.ts';

const SUBJECT = 'Storage';

/** Enough for a few hundred songs. The bot takes no requests while the disk of its database is full. */
const LEAST_FREE_BYTES = 1_000_000_000;

export async function inspectStorage(
  { storage }: Pick<Config, 'storage'>,
  { open, random, log }: Pick<System, 'random' | 'log'> & { open: () => Promise<Storage> },
): Promise<Finding[]> {
  switch (storage.type) {
    case 'sqlite': {
      const path = resolve(storage.directory);
      const found: Finding[] = [];
      try {
        found.push(...(await folder(path)));
        found.push(await database(path, open));
      } catch (error) {
        found.push(refusal(error));
      }
      return found;
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

/** Where files are kept, or written on the way to a bucket: told only where that is impossible. */
export function inspectMediaFolder({
  dataDirectory,
  media: { store },
}: Pick<Config, 'dataDirectory' | 'media'>): Finding[] {
  const path = resolve(store.type === 'folder' ? store.directory : store.stagingDirectory);
  const isOfData = path.startsWith(join(resolve(dataDirectory), sep));
  try {
    tryFolder(path, isOfData ? 'DATA_DIR' : 'MEDIA_STORE');
    return [];
  } catch (error) {
    return [{ ...refusal(error), subject: 'Media' }];
  }
}

/** Throws StorageError. */
async function folder(path: string): Promise<Finding[]> {
  const existing = tryFolder(path);
  const found: Finding[] = [];
  const { bavail, bsize } = await statfs(existing);
  const free = bavail * bsize;
  const room = `${(free / 1e9).toFixed(1)} GB`;
  found.push(
    free < LEAST_FREE_BYTES
      ? warning(SUBJECT, `only ${room} are free for ${path}`, 'make room, or set DATA_DIR to a larger disk')
      : good(SUBJECT, `${path} can be written, and ${room} are free`),
  );
  for (const name of [path, databaseFile(path)]) {
    const mode = (await stat(name).catch(() => undefined))?.mode;
    if (mode !== undefined && (mode & 0o077) !== 0)
      found.push(
        warning(
          SUBJECT,
          `${name} can be read by other users of this machine`,
          `chmod go= ${JSON.stringify(name)}`,
        ),
      );
  }
  return found;
}

/** Opens the database as a start would, and reads all of it, where there is one. Throws StorageError. */
async function database(directory: string, open: () => Promise<Storage>): Promise<Finding> {
  const path = databaseFile(directory);
  if (!existsSync(path)) return good(SUBJECT, `${path} is made at the first start`);
  try {
    const storage = await open();
    await storage.check().finally(() => storage.close());
  } catch (error) {
    if (error instanceof StorageError && error.code === 'locked')
      return good(SUBJECT, `${path} is in use, so the bot is running`);
    throw error;
  }
  return good(SUBJECT, `${path} opens, and can be written`);
}

function refusal(error: unknown): Finding {
  if (!(error instanceof StorageError)) throw error;
  return wrong(SUBJECT, error.message, 'docs/operating/troubleshooting.md tells more');
}
