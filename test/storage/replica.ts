/** The program of replica-process.ts: `node replica.ts <place as JSON> <task>`. */
import { systemClock } from '../../src/storage/clock.ts';
import { openRedisStorage } from '../../src/storage/redis.ts';
import { openSqliteStorage } from '../../src/storage/sqlite.ts';
import { type Storage, StorageError } from '../../src/storage/storage.ts';
import { songJob } from './jobs.ts';
import { RecordingLog } from './recording-log.ts';
import type { ReplicaPlace } from './replica-process.ts';

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function openPlace(place: ReplicaPlace): Promise<Storage> {
  const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };
  return place.kind === 'sqlite'
    ? openSqliteStorage({ ...tools, path: place.path })
    : openRedisStorage({ ...tools, ...place });
}

async function write(storage: Storage): Promise<never> {
  for (let index = 0; ; index += 1) {
    const id = `job${index}`;
    await Promise.all([
      storage.jobs.create(songJob({ id })).then(() => say(`created ${id}`)),
      storage.inbox.put(id, `body of ${id}`, index).then(() => say(`put ${id}`)),
      storage.wakeUps.wake(id, index).then(() => say(`woke ${id}`)),
    ]);
    await storage.jobs.replace(songJob({ id, title: 'replaced' }));
    say(`replaced ${id}`);
  }
}

const [place, task] = process.argv.slice(2);
try {
  const storage = await openPlace(JSON.parse(place ?? ''));
  say('open');
  if (task === 'write') await write(storage);
  if (task === 'hang') {
    await storage.wakeUps.start(
      (job) => {
        say(`handling ${job}`);
        return new Promise(() => {});
      },
      { concurrency: 4 },
    );
  }
  setInterval(() => {}, 60_000);
} catch (error) {
  say(`refused ${error instanceof StorageError ? error.code : error}`);
}
