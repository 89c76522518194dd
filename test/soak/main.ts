/**
 * `npm run soak -- --minutes 10 --store sqlite|redis [--pause milliseconds between two asks] [--seed text] [--snapshots]`: runs
 * the bot in a separate process under a steady load, and measures its memory after garbage collection. Exits with 1 if the heap
 * keeps growing. Two heap snapshots show what grows. Taking them increases RSS.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { printedHelp } from '../../src/app/process.ts';
import { startEmulator } from '../../src/emulator/server.ts';
import { botEnvironment } from '../chaos/environment.ts';
import { type Ask, startPeople } from '../chaos/people.ts';
import { planAsk } from '../chaos/plan.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { freePort } from '../servers/free-port.ts';
import { PROJECT } from '../servers/program.ts';
import { startRedisServer } from '../servers/redis.ts';
import { growthBetween } from './snapshot.ts';

const usage = `Usage: npm run soak -- [--minutes 10] [--store sqlite|redis] [--pause <ms>] [--seed <text>] [--snapshots]
Measures the bot's memory under a steady load. Exits with 1 if the heap keeps growing.`;
if (printedHelp(usage)) process.exit();

const PROBE = new URL('./probe.ts', import.meta.url).href;
const SAMPLES = 24;
/** Connections, compiled code and bounded caches fill up at first. */
const WARM_UP = 1 / 2;
/** Allowed growth after the warm-up: caches may add this, but a leaked record takes more. */
const MOST_BYTES_A_JOB = 4_096;
const KINDS_LISTED = 12;

const memorySchema = z.object({
  rss: z.number(),
  heapUsed: z.number(),
  heapTotal: z.number(),
  external: z.number(),
  resources: z.number(),
});
type Sample = z.infer<typeof memorySchema> & { readonly seconds: number; readonly jobs: number };

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    store: { type: 'string', default: 'sqlite' },
    pause: { type: 'string', default: '400' },
    seed: { type: 'string', default: 'soak' },
    snapshots: { type: 'boolean', default: false },
  },
});
const write = (line: string) => process.stdout.write(`${line}\n`);
const duration = Number(values.minutes) * 60_000;
const pauseMs = Number(values.pause);
if (!(duration > 0 && pauseMs > 0)) throw new RangeError('--minutes and --pause take numbers above 0');
if (values.store !== 'sqlite' && values.store !== 'redis')
  throw new RangeError(`--store is sqlite or redis, not ${values.store}`);

await using closing = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), 'minstrel-soak-'));
closing.defer(() => rm(folder, { recursive: true, force: true }));
const people = closing.adopt(await startPeople(1), (one) => one.close());
const emulator = closing.adopt(
  await startEmulator({ speed: 0.1, songSeconds: 3, studio: createSampleStudio() }),
  (one) => one.close(),
);
const redis =
  values.store === 'redis' ? closing.adopt(await startRedisServer(), (one) => one.dispose()) : undefined;
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const gateway = { url: emulator.url, apiKey: emulator.apiKey };
const bot = spawn(process.execPath, ['--expose-gc', '--import', PROBE, 'src/main.ts'], {
  cwd: PROJECT,
  env: {
    ...botEnvironment({
      people,
      gateway,
      port,
      publicUrl: url,
      folder,
      redisUrl: redis?.url,
    }),
    // The operators' way to run it.
    NODE_COMPILE_CACHE: '',
  },
  stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
});
bot.stderr?.pipe(createWriteStream(join(folder, 'bot.log')));
closing.defer(async () => {
  if (bot.exitCode !== null || bot.signalCode !== null) return;
  const gone = once(bot, 'exit');
  bot.kill('SIGKILL');
  await gone;
});
while ((await fetch(`${url}/readyz`).catch(() => undefined))?.status !== 200) {
  if (bot.exitCode !== null) throw new Error(`The bot ended: see ${folder}`);
  await sleep(100);
}

async function measure(question: string): Promise<z.infer<typeof memorySchema>> {
  const answered = once(bot, 'message');
  bot.send(question);
  const [answer] = await answered;
  return memorySchema.parse(answer);
}

const began = performance.now();
const asks: Ask[] = [];
const samples: Sample[] = [];
const megabytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MiB`.padStart(11);
write('  seconds     jobs       heap   reserved  outside it        RSS  timers and sockets');
async function sample(question = 'memory'): Promise<void> {
  const memory = await measure(question);
  const jobs = asks.filter((ask) => ask.acknowledged()).length;
  const seconds = (performance.now() - began) / 1_000;
  samples.push({ ...memory, jobs, seconds });
  const { heapUsed, heapTotal, external, rss, resources } = memory;
  write(
    `${seconds.toFixed(0).padStart(9)}${String(jobs).padStart(9)}${megabytes(heapUsed)}${megabytes(heapTotal)} ${megabytes(external)}${megabytes(rss)}${String(resources).padStart(20)}`,
  );
}

const snapshots = {
  earlier: join(folder, 'earlier.heapsnapshot'),
  later: join(folder, 'later.heapsnapshot'),
};
const questions = new Map(
  values.snapshots
    ? [
        [SAMPLES * WARM_UP, snapshots.earlier],
        [SAMPLES, snapshots.later],
      ]
    : [],
);
for (let taken = 0; taken <= SAMPLES; taken += 1) {
  const until = began + (duration * taken) / SAMPLES;
  while (performance.now() < until) {
    asks.push(people.ask(planAsk(values.seed, asks.length), `chaos-${asks.length}-`));
    await sleep(pauseMs);
  }
  await sample(questions.get(taken));
}

/** Returns the slope of a least-squares fit of the samples, in bytes per job. */
function slope(of: readonly Sample[], value: (sample: Sample) => number): number {
  const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
  const jobs = mean(of.map((one) => one.jobs));
  const height = mean(of.map(value));
  const together = of.reduce((sum, one) => sum + (one.jobs - jobs) * (value(one) - height), 0);
  return together / of.reduce((sum, one) => sum + (one.jobs - jobs) ** 2, 0);
}

const settled = samples.slice(SAMPLES * WARM_UP + 1);
const heap = slope(settled, ({ heapUsed }) => heapUsed);
write(`\nIn the second half, one more job leaves ${heap.toFixed(0)} bytes on the heap`);
write(`and ${slope(settled, ({ rss }) => rss).toFixed(0)} bytes of RSS.`);
if (values.snapshots) {
  write('Between the snapshots, this has grown:');
  for (const { kind, count, bytes } of await growthBetween(snapshots.earlier, snapshots.later, KINDS_LISTED))
    write(`${megabytes(bytes)}  ${String(count).padStart(8)}  ${kind}`);
}
if (heap > MOST_BYTES_A_JOB) {
  write(`More than ${MOST_BYTES_A_JOB} bytes a job: the heap goes on growing.`);
  process.exitCode = 1;
}
