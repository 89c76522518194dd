/** Storage in memory that several replicas share. It keeps the storage contract, so that the engine cannot tell. */
import { isDeepStrictEqual } from 'node:util';
import { serverOf } from '../../src/core/invocation.ts';
import type { Job } from '../../src/core/job.ts';
import { alikeOf, jobFacts } from '../../src/storage/job-record.ts';
import { keyvSettings } from '../../src/storage/keyv-settings.ts';
import { checkTime } from '../../src/storage/schedule.ts';
import {
  type Accepted,
  type Callback,
  INBOX_OF_A_KIND,
  QUEUE_COUNTED,
  type Received,
  type Storage,
  StorageError,
} from '../../src/storage/storage.ts';
import type { Atomically, Queue } from './memory-data.ts';
import { type MemoryScheduleOptions, memorySchedule } from './memory-schedule.ts';

export function memoryStorage(options: MemoryScheduleOptions): Storage {
  const { data } = options;
  let closed = false;
  const open = () => {
    if (closed) throw new StorageError('unavailable', 'The storage is closed.');
  };
  /** Every operation is atomic: it does all of its work in one go. */
  const atomically: Atomically = async (operation) => {
    open();
    return operation();
  };
  const schedule = memorySchedule(options, atomically);
  const subscriptions: (() => void)[] = [];

  function insert(job: Job): boolean {
    if (data.records.has(job.id) || data.invocations.has(job.invocation)) return false;
    data.records.set(job.id, JSON.stringify(job));
    data.invocations.set(job.invocation, job.id);
    return true;
  }
  function put({ job, body, receivedAt, kind }: Callback): void {
    const entries = data.inboxes.get(job) ?? [];
    if (entries.some((entry) => entry.body === body)) return;
    const sequence = (entries.at(-1)?.sequence ?? 0) + 1;
    const all = [...entries, { sequence, receivedAt, body, kind }];
    const same = kind === undefined ? [] : all.filter((entry) => entry.kind === kind);
    const displaced = same.slice(0, -INBOX_OF_A_KIND);
    data.inboxes.set(
      job,
      all.filter((entry) => !displaced.includes(entry)),
    );
  }
  const select = (matches: (job: Job) => boolean) => data.jobs().filter(matches);
  const newestFirst = (one: Job, other: Job) =>
    other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1);
  const inChannel = ({ address }: Job, { platform, channel = address.channel }: Where) =>
    address.platform === platform && address.channel === channel;

  return {
    accept: async ({ job, reservation, ceilings, at, now }) => {
      checkTime(at);
      return atomically((): Accepted => {
        const known = data.invocations.get(job.invocation) ?? (data.records.has(job.id) ? job.id : undefined);
        if (known !== undefined) return { type: 'known', job: known };
        const refusal = data.usage.reserveNow(reservation, ceilings, now);
        if (refusal) return refusal;
        insert(job);
        data.wake(job.id, at);
        return { type: 'accepted' };
      });
    },
    receive: async (callback) => {
      checkTime(callback.receivedAt);
      return atomically((): Received => {
        if (!data.records.has(callback.job)) return 'unknown-job';
        put(callback);
        data.wake(callback.job, callback.receivedAt);
        return 'stored';
      });
    },
    jobs: {
      create: (job) => atomically(() => insert(job)),
      read: (id) => atomically(() => data.job(id)),
      ofInvocation: (invocation) => atomically(() => select((job) => job.invocation === invocation)[0]),
      replace: (job) =>
        atomically(() => {
          if (data.job(job.id)?.version !== job.version) return undefined;
          const text = JSON.stringify({ ...job, version: job.version + 1 });
          data.records.set(job.id, text);
          return JSON.parse(text) as Job;
        }),
      running: (where, person) =>
        atomically(() =>
          select((job) => jobFacts(job).open && inChannel(job, where) && job.person.id === person).sort(
            (one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1),
          ),
        ),
      recentSongs: (where, limit) =>
        atomically(() =>
          select((job) => jobFacts(job).hasSongs && inChannel(job, where))
            .sort(newestFirst)
            .slice(0, limit),
        ),
      recentServerSongs: ({ platform, guild }, limit) =>
        atomically(() =>
          select(
            (job) =>
              jobFacts(job).hasSongs && job.address.platform === platform && serverOf(job.address) === guild,
          )
            .sort(newestFirst)
            .slice(0, limit),
        ),
      async openCounts() {
        open();
        const jobs = select((one) => jobFacts(one).open);
        const groups = Map.groupBy(jobs, ({ work, state }) => `${work.route} ${state}`);
        return [...groups.values()].flatMap(([first, ...others]) =>
          first === undefined
            ? []
            : [
                {
                  route: first.work.route,
                  state: first.state,
                  count: 1 + others.length,
                  queued: [first, ...others].filter(({ queuePosition }) => queuePosition !== undefined)
                    .length,
                  oldestAt: Math.min(...[first, ...others].map(({ createdAt }) => createdAt)),
                },
              ],
        );
      },
      async *open() {
        open();
        for (const job of select((one) => jobFacts(one).open)) yield job.id;
      },
      undelivered: (platform, person, limit) =>
        atomically(() =>
          select(
            (job) =>
              jobFacts(job).undelivered && job.address.platform === platform && job.person.id === person,
          )
            .sort(newestFirst)
            .slice(0, limit),
        ),
      async *all() {
        open();
        yield* data.jobs();
      },
      async *ofPerson(platform, person) {
        open();
        yield* select((job) => job.address.platform === platform && job.person.id === person);
      },
      async *endedBefore(at) {
        open();
        yield* select((job) => !jobFacts(job).open && (job.finishedAt ?? job.createdAt) < at);
      },
      async *records() {
        open();
        for (const [id, record] of data.records) yield { id, record };
      },
      erase: (id, version) =>
        atomically(() => {
          const job = data.job(id);
          if (version !== undefined && job?.version !== version) return false;
          if (job) data.invocations.delete(job.invocation);
          data.records.delete(id);
          data.inboxes.delete(id);
          data.schedule.delete(id);
          for (const queue of data.queues.values()) leave(queue, id);
          return true;
        }),
      recentDurations: (alike, limit) =>
        atomically(() =>
          select((job) => isDeepStrictEqual(alikeOf(job.work), alike) && jobFacts(job).duration !== undefined)
            .sort((one, other) => (other.finishedAt ?? 0) - (one.finishedAt ?? 0))
            .slice(0, limit)
            .flatMap((job) => jobFacts(job).duration ?? []),
        ),
    },
    inbox: {
      put: (job, body, receivedAt) => atomically(() => put({ job, body, receivedAt })),
      read: (job, sequence) =>
        atomically(() =>
          (data.inboxes.get(job) ?? [])
            .filter((entry) => entry.sequence > sequence)
            .map(({ kind: _, ...entry }) => entry),
        ),
    },
    schedule,
    notifications: {
      publish: (job) => atomically(() => void data.notifications.emit(job)),
      subscribe: (job, listener) => {
        data.notifications.on(job, listener);
        const stop = () => void data.notifications.off(job, listener);
        subscriptions.push(stop);
        return stop;
      },
    },
    settings: keyvSettings(data.settings, data.settings, 'settings', (operation) => {
      open();
      return operation();
    }),
    semaphores: {
      acquire: (name, job, limit) =>
        atomically(() => {
          const queue = data.queues.get(name) ?? { held: new Set(), waiting: [] };
          data.queues.set(name, queue);
          if (queue.held.has(job)) return 0;
          if (!queue.waiting.includes(job)) queue.waiting.push(job);
          const free = Math.max(limit - queue.held.size, 0);
          const before = queue.waiting.indexOf(job);
          if (before >= free) return Math.min(before - free + 1, QUEUE_COUNTED);
          leave(queue, job);
          queue.held.add(job);
          return 0;
        }),
      release: (name, job, limit) =>
        atomically(() => {
          const queue = data.queues.get(name);
          if (!queue) return [];
          leave(queue, job);
          return queue.waiting.slice(0, Math.max(limit - queue.held.size, 0));
        }),
      holdersAndNext: (name, limit) =>
        atomically(() => {
          const queue = data.queues.get(name);
          return queue ? [...queue.held, ...queue.waiting.slice(0, limit)] : [];
        }),
    },
    leases: data.leases,
    usage: data.usage,
    secret: (name, make) =>
      atomically(() => {
        const secret = data.secrets.get(name) ?? make();
        data.secrets.set(name, secret);
        return secret;
      }),
    secrets: () => atomically(() => [...data.secrets]),
    scrub: () => atomically(() => undefined),
    check: () => atomically(() => undefined),
    close: async () => {
      await schedule.stop();
      for (const stop of subscriptions.splice(0)) stop();
      closed = true;
    },
  };
}

interface Where {
  readonly platform: string;
  readonly channel?: string;
}

function leave(queue: Queue, job: string): void {
  queue.held.delete(job);
  const index = queue.waiting.indexOf(job);
  if (index >= 0) queue.waiting.splice(index, 1);
}
