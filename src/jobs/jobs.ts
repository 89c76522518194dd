/** The port of jobs: start work, take callbacks, cancel, and keep everything moving. */

import type { StartRequest } from '../core/bot/context.ts';
import type { Outcome } from '../core/bot/outcome.ts';
import { UserError } from '../core/errors.ts';
import type { Address, Invocation } from '../core/invocation.ts';
import { invocationKey, isOpen, type JobView } from '../core/job.ts';
import type { KeptFile, MediaSource } from '../core/message.ts';
import { present } from '../core/util/present.ts';
import type { ContentKind } from '../media/content/types.ts';
import type { Decisions } from '../settings/decisions.ts';
import { isUnreadableRecord } from '../storage/job-record.ts';
import type { RunLease } from '../storage/schedule.ts';
import { type Received, StorageError } from '../storage/storage.ts';
import type { JobDependencies } from './dependencies.ts';
import { createFindExisting } from './existing.ts';
import { type Advance, createAdvance } from './runner/advance.ts';
import { applyEvent, JobRun } from './runner/run.ts';
import { createSharedParts } from './runner/steps.ts';
import { sweepRegularly } from './runner/sweep.ts';
import { NOT_ACKNOWLEDGED_SENTENCE } from './sentences.ts';
import { acceptedJob } from './transitions.ts';

/** Longer than platforms take to acknowledge or to fail at it: then a job that nobody begins or declines begins by itself. */
const BEGINS_BY_ITSELF_MS = 10_000;
/** How many jobs one replica advances at a time; streams count while they run. */
const CONCURRENCY = 64;

export interface Jobs {
  /** Stores the work before anything is spent. The same invocation twice makes one job. Throws StorageError. */
  start(request: StartRequest, invocation: Invocation, settings: Decisions): Promise<Outcome>;
  /** Keeps a callback's body, durably, and wakes its job. Throws StorageError. */
  receive(id: string, body: string): Promise<Received>;
  find(id: string): Promise<JobView | undefined>;
  /**
   * A file of a job's result: as it is kept, or fetched anew. Throws UserError when it is
   * nowhere, or the signal's reason.
   */
  file(
    id: string,
    source: MediaSource,
    kinds: readonly ContentKind[],
    signal?: AbortSignal,
  ): Promise<KeptFile>;
  /** Keeps the sound of a song for voice channels with its job, so that both are erased together. Throws StorageError. */
  rememberOpus(id: string, url: string, opus: KeptFile): Promise<void>;
  /** Asks an open job to end; false if it has ended. */
  cancel(id: string, person: string): Promise<boolean>;
  /** Delivers what was finished although it had been cancelled; false if there is nothing to show. */
  reveal(id: string): Promise<boolean>;
  /** Takes the page of a song away, or gives it back. */
  setPage(id: string, withdrawn: boolean): Promise<void>;
  /** Moves what could be shown nowhere to another address; undefined if it was shown, or is not this person's. */
  showAt(id: string, address: Address, person: string): Promise<Outcome | undefined>;
  /** Begins to advance jobs, which use commands by `invoke`, and to find those whose timer was lost. */
  run(invoke: JobDependencies['invoke']): Promise<void>;
  /** Hands running work over and resolves when nothing runs here. */
  stop(): Promise<void>;
}

export function createJobs(deps: Omit<JobDependencies, 'invoke'>): Jobs {
  const { storage, meter, tracer, measure, newId, log, now } = deps;
  const parts = createSharedParts(deps);
  const findExisting = createFindExisting({ ...deps, ...parts.source });
  const wakeNow = (id: string): void => {
    storage.schedule.wake(id).catch((error: unknown) => {
      log.error({ job: id, err: error }, 'Could not wake a job; its timer will');
    });
  };
  /** Only a job that has not begun is declined, so that nothing was spent. */
  const decline = async (id: string): Promise<void> => {
    const run = await JobRun.load(id, storage);
    if (run?.job.state !== 'accepted') return;
    const failure = { code: 'not-acknowledged', sentence: NOT_ACKNOWLEDGED_SENTENCE, reference: newId() };
    run.fail({ ...failure, taken: 'no' });
    await run.save();
    wakeNow(id);
  };
  const unreadable = new Set<string>();
  const stopping = new AbortController();
  let sweeping: Promise<void> | undefined;

  const leavingUnreadable =
    (advance: Advance) => async (id: string, signal: AbortSignal, lease: RunLease) => {
      try {
        return await advance(id, { signal, ...lease });
      } catch (error) {
        if (error instanceof StorageError && error.code === 'lease')
          measure('minstrel_leases_lost_total', {});
        if (!isUnreadableRecord(error)) throw error;
        // Trying again does not help until another version runs.
        unreadable.add(id);
        log.error({ job: id, err: error }, 'Job skipped: its record cannot be read');
        return undefined;
      }
    };

  /** Nothing is begun that could not be stored. */
  async function orDecline<Value>(storing: () => Promise<Value>): Promise<Value> {
    try {
      return await storing();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      log.error({ err: error }, 'Request declined: it could not be stored');
      throw new UserError(
        "I can't start anything right now because my storage is down. If nothing appears within a minute, try again.",
      );
    }
  }

  const jobs: Jobs = {
    async start(request, invocation, settings) {
      const { work, title, parent, madeFrom, asked, command } = request;
      const { id: event, command: invoked, address, person } = invocation;
      const caused = invocationKey(address.platform, event);
      const made =
        parent === undefined ? undefined : await orDecline(() => findExisting({ work, parent }, caused));
      if (made && 'message' in made) return { type: 'message', visibility: 'person', message: made.message };
      const traceparent = tracer?.traceparent();
      const job = acceptedJob({
        id: made?.id ?? newId(),
        command: command ?? invoked,
        title,
        address,
        person: { ...person, roles: [...person.roles] },
        invocation: caused,
        work,
        ...present({ parent, madeFrom, asked, traceparent }),
        createdAt: now(),
      });
      const { reservation, ceilings, refusal } = meter.claim(job, settings);
      const at = job.createdAt + BEGINS_BY_ITSELF_MS;
      const answer = await orDecline(() =>
        storage.accept({ job, reservation, ceilings, at, now: job.createdAt }),
      );
      switch (answer.type) {
        case 'accepted':
          return {
            type: 'accepted',
            job: job.id,
            begin: () => wakeNow(job.id),
            decline: () => decline(job.id),
          };
        case 'known': {
          const others = made && (await orDecline(() => storage.jobs.read(answer.job)));
          // Somebody else asked for it in this very moment.
          if (others && others.invocation !== caused) return jobs.start(request, invocation, settings);
          return { type: 'accepted', job: answer.job, begin: () => undefined };
        }
        case 'refused':
          throw refusal(answer);
        default:
          return answer satisfies never;
      }
    },

    receive: (job, body) => storage.receive({ job, body, receivedAt: now() }),

    async find(id) {
      const run = await JobRun.load(id, storage);
      // A result is shown before it is written: its buttons work at once.
      if (run) await parts.readCallbacks(run);
      return run?.job;
    },
    file: (id, source, kinds, signal) => parts.keep.readResultFile(id, source, { kinds, signal }),

    async rememberOpus(id, url, opus) {
      await applyEvent(id, { type: 'encoded', url, opus }, storage);
    },

    async cancel(id, person) {
      const job = await applyEvent(id, { type: 'cancelRequested', by: person }, storage);
      if (job?.cancelRequestedBy === undefined || !isOpen(job)) return false;
      // A replica that writes an answer right now is not woken: it runs.
      await storage.notifications.publish(id).catch((error: unknown) => {
        log.info(
          { job: id, err: error },
          'Could not notify other replicas of a cancellation; they will read it from the record',
        );
      });
      await storage.schedule.wake(id);
      return true;
    },

    async reveal(id) {
      const job = await applyEvent(id, { type: 'revealed' }, storage);
      if (job?.state !== 'ready') return false;
      await storage.schedule.wake(id);
      return true;
    },

    async setPage(id, withdrawn) {
      await applyEvent(id, { type: 'recorded', fields: { pageWithdrawn: withdrawn } }, storage);
    },

    async showAt(id, address, person) {
      const job = await applyEvent(id, { type: 'redirected', address, person }, storage);
      if (job?.address !== address) return undefined;
      await storage.schedule.add(id, now() + BEGINS_BY_ITSELF_MS);
      return { type: 'accepted', job: id, begin: () => wakeNow(id) };
    },

    async run(invoke) {
      const advance = createAdvance({ ...deps, ...parts, invoke });
      await storage.schedule.start(leavingUnreadable(advance), { concurrency: CONCURRENCY });
      const isUnreadable = (id: string) => unreadable.has(id);
      sweeping = sweepRegularly({ ...deps, ...parts, isUnreadable }, stopping.signal);
    },

    async stop() {
      stopping.abort();
      await Promise.all([storage.schedule.stop(), sweeping]);
    },
  };
  return jobs;
}
