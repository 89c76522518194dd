/** The jobs room's door: start work, take callbacks, cancel, and keep everything moving. */
import type { Address, Invocation, Outcome, StartRequest } from '../command.ts';
import { UserError } from '../errors.ts';
import type { MediaKind } from '../media/kinds.ts';
import type { KeptFile, MediaSource } from '../message.ts';
import { StorageError } from '../storage/storage.ts';
import type { JobView } from '../work.ts';
import { advance } from './advance.ts';
import type { JobDependencies } from './dependencies.ts';
import { isOpen, type Job } from './job.ts';
import { madeFile } from './made-file.ts';
import { withRates } from './rates.ts';
import { isUnreadableRecord, mutate, viewOf } from './record.ts';
import { sweepRegularly } from './sweep.ts';

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
  /** A file of a job's result: as it is kept, or fetched anew. Throws UserError when it is nowhere. */
  file(id: string, source: MediaSource, kinds: readonly MediaKind[]): Promise<KeptFile>;
  /** Asks an open job to end; false if it has ended. */
  cancel(id: string, person: string): Promise<boolean>;
  /** Delivers what was finished although it had been cancelled; false if there is nothing to show. */
  reveal(id: string): Promise<boolean>;
  /** The newest results of a person that could be shown nowhere. */
  unplaced(where: Address, person: string, limit: number): Promise<JobView[]>;
  /** Moves what could be shown nowhere to another address; undefined if it was shown, or is not this person's. */
  showAt(id: string, address: Address, person: string): Promise<Outcome | undefined>;
  /** Begins to advance jobs, and to look now and then for those whose timer was lost. */
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
  const paced = withRates(d);
  const unreadable = new Set<string>();
  const stopping = new AbortController();
  let sweeping: Promise<void> | undefined;

  async function look(id: string, signal: AbortSignal): Promise<number | undefined> {
    try {
      return await advance(id, signal, paced);
    } catch (error) {
      if (!isUnreadableRecord(error)) throw error;
      // No number of looks would help, until another version runs.
      unreadable.add(id);
      d.log.error({ job: id, err: error }, 'A job is left alone because its record cannot be read');
      return undefined;
    }
  }

  return {
    async start(
      { work, title, parent, madeFrom, command },
      { id: event, command: invoked, address, person },
    ) {
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
        ...(madeFrom === undefined ? {} : { madeFrom }),
        kept: {},
        attempts: 0,
        polls: 0,
        inboxRead: 0,
        createdAt: d.now(),
      };
      try {
        const { known } = await d.meter.reserve(job);
        // First, so that a job that is stored has a wish; of a job that is not, nothing comes.
        await storage.wakeUps.wake(job.id, d.now() + BEGIN_BY_ITSELF_MS);
        if (!(await storage.jobs.create(job))) {
          if (!known) await d.meter.giveBack(job);
          return { type: 'accepted', job: job.id, begin: () => undefined };
        }
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        d.log.error({ err: error }, 'Work was declined because it could not be stored');
        await d.meter.giveBack(job).catch(() => undefined);
        throw new UserError(
          'I cannot take work right now, because I could not keep track of it. If nothing comes of this within a minute, please ask again.',
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

    file: (id, source, kinds) => madeFile(id, source, kinds, d),

    async cancel(id, person) {
      const job = await mutate(storage, id, (current) =>
        isOpen(current) && current.state !== 'ready' ? { ...current, cancelRequestedBy: person } : current,
      );
      if (job?.cancelRequestedBy === undefined || !isOpen(job)) return false;
      // Whoever writes an answer right now, here or elsewhere, is not woken: it runs.
      await storage.notices.tell(id).catch((error: unknown) => {
        d.log.info({ job: id, err: error }, 'A wish to stop was not announced; it is found in the record');
      });
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

    async unplaced({ platform }, person, limit) {
      return (await storage.jobs.unplaced(platform, person, limit)).map(viewOf);
    },

    async showAt(id, address, person) {
      let moved = false;
      await mutate(storage, id, (current) => {
        moved = current.unplaced === true && current.person.id === person;
        if (!moved) return current;
        const { unplaced: _, posted: _posted, shown: _shown, ...rest } = current;
        return { ...rest, address, state: 'ready', attempts: 0 };
      });
      if (!moved) return undefined;
      await storage.wakeUps.wake(id, d.now() + BEGIN_BY_ITSELF_MS);
      return { type: 'accepted', job: id, begin: () => wakeNow(id) };
    },

    async run() {
      await storage.wakeUps.start(look, { concurrency: CONCURRENCY });
      sweeping = sweepRegularly({ isUnreadable: (id) => unreadable.has(id) }, stopping.signal, d);
    },

    async stop() {
      stopping.abort();
      await Promise.all([storage.wakeUps.stop(), sweeping]);
    },
  };
}
