/** Plays a history to its end and reports the promises it broke. */

import { sqliteStorage } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { checkAtRest } from './at-rest.ts';
import { audit } from './audit.ts';
import type { Callback } from './callbacks.ts';
import { SimulatedChat } from './channel.ts';
import { ReusedDatabase } from './databases.ts';
import { Interference } from './effects.ts';
import { SimulatedGateway } from './gateway.ts';
import { CALM, type Fault, type History } from './history.ts';
import { Kernel, MOST_SKEW_MS, type Process } from './kernel.ts';
import { SimulatedMedia } from './media.ts';
import { People } from './people.ts';
import type { Plant } from './plants.ts';
import { type Replica, startReplica } from './replica.ts';
import { SharedStorage } from './shared-storage.ts';
import { type Broken, type Invariant, Watch } from './watch.ts';

/** Effects and timers after which a history counts as endless. */
const MOST_STEPS = 30_000;
/** How long the gateway waits for the response to a callback, and between repetitions. */
const CALLBACK_TIMEOUT_MS = 10_000;
const CALLBACK_TRIES = 8;
/** Effects and timers within which a sweep finds lost timers, even during storage failures. */
const SWEPT_STEPS = 1_000;
/**
 * How long a job may stay open after all faults have stopped: a sweep finds lost timers every 10 minutes, a Retry-After holds for 10, and
 * the slowest work expires after 10 for its lyrics and 30 for its song.
 */
const ENDS_WITHIN_MS = 60 * 60_000;
/** How long `docker stop` waits. */
const STOPPING_MS = 10_000;

const OBSERVER: Process = { name: 'observer', state: 'dead', skewMs: 0 };

export interface Played {
  readonly broken: readonly Broken[];
  readonly trace: readonly string[];
  readonly steps: number;
}

/** Plays histories one after the other. */
export class Simulator {
  readonly #database = new ReusedDatabase();

  /** `plant` adds a deliberate bug. `only` is the promise to check; all by default. */
  async play(history: History, plant: Plant = {}, only?: Invariant): Promise<Played> {
    this.#database.empty();
    return play(history, { plant, only, database: this.#database });
  }

  close(): void {
    this.#database.close();
  }
}

interface Playing {
  readonly plant: Plant;
  readonly only: Invariant | undefined;
  readonly database: ReusedDatabase;
}

async function play(given: History, { plant, only, database }: Playing): Promise<Played> {
  // Calmed when all faults stop.
  const history = { ...given };
  const kernel = new Kernel(history.seed);
  const isSqlite = history.store === 'sqlite';
  const shared = new SharedStorage(database, () => kernel.now);
  const watch = new Watch(kernel, isSqlite ? undefined : (job) => shared.jobs.holderOf(job), only);
  const chat = new SimulatedChat(kernel, history, watch);
  const gateway = new SimulatedGateway(kernel, history, watch, (callback) =>
    callBack(callback, CALLBACK_TRIES),
  );
  const environment = {
    kernel,
    gateway,
    chat,
    media: new SimulatedMedia(kernel, history),
    local: isSqlite,
    interference: new Interference(kernel, history, watch),
    dailyLimit: history.dailyLimit,
    plant,
  };
  const replicas: Replica[] = [];
  // Only one process can use an SQLite file.
  const size = isSqlite ? 1 : history.replicas;
  let incarnations = 0;
  let isCalm = false;
  let endsAt = Number.POSITIVE_INFINITY;
  /** Replicas that are dead or suspended, and how they return. */
  const absent = new Map<number, () => void>();

  function open(process: Process): Storage {
    const tools = { clock: kernel.clockOf(process), random: kernel.random, log: new RecordingLog() };
    return isSqlite ? sqliteStorage(database, tools) : shared.of(process, tools);
  }

  async function boot(index: number): Promise<void> {
    incarnations += 1;
    const name = `${'abc'[index]}${incarnations}`;
    const skewMs = Math.round((kernel.random() - 0.5) * MOST_SKEW_MS);
    const process: Process = { name, state: 'alive', skewMs: isSqlite ? 0 : skewMs };
    kernel.tell(name, 'starts');
    const replica = startReplica(process, watch.over(open(process)), environment);
    replicas[index] = replica;
    await replica.jobs.run((invocation) => people.invoke(invocation, replica));
  }

  /** Restarts it until storage is available. */
  function bootWithRetries(index: number): void {
    boot(index).catch(() => kernel.after(1_000, () => bootWithRetries(index)));
  }

  /** Lets a replica return after a time, or when all faults stop. */
  function scheduleReturn(index: number, milliseconds: number, resume: () => void): void {
    const back = () => {
      cancel();
      if (absent.get(index) === back) absent.delete(index);
      resume();
    };
    const cancel = kernel.after(isCalm ? 0 : milliseconds, back);
    absent.set(index, back);
  }

  /** Stops all faults, requests and presses. */
  function calm(): void {
    kernel.tell('world', 'stops all faults');
    isCalm = true;
    endsAt = kernel.now + ENDS_WITHIN_MS;
    faults.length = 0;
    kernel.calm();
    Object.assign(history, CALM);
    for (const resume of absent.values()) resume();
  }

  function applyFault({ type: kind, replica: target, forMs }: Fault): void {
    if (kind === 'lose timers') {
      kernel.tell('storage', 'loses the timers of open jobs');
      (isSqlite ? database : shared).loseTimers();
      return;
    }
    const index = target % size;
    const replica = replicas[index];
    if (replica?.process.state !== 'alive') return;
    const { process, jobs } = replica;
    kernel.tell(process.name, kind === 'stop' ? 'is asked to stop' : `${kind}s for ${forMs / 1_000} s`);
    const end = () => {
      if (process.state === 'dead') return;
      kernel.die(process);
      scheduleReturn(index, forMs, () => bootWithRetries(index));
    };
    switch (kind) {
      case 'die':
        end();
        return;
      case 'freeze':
        kernel.freeze(process);
        scheduleReturn(index, forMs, () => {
          if (process.state === 'dead') return;
          kernel.tell(process.name, 'continues');
          process.state = 'alive';
        });
        return;
      case 'stop':
        void jobs.stop();
        kernel.after(STOPPING_MS, end);
        return;
      default:
        kind satisfies never;
    }
  }

  function anyone(): Replica | undefined {
    const alive = replicas.filter(({ process }) => process.state === 'alive');
    return alive[Math.floor(kernel.random() * alive.length)];
  }

  /** The gateway's HTTP client: repeats a callback until the response is 200. */
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
      // The response takes time, too.
      void kernel.effect(replica.process, `answers the callback: ${stored}`, async () => {
        if (stored !== 'stored') return repeat();
        answered = true;
        await watch.answer(callback, observed);
      });
    }, repeat);
  }

  const observed = open(OBSERVER);
  const faults = [...history.faults];
  const people = new People({ kernel, watch, anyone, observed, isOver: () => isCalm });
  for (let index = 0; index < size; index += 1) bootWithRetries(index);
  let requested = 0;
  let at = 0;
  for (const [index, request] of history.requests.entries()) {
    at += request.afterMs;
    const isLast = index === history.requests.length - 1;
    const presses = history.presses.filter(
      (press) => press.request === index || (isLast && press.request > index),
    );
    kernel.after(at, () => {
      requested += 1;
      if (!isCalm) people.ask(request, index, presses);
    });
  }
  let nextFault = faults[0]?.afterSteps ?? Number.POSITIVE_INFINITY;
  let steps = 0;
  let quietSince: number | undefined;
  async function isAtRest(): Promise<boolean> {
    const scheduled = isSqlite ? database.scheduled : shared.jobs.size;
    if (requested < history.requests.length || kernel.isBusyOutside || scheduled > 0) {
      quietSince = undefined;
      return false;
    }
    quietSince ??= steps;
    if (kernel.isBusy) return false;
    if (steps - quietSince > SWEPT_STEPS) return true;
    return (await openJobs()).length === 0;
  }
  async function openJobs() {
    const ids = await Array.fromAsync(observed.jobs.open());
    return Promise.all(ids.map((id) => observed.jobs.read(id)));
  }
  while (watch.broken.length === 0 && !(await isAtRest())) {
    if (steps >= nextFault) {
      const fault = faults.shift();
      if (fault) applyFault(fault);
      quietSince = undefined;
      nextFault = steps + (faults[0]?.afterSteps ?? Number.POSITIVE_INFINITY);
    }
    if (steps === history.calmAfterSteps) {
      calm();
      await settled();
    }
    if (!kernel.step()) break;
    await settled();
    steps += 1;
    if (kernel.now > endsAt) {
      endsAt = Number.POSITIVE_INFINITY;
      for (const job of await openJobs())
        watch.report(
          'ends in time',
          `${job?.title} is still ${job?.state} long after all faults have stopped`,
        );
    }
    if (steps > MOST_STEPS) watch.report('nothing is forgotten', 'the history never comes to rest');
  }
  if (watch.broken.length === 0) {
    await checkAtRest({ watch, gateway, chat, storage: observed });
    for (const { invariant, detail } of audit(watch.ledger, database.records))
      watch.report(invariant, detail);
  }
  for (const { process } of replicas) kernel.die(process);
  await settled();
  return { broken: watch.broken, trace: kernel.trace, steps };
}

/** Lets everything continue that does not wait for an effect or for time. SQLite commits in the next rounds of the event loop. */
async function settled(): Promise<void> {
  for (let round = 0; round < 4; round += 1) await new Promise((resolve) => setImmediate(resolve));
}
