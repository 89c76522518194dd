import { expect } from 'vitest';
import { type Clock, systemClock } from '../../src/storage/schedule.ts';
import { SqliteDatabase } from '../../src/storage/sqlite/database.ts';
import { storageContract } from '../contracts/storage.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { MemoryData } from './memory-data.ts';
import { memoryStorage } from './memory-storage.ts';

/** Milliseconds: short, so that the runs of a dead replica are repeated soon. */
const LEASE = 500;

storageContract('Storage in memory', async () => {
  const database = new SqliteDatabase(':memory:');
  const data = new MemoryData(Date.now, database);
  const open = async (clock: Clock = systemClock) =>
    memoryStorage({
      data,
      owner: { name: 'replica', state: 'alive', skewMs: 0 },
      leaseMs: LEASE,
      clock,
      random: Math.random,
      log: new RecordingLog(),
    });
  return {
    open,
    startReplica: async () => {
      let dead = false;
      const after: Clock['after'] = (milliseconds, callback) =>
        systemClock.after(milliseconds, () => dead || callback());
      const storage = await open({ ...systemClock, after });
      const lines: string[] = [];
      const hang = (job: string) => {
        lines.push(`running ${job}`);
        return new Promise<undefined>(() => {});
      };
      await storage.schedule.start(hang, { concurrency: 4 });
      return {
        lines,
        said: (line) => expect.poll(() => lines).toContain(line),
        kill: async () => {
          dead = true;
        },
      };
    },
    dispose: async () => database.close(),
  };
});
