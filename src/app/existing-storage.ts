/** For programs that work on what a bot has stored, and find nothing where the settings are not those of the bot. */
import { assertDatabase } from '../storage/sqlite/copy.ts';
import { databaseFile } from '../storage/sqlite/database-file.ts';
import type { Storage } from '../storage/storage.ts';
import { openStorage } from './outside.ts';

/** As {@link openStorage}, which would make an empty database where there is none. Throws StorageError. */
export async function openExistingStorage(
  ...[config, tools]: Parameters<typeof openStorage>
): Promise<Storage> {
  const { storage } = config;
  if (storage.type === 'sqlite') assertDatabase(databaseFile(storage.directory));
  return openStorage(config, tools);
}
