/** One run: starts everything, follows the plan, waits until all work ends, and checks the results. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isOpen, type Job } from '../../src/core/job.ts';
import { systemClock } from '../../src/core/util/clock.ts';
import { openRedisStorage } from '../../src/storage/redis/open.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/open.ts';
import { startFaultyEmulator } from '../emulator/faulty.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { freePort } from '../servers/free-port.ts';
import { type RedisServer, startRedisServer } from '../servers/redis.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { type Breaking, createBreaking } from './breaking.ts';
import { botEnvironment } from './environment.ts';
import { startGatewayProxy } from './gateway-proxy.ts';
import { type Ask, type People, startPeople } from './people.ts';
import { type ChaosOptions, planAsk, planEvents, planSkew } from './plan.ts';
import { createReplica, startBalancer } from './replicas.ts';
import { isGood, judge, type Verdict } from './verdict.ts';

export interface ChaosReport extends Verdict {
  readonly gatewayFaults: number;
  /** Paid requests that the gateway accepted. */
  readonly paid: number;
  readonly kills: number;
  readonly freezes: number;
  /** The folder of the logs, only for a failed run. */
  readonly folder?: string;
}

/** Unacknowledged requests after which people slow down. */
const MOST_UNANSWERED = 10;
/** Posting 2,000 results takes a while at the rate limits of three channels. */
const REST_WITHIN_MS = 900_000;
/** Open work past every deadline still has to end on a slow machine. */
const MOST_ROUNDS = 6;
/** Longer than every deadline of the requested work, and than an interaction token. */
const CLOCK_AHEAD_MS = 45 * 60_000;

/** Rejects if something cannot be started. Faults of the bot are in the report. */
export async function runChaos(
  options: ChaosOptions,
  say: (line: string) => void = () => undefined,
): Promise<ChaosReport> {
  await using closing = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-chaos-'));
  const count = options.replicas;
  const people = closing.adopt(await startPeople(count), (one) => one.close());
  let emulatorUrl = '';
  const proxy = closing.adopt(await startGatewayProxy(options, () => emulatorUrl), (one) => one.close());
  const emulator = closing.adopt(
    await startFaultyEmulator({
      speed: 0.1,
      songSeconds: 3,
      publicUrl: proxy.url,
      studio: createSampleStudio(),
    }),
    (one) => one.close(),
  );
  emulatorUrl = emulator.url;
  const redis =
    options.store === 'redis' ? closing.adopt(await startRedisServer(), (one) => one.dispose()) : undefined;
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const balancer = closing.adopt(await startBalancer(ports), (one) => one.close());
  const replicas = ports.map((port, index) =>
    createReplica(
      botEnvironment({
        people,
        gateway: { url: proxy.url, apiKey: emulator.apiKey },
        port,
        publicUrl: balancer.url,
        folder,
        redisUrl: redis?.url,
      }),
      { folder, name: `replica-${index}`, skew: (start) => planSkew(options, index, start) },
    ),
  );
  closing.defer(async () => void (await Promise.all(replicas.map((replica) => replica.kill()))));

  let aheadMs = 0;
  const restart = async (ahead: number): Promise<void> => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    people.discord.advance(ahead - aheadMs);
    aheadMs = ahead;
    await Promise.all(replicas.map((replica) => replica.start(ahead)));
  };
  await Promise.all(replicas.map((replica) => replica.start()));
  say(`${count} up, asking`);
  const calls = closing.adopt(createWriteStream(join(folder, 'calls.log')), (file) => void file.end());
  const tell = (call: string): void => void calls.write(`${Date.now()} ${call}\n`);
  const breaking = createBreaking({ replicas, redis, people, balancer, options, tell });
  const asks = await runPlan(options, people, breaking, say);
  await breaking.settled();
  proxy.calm();
  breaking.calm();
  say(`${asks.length} asked, ${breaking.kills()} killed, ${breaking.freezes()} frozen; coming to rest`);
  await waitUntilIdle(people, options.restMs, say);

  // Unanswered work ends only at its deadline, longer than a run waits.
  say('the clock goes ahead past every deadline');
  let jobs: Job[];
  let verdict: Verdict;
  let rounds = 0;
  do {
    rounds += 1;
    // After a restart, the bot waits again for submitted work without an answer.
    await restart(aheadMs + CLOCK_AHEAD_MS);
    await waitUntilIdle(people, options.restMs, say);
    await Promise.all(replicas.map((replica) => replica.stop()));
    jobs = await readJobs(options, { folder, redis });
    verdict = judge({ asks, jobs, shown: people.shown(), taken: proxy.taken, callbacks: balancer.callbacks });
    // A slow machine may have been quiet for a while.
  } while ((jobs.some(isOpen) || verdict.lost.length > 0) && rounds < MOST_ROUNDS);
  const good = isGood(verdict);
  if (good) await rm(folder, { recursive: true, force: true });
  else await writeFile(join(folder, 'found.json'), JSON.stringify(found(verdict, jobs, people), null, 2));
  return {
    ...verdict,
    gatewayFaults: proxy.faults,
    paid: [...proxy.taken.values()].reduce((sum, times) => sum + times, 0),
    kills: breaking.kills(),
    freezes: breaking.freezes(),
    ...(good ? {} : { folder }),
  };
}

/** Returns the records and all versions of the messages of failed jobs. */
function found({ lost, deliveredTwice }: Verdict, jobs: readonly Job[], { discord, slack }: People): object {
  const marks = [...lost, ...deliveredTwice].flatMap((line) => /^chaos-\d+-/.exec(line)?.[0] ?? []);
  const matches = (value: unknown): boolean => {
    const text = JSON.stringify(value);
    return marks.some((mark) => text.includes(mark));
  };
  return {
    jobs: jobs.filter(matches),
    discord: discord.world.messages.values().filter(matches).toArray(),
    slack: slack.workspace.messages.filter(matches),
  };
}

async function runPlan(
  options: ChaosOptions,
  people: People,
  breaking: Breaking,
  say: (line: string) => void,
): Promise<Ask[]> {
  const asks: Ask[] = [];
  const events = planEvents(options);
  const cancelling: Promise<void>[] = [];
  const accepted = () => asks.filter((ask) => ask.acknowledged()).length;
  const unanswered = () => asks.slice(-2 * MOST_UNANSWERED).filter((ask) => !ask.acknowledged()).length;
  // Requests to a process that is being killed are never answered, so people ask again.
  while (accepted() < options.jobs && asks.length < 20 * options.jobs + 50) {
    const index = asks.length;
    const acceptedCount = accepted();
    for (let next = events[0]; next && next.afterAccepted <= acceptedCount; next = events[0]) {
      events.shift();
      breaking.applyFault(next);
    }
    const planned = planAsk(options.seed, index);
    const ask = people.ask(planned, `chaos-${index}-`);
    asks.push(ask);
    if (planned.cancels) cancelling.push(cancelWhenShown(people, ask.mark));
    // Limits requests to what a slow machine can answer.
    await sleep(options.pauseMs * Math.max(1, unanswered() - MOST_UNANSWERED));
    if (index % 100 === 99) say(`${index + 1} asked, ${accepted()} acknowledged`);
  }
  for (const event of events) breaking.applyFault(event);
  await Promise.all(cancelling);
  return asks;
}

async function cancelWhenShown(people: People, mark: string): Promise<void> {
  await sleep(700);
  await people.cancel(mark).catch(() => undefined);
}

/** Waits until no message shows a running job, or nothing has changed for long. */
async function waitUntilIdle(people: People, restMs: number, say: (line: string) => void): Promise<void> {
  const until = performance.now() + REST_WITHIN_MS;
  let before = '';
  let since = performance.now();
  while (performance.now() < until) {
    const read = performance.now();
    const shown = people.shown();
    const left = shown.filter(({ isProgress }) => isProgress).length;
    const state = JSON.stringify(shown);
    if (state !== before) since = performance.now();
    before = state;
    const quiet = performance.now() - since;
    if (quiet > restMs || (left === 0 && quiet > restMs / 3)) {
      say(`at rest, ${left} still running`);
      return;
    }
    // Reading thousands of messages blocks this process, which also runs the platforms.
    await sleep(Math.max(200, 5 * (performance.now() - read)));
  }
  say('does not come to rest');
}

async function readJobs(
  { store }: ChaosOptions,
  { folder, redis }: { folder: string; redis: RedisServer | undefined },
): Promise<Job[]> {
  const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };
  const storage =
    store === 'redis'
      ? await openRedisStorage({ ...tools, url: redis?.url ?? '' })
      : await openSqliteStorage({ ...tools, path: join(folder, 'minstrel.sqlite') });
  try {
    return await Array.fromAsync(storage.jobs.all());
  } finally {
    await storage.close();
  }
}
