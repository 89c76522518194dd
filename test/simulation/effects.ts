/** Every storage operation as an effect of one process. */
import { type Storage, StorageError } from '../../src/storage/storage.ts';
import type { History } from './history.ts';
import type { Kernel, Process } from './kernel.ts';
import type { Watch } from './watch.ts';

/** Fails storage operations as the history demands, counted over all replicas. */
export class Interference {
  readonly #kernel: Kernel;
  readonly #history: Pick<History, 'storage'>;
  readonly #watch: Watch;
  #operations = 0;

  constructor(kernel: Kernel, history: Pick<History, 'storage'>, watch: Watch) {
    this.#kernel = kernel;
    this.#history = history;
    this.#watch = watch;
  }

  /** Throws StorageError. `answer lost`: the operation was done anyway. */
  async around<Value>(operate: () => Promise<Value>): Promise<Value> {
    this.#operations += 1;
    const at = this.#operations;
    const trouble = this.#history.storage.find(({ after, times }) => at >= after && at < after + times);
    const reply = trouble?.reply;
    if (reply !== undefined) {
      this.#kernel.tell('storage', reply);
      this.#watch.forgetRefusals();
    }
    if (reply === 'away') throw new StorageError('unavailable', reply);
    const value = await operate();
    if (reply === 'answer lost') throw new StorageError('unavailable', reply);
    return value;
  }
}

export interface RemoteOptions {
  readonly kernel: Kernel;
  readonly interference: Interference;
  /** The storage is inside the process. */
  readonly local: boolean;
}

type Operation = (...values: never[]) => unknown;

export function remote(
  inner: Storage,
  process: Process,
  { kernel, interference, local }: RemoteOptions,
): Storage {
  function perform<Value>(label: string, operate: () => Promise<Value>): Promise<Value> {
    return kernel.effect(process, label, () => interference.around(operate), { local });
  }
  /** Returns the object with every function as an effect. */
  function effects<Port extends object>(port: Port, name: string): Port {
    const entries = Object.entries(port).map(([key, operation]: [string, unknown]) => [
      key,
      typeof operation === 'function'
        ? (...values: never[]) => perform(`${name}.${key}`, async () => (operation as Operation)(...values))
        : operation,
    ]);
    // Sound because the keys and types are the same: every function is asynchronous.
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
      add: (job, at) => perform('schedule.add', () => inner.schedule.add(job, at)),
      wake: (job) => perform('schedule.wake', () => inner.schedule.wake(job)),
      unscheduled: (jobs) => perform('schedule.unscheduled', () => inner.schedule.unscheduled(jobs)),
    },
    notifications: {
      publish: (job) => perform('notifications.publish', () => inner.notifications.publish(job)),
      subscribe: (job, listener) =>
        inner.notifications.subscribe(job, () => void kernel.after(0, listener, process)),
    },
    settings: {
      ...effects(inner.settings, 'settings'),
      keys: (start) => listed('settings.keys', () => inner.settings.keys(start)),
    },
    semaphores: effects(inner.semaphores, 'semaphores'),
    usage: effects(inner.usage, 'usage'),
  };
}
