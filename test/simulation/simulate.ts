/** Plays one history to its end and tells which promises it broke. */
import { z } from 'zod';
import type { StartRequest } from '../../src/core/context.ts';
import type { Invocation } from '../../src/core/invocation.ts';
import { SqliteDatabase } from '../../src/storage/sqlite/database.ts';
import { sqliteStorage } from '../../src/storage/sqlite/sqlite.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { SimulatedChat } from './channel.ts';
import { type Callback, SimulatedGateway } from './gateway.ts';
import type { Fault, History, Request } from './history.ts';
import { Kernel, MOST_SKEW_MS, type Process } from './kernel.ts';
import { MemoryData } from './memory-data.ts';
import { memoryStorage } from './memory-storage.ts';
import { brokenPromises, type Facts } from './promises.ts';
import { watchRecords } from './records.ts';
import { away, type Replica, startReplica } from './replica.ts';

/** Milliseconds after which the runs of a replica that stands still go to another one. */
const LEASE_MS = 15_000;
/** Effects and timers after which a history counts as never coming to rest. */
const MOST_STEPS = 30_000;
/** The gateway waits this long for the answer to a callback, and tries again as often. */
const CALLBACK_TIMEOUT_MS = 10_000;
const CALLBACK_TRIES = 8;

export interface Played {
  readonly broken: readonly string[];
  readonly trace: readonly string[];
  readonly steps: number;
}

export async function simulate(history: History): Promise<Played> {
  const kernel = new Kernel(history.seed);
  const facts: Facts = { acknowledged: new Set(), answered: [], cancelled: new Set(), broken: [] };
  const chat = new SimulatedChat(kernel, history);
  const gateway = new SimulatedGateway(kernel, history, (callback) => callBack(callback, CALLBACK_TRIES));
  const data = new MemoryData(() => kernel.now);
  const database = history.store === 'sqlite' ? new SqliteDatabase(':memory:') : undefined;
  const replicas: Replica[] = [];
  // One process has an SQLite file.
  const size = database ? 1 : history.replicas;
  let incarnations = 0;
  let operations = 0;
  let requested = 0;

  function interfere(when: 'before' | 'after'): void {
    if (when === 'before') operations += 1;
    const reply = history.storage.find(({ after }) => after === operations)?.reply;
    if (reply === (when === 'before' ? 'away' : 'answer lost')) {
      kernel.tell('storage', reply);
      throw away();
    }
  }

  function open(process: Process): Storage {
    const tools = { clock: kernel.clockOf(process), random: kernel.random, log: new RecordingLog() };
    const storage = database
      ? sqliteStorage(database, tools)
      : memoryStorage({ data, leaseMs: LEASE_MS, ...tools });
    return watchRecords(storage, facts);
  }

  async function boot(index: number): Promise<void> {
    incarnations += 1;
    const name = `${'abc'[index]}${incarnations}`;
    const skewMs = Math.round((kernel.random() - 0.5) * MOST_SKEW_MS);
    const process: Process = { name, state: 'alive', skewMs: database ? 0 : skewMs };
    kernel.tell(name, 'starts');
    const replica = startReplica(process, open(process), { kernel, gateway, chat, interfere });
    replicas[index] = replica;
    await replica.jobs.run(() => Promise.reject(new TypeError('no command is invoked in simulations')));
  }

  /** Starts it again until storage lets it. */
  function keepBooting(index: number): void {
    boot(index).catch(() => kernel.after(1_000, () => keepBooting(index)));
  }

  function strike({ type: kind, replica: chosen, forMs }: Fault): void {
    const index = chosen % size;
    const replica = replicas[index];
    if (replica?.process.state !== 'alive') return;
    const { process, jobs } = replica;
    kernel.tell(process.name, `${kind} for ${forMs / 1_000} s`);
    switch (kind) {
      case 'die':
        kernel.die(process);
        kernel.after(forMs, () => keepBooting(index));
        return;
      case 'freeze':
        kernel.freeze(process);
        kernel.after(forMs, () => {
          kernel.tell(process.name, 'goes on');
          process.state = 'alive';
        });
        return;
      case 'stop':
        // What does not end in time is killed, as by `docker stop`.
        void jobs.stop();
        kernel.after(10_000, () => {
          if (process.state === 'dead') return;
          kernel.die(process);
          kernel.after(forMs, () => keepBooting(index));
        });
        return;
      default:
        kind satisfies never;
    }
  }

  function anyone(): Replica | undefined {
    const alive = replicas.filter(({ process }) => process.state === 'alive');
    return alive[Math.floor(kernel.random() * alive.length)];
  }

  /** The gateway's HTTP client: repeats a callback until it is answered with 200. */
  function callBack(callback: Callback, tries: number): void {
    const { job, stage, body } = callback;
    let answered = false;
    const repeat = () => {
      if (answered) return;
      answered = true;
      if (tries > 1) kernel.after(5_000, () => callBack(callback, tries - 1));
    };
    kernel.after(CALLBACK_TIMEOUT_MS, repeat);
    const replica = anyone();
    if (!replica) return;
    kernel.tell('gateway', `calls back ${replica.process.name}: ${stage} for ${job}`);
    replica.jobs.receive(job, body).then((stored) => {
      // The answer takes its way through the network, too.
      void kernel.effect(replica.process, `answers the callback: ${stored}`, () => {
        if (stored !== 'stored') return repeat();
        answered = true;
        facts.answered.push(callback);
      });
    }, repeat);
  }

  function ask(request: Request, index: number): void {
    const prompt = `${request.kind} ${index}`;
    const invocation: Invocation = {
      id: `event-${index}`,
      command: COMMANDS[request.kind],
      options: {},
      address: { platform: 'slack', guild: 'team', channel: 'channel', person: 'ada' },
      person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
    };
    const deliver = async () => {
      const replica = anyone();
      if (!replica) return;
      const { process, jobs, decisions } = replica;
      kernel.tell('ada', `asks ${process.name} for ${prompt}`);
      const settings = await decisions.read(invocation.address);
      const outcome = await jobs.start(
        { work: workOf(request, prompt), title: prompt },
        invocation,
        settings,
      );
      if (outcome.type !== 'accepted') return;
      await kernel.effect(process, 'acknowledges', () => void facts.acknowledged.add(prompt));
      outcome.begin();
    };
    // What is refused was told to the person at once.
    deliver().catch(() => undefined);
    if (request.twice) kernel.after(3_000, () => void deliver().catch(() => undefined));
    if (request.cancelAfterMs !== undefined)
      kernel.after(request.cancelAfterMs, () => void cancel(prompt).catch(() => undefined));
  }

  async function cancel(prompt: string): Promise<void> {
    const job = (await Array.fromAsync(observed.jobs.all())).find(({ title }) => title === prompt);
    const replica = anyone();
    if (!job || !replica) return;
    kernel.tell('ada', `cancels ${prompt} at ${replica.process.name}`);
    facts.cancelled.add(job.id);
    await replica.jobs.cancel(job.id, 'ada');
  }

  const observed = open(OBSERVER);
  for (let index = 0; index < size; index += 1) keepBooting(index);
  let at = 0;
  for (const [index, request] of history.requests.entries()) {
    at += request.afterMs;
    kernel.after(at, () => {
      requested += 1;
      ask(request, index);
    });
  }
  const faults = [...history.faults];
  let nextFault = faults[0]?.afterSteps ?? Number.POSITIVE_INFINITY;
  let steps = 0;
  const isAtRest = () =>
    requested === history.requests.length &&
    kernel.isIdle &&
    (database ? scheduledJobs(database) : data.schedule.size) === 0;
  while (!isAtRest() && facts.broken.length === 0) {
    if (steps >= nextFault) {
      const fault = faults.shift();
      if (fault) strike(fault);
      nextFault = steps + (faults[0]?.afterSteps ?? Number.POSITIVE_INFINITY);
    }
    if (!kernel.step()) break;
    await settled();
    steps += 1;
    if (steps > MOST_STEPS) facts.broken.push('it never comes to rest');
  }
  const broken = [
    ...facts.broken,
    ...(await brokenPromises({ facts, gateway, chat, storage: open(OBSERVER) })),
  ];
  for (const { process } of replicas) kernel.die(process);
  database?.close();
  data.close();
  return { broken, trace: kernel.trace, steps };
}

const COMMANDS = {
  song: 'song',
  'song with words first': 'song',
  picture: 'image',
  video: 'video',
  question: 'ask',
} as const satisfies Record<Request['kind'], string>;

function workOf({ kind }: Request, prompt: string): StartRequest['work'] {
  switch (kind) {
    case 'song':
      return {
        route: 'music.generate',
        request: { customMode: false, instrumental: false, model: 'V5', prompt },
      };
    case 'song with words first':
      return {
        route: 'music.generate',
        request: { customMode: true, instrumental: false, model: 'V5', title: prompt, style: 'folk', prompt },
        lyricsAbout: prompt,
      };
    case 'picture':
      return { route: 'media.image', request: { model: 'paint', prompt } };
    case 'video':
      return { route: 'media.video', request: { model: 'film', prompt } };
    case 'question':
      return {
        route: 'answer',
        dialect: 'chat',
        request: { model: 'chat-small', turns: [{ role: 'user', parts: [{ type: 'text', text: prompt }] }] },
      };
    default:
      return kind satisfies never;
  }
}

const countRow = z.object({ count: z.number() });

function scheduledJobs(database: SqliteDatabase): number {
  return countRow.parse(database.prepare('SELECT count(*) AS count FROM schedule').get()).count;
}

const OBSERVER: Process = { name: 'observer', state: 'dead', skewMs: 0 };

/** Lets everything go on that does not wait for an effect or for time. SQLite commits in the loop's next rounds. */
async function settled(): Promise<void> {
  for (let round = 0; round < 4; round += 1) await new Promise((resolve) => setImmediate(resolve));
}
