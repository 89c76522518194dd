import { join } from 'node:path';
import type { Log } from './command.ts';
import type { Config } from './config.ts';
import { systemClock } from './storage/clock.ts';
import { openRedisStorage } from './storage/redis.ts';
import { openSqliteStorage } from './storage/sqlite.ts';
import type { Storage } from './storage/storage.ts';

/** The storage of the settings: Redis where one is named, else a file in the data directory. Throws StorageError. */
export async function openStorage(
  { storage }: Pick<Config, 'storage'>,
  { log, random }: { log: Log; random: () => number },
): Promise<Storage> {
  switch (storage.type) {
    case 'sqlite':
      return openSqliteStorage({
        path: join(storage.directory, 'minstrel.sqlite'),
        clock: systemClock,
        random,
        log,
      });
    case 'redis':
      return openRedisStorage({ url: storage.url, clock: systemClock, random, log });
    default:
      return storage satisfies never;
  }
}
