/** Checks that storage can be written, that it keeps its data, and that other users of the machine cannot read it. */
import { access, constants, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Finding, good, warning, wrong } from '../../core/finding.ts';
import type { Log } from '../../core/telemetry/log.ts';
import { systemClock } from '../../storage/schedule.ts';
import { databaseFile } from '../../storage/sqlite/database-file.ts';
import { type Storage, StorageError } from '../../storage/storage.ts';
import type { Config } from '../config/config.ts';

const SUBJECT = 'Storage';

/** Enough for a few hundred songs. The bot takes no requests while the disk of its database is full. */
const LEAST_FREE_BYTES = 1_000_000_000;

export async function inspectStorage(
  { storage }: Pick<Config, 'storage'>,
  { open, log }: { open: () => Promise<Storage>; log: Log },
): Promise<Finding[]> {
  switch (storage.type) {
    case 'sqlite': {
      const found = await folder(storage.directory);
      const isUsable = found.every(({ level }) => level !== 'wrong');
      return isUsable ? [...found, await database(storage.directory, open)] : found;
    }
    case 'redis': {
      const { examineRedis } = await import('../../storage/redis/redis.ts');
      return await examineRedis(storage.url, { clock: systemClock, log }).catch(refusal);
    }
    default:
      return storage satisfies never;
  }
}

async function folder(directory: string): Promise<Finding[]> {
  const path = resolve(directory);
  const existing = await nearest(path);
  const found: Finding[] = [];
  if (!(await stat(existing)).isDirectory())
    return [
      wrong(
        SUBJECT,
        `${existing} is a file, and no folder`,
        'take it away, or set DATA_DIR to another folder',
      ),
    ];
  try {
    await access(existing, constants.W_OK);
  } catch {
    return [
      wrong(
        SUBJECT,
        `${existing} may not be written by this user`,
        'give it to the user that runs the bot, or set DATA_DIR',
      ),
    ];
  }
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

/** The path itself, or the nearest one above it that exists. */
async function nearest(path: string): Promise<string> {
  return (await isThere(path)) ? path : nearest(dirname(path));
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Opens the database as a start would, where there is one. */
async function database(directory: string, open: () => Promise<Storage>): Promise<Finding> {
  const path = databaseFile(resolve(directory));
  if (!(await isThere(path))) return good(SUBJECT, `${path} is made at the first start`);
  try {
    const storage = await open();
    await storage.check().finally(() => storage.close());
    return good(SUBJECT, `${path} opens, and can be written`);
  } catch (error) {
    if (error instanceof StorageError && error.code === 'locked')
      return good(SUBJECT, `${path} is in use, so the bot is running`);
    const [finding] = refusal(error);
    return finding;
  }
}

function refusal(error: unknown): [Finding] {
  if (!(error instanceof StorageError)) throw error;
  return [wrong(SUBJECT, error.message, 'docs/operating/troubleshooting.md tells more')];
}
