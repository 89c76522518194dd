import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../../../src/core/util/clock.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/open.ts';
import { storageContract } from '../../contracts/storage.ts';
import { RecordingLog } from '../recording-log.ts';
import { startReplica } from '../redis/replica-process.ts';

storageContract('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-sqlite-'));
  const path = join(folder, 'data', 'minstrel.sqlite');
  const log = new RecordingLog();
  return {
    log,
    open: () => openSqliteStorage({ path, clock: systemClock, random: Math.random, log }),
    async damageSetting(key, text) {
      using database = new DatabaseSync(path);
      database.prepare('UPDATE settings SET value = ? WHERE key = ?').run(text, key);
    },
    startReplica: () => startReplica({ kind: 'sqlite', path }, 'hang'),
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
});
