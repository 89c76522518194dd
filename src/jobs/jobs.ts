/** The jobs room's door: start work, take callbacks, cancel, and keep everything moving. */
import type { Address, Invocation, Outcome, StartRequest } from '../command.ts';
import { UserError } from '../errors.ts';
import { StorageError } from '../storage/storage.ts';
import type { JobView } from '../work.ts';
import { advance } from './advance.ts';
import type { JobDependencies } from './dependencies.ts';
import { isOpen, type Job } from './job.ts';
import { mutate, viewOf } from './record.ts';

/** A job that its platform never begins (the process died in between) begins by itself after this long. */
const BEGIN_BY_ITSELF_MS = 10_000;
/** How many jobs one replica advances at a time; streams count while they run. */
const CONCURRENCY = 64;

export interface Jobs {
  /** Stores the work before anything is spent. The same invocation twice makes one job. Throws StorageError. */
  start(request: StartRequest, invocation: Invocation): Promise<Outcome>;
  /** Keeps a callback's body, durably, and wakes its job. Throws StorageError. */
  receive(id: string, body: string): Promise<'stored' | 'unknown-job' | 'full'>;
  find(id: string): Promise<JobView | undefined>;
  running(where: Address, person: string): Promise<JobView[]>;
  recentSongs(where: Address, limit: number): Promise<JobView[]>;
  /** Asks an open job to end; false if it has ended. */
  cancel(id: string, person: string): Promise<boolean>;
  /** Delivers what was finished although it had been cancelled; false if there is nothing to show. */
  reveal(id: string): Promise<boolean>;
  /** Begins to advance jobs; wakes every open one, in case its timer was lost. */
  run(): Promise<void>;
  /** Hands running work over and resolves when nothing runs here. */
  stop(): Promise<void>;
}

export function createJobs(d: JobDependencies): Jobs {
  const { storage } = d;
  const wakeNow = (id: string): void => {
    storage.wakeUps.wake(id, d.now()).catch((error: unknown) => {
      d.log.error({ job: id, err: error }, 'A job could not be woken; it is looked at again later');
    });
  };
  return {
    async start({ work, title, parent, command }, { id: event, command: invoked, address, person }) {
      const job: Job = {
        id: d.newId(),
        version: 1,
        state: 'accepted',
        command: command ?? invoked,
        title,
        address,
        person: { ...person, roles: [...person.roles] },
        invocation: `${address.platform}:${event}`,
        work,
        ...(parent === undefined ? {} : { parent }),
        kept: {},
        attempts: 0,
        polls: 0,
        inboxRead: 0,
        createdAt: d.now(),
      };
      try {
        if (!(await storage.jobs.create(job)))
          return { type: 'accepted', job: job.id, begin: () => undefined };
        await storage.wakeUps.wake(job.id, d.now() + BEGIN_BY_ITSELF_MS);
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        d.log.error({ err: error }, 'Work was declined because it could not be stored');
        throw new UserError(
          'I cannot take work right now, because I could not keep track of it. Please try again soon.',
        );
      }
      return { type: 'accepted', job: job.id, begin: () => wakeNow(job.id) };
    },

    async receive(id, body) {
      if (!(await storage.jobs.read(id))) return 'unknown-job';
      const stored = await storage.inbox.put(id, body, d.now());
      if (!stored) return 'full';
      await storage.wakeUps.wake(id, d.now());
      return 'stored';
    },

    async find(id) {
      const job = await storage.jobs.read(id);
      return job && viewOf(job);
    },

    async running(where, person) {
      return (await storage.jobs.running(where, person)).map(viewOf);
    },

    async recentSongs(where, limit) {
      return (await storage.jobs.recentSongs(where, limit)).map(viewOf);
    },

    async cancel(id, person) {
      const job = await mutate(storage, id, (current) =>
        isOpen(current) && current.state !== 'ready' ? { ...current, cancelRequestedBy: person } : current,
      );
      if (job?.cancelRequestedBy === undefined || !isOpen(job)) return false;
      await storage.wakeUps.wake(id, d.now());
      return true;
    },

    async reveal(id) {
      const job = await mutate(storage, id, (current) =>
        current.state === 'cancelled' && current.result
          ? { ...current, state: 'ready', end: 'delivered', attempts: 0 }
          : current,
      );
      if (job?.state !== 'ready') return false;
      await storage.wakeUps.wake(id, d.now());
      return true;
    },

    async run() {
      await storage.wakeUps.start((id, signal) => advance(id, signal, d), { concurrency: CONCURRENCY });
      for await (const id of storage.jobs.open()) await storage.wakeUps.wake(id, d.now());
    },

    stop: () => storage.wakeUps.stop(),
  };
}
