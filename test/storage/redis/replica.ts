/** The program of replica-process.ts: `node replica.ts <location as JSON> <task>`. */

import { systemClock } from '../../../src/core/util/clock.ts';
import { openRedisStorage } from '../../../src/storage/redis/open.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/open.ts';
import { type Storage, StorageError } from '../../../src/storage/storage.ts';
import { PATIENT } from '../../servers/redis.ts';
import { songJob } from '../jobs.ts';
import { RecordingLog } from '../recording-log.ts';
import { EVENTS, type StorageLocation } from './replica-process.ts';

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function openAt(location: StorageLocation): Promise<Storage> {
  const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };
  return location.kind === 'sqlite'
    ? openSqliteStorage({ ...tools, path: location.path })
    : openRedisStorage({ ...tools, ...(task === 'wait' ? {} : PATIENT), ...location });
}

async function write(storage: Storage): Promise<never> {
  for (let index = 0; ; index += 1) {
    const id = `job${index}`;
    await Promise.all([
      storage.jobs
        .create(songJob({ id }))
        .then(() => say(`created ${id}`))
        .then(() => storage.receive({ job: id, body: `body of ${id}`, receivedAt: index }))
        .then(() => say(`put ${id}`)),
      storage.schedule.wake(id).then(() => say(`woke ${id}`)),
    ]);
    await storage.jobs.replace(songJob({ id, title: 'replaced' }));
    say(`replaced ${id}`);
  }
}

async function accept(storage: Storage): Promise<void> {
  while ((await storage.settings.get('go')) === undefined);
  const facts = { platform: 'discord', guild: 'guild', person: 'ada', displayName: 'Ada', family: 'song' };
  const now = systemClock.now();
  for (let event = 0; event < EVENTS; event += 1) {
    const [id, counter] = [`event${event}`, `counter${event}`];
    const { type } = await storage.accept({
      job: songJob({ id: `${id} in ${process.pid}`, invocation: id }),
      reservation: { id, at: now, units: 0, counters: [counter], facts },
      ceilings: [{ counter, windowMs: 3_600_000, of: 'requests', most: 1 }],
      at: now + 3_600_000,
      now,
    });
    say(`${type} ${event}`);
  }
  say('done');
}

/** Makes many calls at once that wait for Redis until it is back. Prints every warning of the process. */
async function wait(storage: Storage): Promise<void> {
  let warnings = 0;
  process.on('warning', ({ name, message }) => {
    warnings += 1;
    say(`warned: ${name}: ${message}`);
  });
  await storage.schedule.start(async () => systemClock.now() + 100, { concurrency: 64 });
  for (let job = 0; job < 64; job += 1) await storage.schedule.wake(`job${job}`);
  say('ready');
  let hasFailed = false;
  for (let isBack = false; !isBack; ) {
    const calls = Array.from({ length: 20 }, (_, call) => [
      storage.settings.get('key'),
      storage.settings.update('key', (value) => ({ value })),
      storage.schedule.add(`call${call}`, systemClock.now() + 3_600_000),
      storage.schedule.unscheduled(['a', 'b']),
      storage.jobs.read('a'),
      storage.inbox.read('a', 0),
      storage.secret('name', () => 'made'),
      storage.check(),
    ]);
    const ends = await Promise.allSettled(calls.flat());
    const isAway = ends.some(({ status }) => status === 'rejected');
    if (isAway && !hasFailed) say('away');
    isBack = hasFailed && !isAway;
    hasFailed ||= isAway;
  }
  await storage.close();
  say(`closed after ${warnings} warnings`);
}

const [location, task] = process.argv.slice(2);
try {
  const storage = await openAt(JSON.parse(location ?? ''));
  say('open');
  if (task === 'write') await write(storage);
  if (task === 'accept') await accept(storage);
  if (task === 'wait') await wait(storage);
  if (task === 'hang') {
    await storage.schedule.start(
      (job) => {
        say(`running ${job}`);
        return new Promise(() => {});
      },
      { concurrency: 4 },
    );
  }
  setInterval(() => {}, 60_000);
} catch (error) {
  say(`refused ${error instanceof StorageError ? error.code : error}`);
}
