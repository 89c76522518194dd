/** One replica: the real jobs, settings and limits on storage, gateway and chat whose every call is an effect. */
import { commands } from '../../commands/index.ts';
import type { JobDependencies } from '../../src/jobs/dependencies.ts';
import { createJobs, type Jobs } from '../../src/jobs/jobs.ts';
import { createMessageRate, createRateLimiter } from '../../src/jobs/rate-limiter.ts';
import { createDecisionStore, type DecisionStore } from '../../src/settings/decisions.ts';
import { createMeter, familyOf } from '../../src/settings/limits/limits.ts';
import { createVoices } from '../../src/settings/voices.ts';
import { type Storage, StorageError } from '../../src/storage/storage.ts';
import type { SimulatedChat } from './channel.ts';
import type { SimulatedGateway } from './gateway.ts';
import type { Kernel, Process } from './kernel.ts';

export interface Replica {
  readonly process: Process;
  readonly jobs: Jobs;
  readonly decisions: DecisionStore;
}

export interface Surroundings {
  readonly kernel: Kernel;
  readonly gateway: SimulatedGateway;
  readonly chat: SimulatedChat;
  /** Throws StorageError where the history says so; `after` when the operation was done all the same. */
  readonly interfere: (when: 'before' | 'after') => void;
}

export function startReplica(process: Process, inner: Storage, surroundings: Surroundings): Replica {
  const { kernel, gateway, chat } = surroundings;
  const clock = kernel.clockOf(process);
  const storage = remote(inner, process, surroundings);
  const { now } = clock;
  const sleep: JobDependencies['sleep'] = (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const cancel = clock.after(milliseconds, resolve);
      signal?.addEventListener('abort', () => {
        cancel();
        resolve();
      });
    });
  const platform = chat.platformOf(process);
  const kept = (name: string) => ({ name, bytes: 1_000, contentType: 'audio/mpeg' });
  let ids = 0;
  const newId = () => `${process.name.replace(/\W/g, '')}n${++ids}`;
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (fields: object, sentence: string) =>
      kernel.tell(process.name, `logs: ${sentence} ${'err' in fields ? String(fields.err) : ''}`),
  };
  const jobs = createJobs({
    storage,
    gateway: gateway.clientOf(process),
    media: {
      keep: (url) => kernel.effect(process, `keeps ${url}`, () => kept(url.split('/').at(-1) ?? 'file')),
      keepBytes: async () => kept('bytes.png'),
      keepText: async (_text, extension) => kept(`text.${extension}`),
      archive: async () => kept('archive.zip'),
      open: async () => undefined,
      stat: async (name) => kept(name),
      tag: async (file) => file,
    },
    voices: createVoices({ settings: storage.settings }),
    meter: createMeter({
      usage: storage.usage,
      ceilings: [],
      costs: {},
      now,
      listener: { settled: () => undefined, refused: () => undefined },
    }),
    platform: (name) => (name === platform.name ? platform : undefined),
    command: (name) => commands.find((command) => command.name === name),
    callbackUrl: (job) => `https://bot.example/callbacks/music/${job}/signature`,
    fileUrl: ({ name }) => `https://bot.example/files/${name}`,
    concurrency: { song: 2, image: 2, video: 2, ask: 2 },
    familyOf,
    mediaDefaults: { image: {}, video: {} },
    pollRate: createRateLimiter({ perSecond: 5, now }),
    messageRate: createMessageRate({ now, sleep }),
    now,
    sleep,
    random: kernel.random,
    newId,
    log,
  });
  const decisions = createDecisionStore({ store: storage.settings, now, newId });
  return { process, jobs, decisions };
}

type Operation = (...values: never[]) => unknown;

/** Every operation of the storage as an effect of the process. */
function remote(inner: Storage, process: Process, { kernel, interfere }: Surroundings): Storage {
  function perform<Value>(label: string, operate: () => Promise<Value>): Promise<Value> {
    return kernel.effect(process, label, async () => {
      interfere('before');
      const value = await operate();
      interfere('after');
      return value;
    });
  }
  /** The same object, with every function an effect. */
  function effects<Port extends object>(port: Port, name: string): Port {
    const entries = Object.entries(port).map(([key, operation]: [string, unknown]) => [
      key,
      typeof operation === 'function'
        ? (...values: never[]) => perform(`${name}.${key}`, async () => (operation as Operation)(...values))
        : operation,
    ]);
    // The same keys with functions of the same types: every one of them is asynchronous.
    return Object.fromEntries(entries) as Port;
  }
  const listed = async function* <Item>(label: string, list: () => AsyncIterable<Item>) {
    yield* await perform(label, () => Array.fromAsync(list()));
  };
  return {
    ...inner,
    accept: (acceptance) => perform('storage.accept', () => inner.accept(acceptance)),
    receive: (callback) => perform('storage.receive', () => inner.receive(callback)),
    jobs: {
      ...effects(inner.jobs, 'jobs'),
      open: () => listed('jobs.open', () => inner.jobs.open()),
      all: () => listed('jobs.all', () => inner.jobs.all()),
      ofPerson: (...who) => listed('jobs.ofPerson', () => inner.jobs.ofPerson(...who)),
      endedBefore: (at) => listed('jobs.endedBefore', () => inner.jobs.endedBefore(at)),
      records: () => listed('jobs.records', () => inner.jobs.records()),
    },
    inbox: effects(inner.inbox, 'inbox'),
    schedule: {
      ...inner.schedule,
      wake: (job, at) => perform('schedule.wake', () => inner.schedule.wake(job, at)),
      unscheduled: (jobs) => perform('schedule.unscheduled', () => inner.schedule.unscheduled(jobs)),
    },
    notifications: {
      publish: (job) => perform('notifications.publish', () => inner.notifications.publish(job)),
      subscribe: (job, listener) =>
        inner.notifications.subscribe(job, () => void kernel.after(0, listener, process)),
    },
    settings: effects(inner.settings, 'settings'),
    semaphores: effects(inner.semaphores, 'semaphores'),
    usage: effects(inner.usage, 'usage'),
  };
}

/** What a storage that is away throws. */
export function away(): StorageError {
  return new StorageError('unavailable', 'away');
}
