/** The public interface of jobs: starts and cancels them, receives callbacks, and runs the scheduler. */

import type { Outcome } from '../core/bot/outcome.ts';
import type { StartRequest } from '../core/bot/start-request.ts';
import { UserError } from '../core/errors.ts';
import type { Address, Invocation } from '../core/invocation.ts';
import { invocationKey, isOpen, type JobView } from '../core/job.ts';
import type { MediaFile, MediaSource } from '../core/message.ts';
import { present } from '../core/util/present.ts';
import type { ContentKind } from '../media/content/types.ts';
import type { Decisions } from '../settings/decisions.ts';
import { isUnreadableRecord } from '../storage/job-record.ts';
import type { RunLease, WakeHandler } from '../storage/schedule.ts';
import { type Received, StorageError } from '../storage/storage.ts';
import type { JobDependencies } from './dependencies.ts';
import { createFindExisting } from './existing.ts';
import { type Advance, createAdvance } from './runner/advance.ts';
import { applyEvent, JobRun } from './runner/run.ts';
import { createSharedParts } from './runner/steps.ts';
import { sweepRegularly } from './runner/sweep.ts';
import { NOT_ACKNOWLEDGED_SENTENCE } from './sentences.ts';
import { acceptedJob } from './transitions.ts';

/** A job begins automatically after this, if its platform neither begins nor declines it. Longer than any acknowledgement takes. */
const AUTO_BEGIN_MS = 10_000;
/** Limit of jobs that a replica runs at the same time, streams included. */
const CONCURRENCY = 64;

/** Timers in the schedule that belong to no job. */
export interface OtherTimers {
  owns(timer: string): boolean;
  readonly run: WakeHandler;
}

/** Work of a contest. */
export interface EntryRequest extends StartRequest, Pick<JobView, 'id' | 'contest' | 'hidden'> {}

export interface Jobs {
  /** Stores the work before anything is spent. A repeated invocation creates only one job. Throws UserError. */
  start(request: StartRequest | EntryRequest, invocation: Invocation, settings: Decisions): Promise<Outcome>;
  /** Stores the body of a callback and wakes its job. Throws StorageError. */
  receive(id: string, body: string): Promise<Received>;
  find(id: string): Promise<JobView | undefined>;
  /** Returns a file of a result: the stored one, or fetched again. Throws UserError if it no longer exists, and the signal's reason. */
  file(
    id: string,
    source: MediaSource,
    kinds: readonly ContentKind[],
    signal?: AbortSignal,
  ): Promise<MediaFile>;
  /** Records a song's encoding for voice channels in its job, so that both are erased together. Throws StorageError. */
  rememberOpus(id: string, url: string, opus: MediaFile): Promise<void>;
  /** Requests cancellation of a job; false if it has ended. */
  cancel(id: string, person: string): Promise<boolean>;
  /** Delivers a result that was finished despite its cancellation; false without a result. */
  reveal(id: string): Promise<boolean>;
  /** Removes or restores the page of a song. */
  setPage(id: string, withdrawn: boolean): Promise<void>;
  /** Lets others see a song that was hidden for a contest. */
  unhide(id: string): Promise<void>;
  /** Delivers an undelivered result at another address; undefined if it was delivered meanwhile or belongs to someone else. */
  showAt(id: string, address: Address, person: string): Promise<Outcome | undefined>;
  /** Starts running jobs, other timers, and the sweep for lost timers. Jobs run commands with `invoke`. */
  run(invoke: JobDependencies['invoke'], otherTimers?: OtherTimers): Promise<void>;
  /** Stops running jobs. Resolves when nothing runs here; the next start or another replica continues. */
  stop(): Promise<void>;
}

export function createJobs(deps: Omit<JobDependencies, 'invoke'>): Jobs {
  const { storage, meter, tracer, measure, newId, log, now } = deps;
  const parts = createSharedParts(deps);
  const findExisting = createFindExisting({ ...deps, ...parts.source });
  const wakeNow = (id: string): void => {
    storage.schedule.wake(id).catch((error: unknown) => {
      log.error({ job: id, err: error }, 'Could not wake a job; its timer will wake it');
    });
  };
  /** Only declines a job that has not begun, so nothing was spent. */
  const decline = async (id: string): Promise<void> => {
    const run = await JobRun.load(id, deps);
    if (run?.job.state !== 'accepted') return;
    const failure = { code: 'not-acknowledged', sentence: NOT_ACKNOWLEDGED_SENTENCE, reference: newId() };
    run.fail({ ...failure, taken: 'no' });
    await run.save();
    wakeNow(id);
  };
  const unreadable = new Set<string>();
  const stopping = new AbortController();
  let sweeping: Promise<void> | undefined;

  const skipUnreadable = (advance: Advance) => async (id: string, signal: AbortSignal, lease: RunLease) => {
    try {
      return await advance(id, { signal, ...lease });
    } catch (error) {
      if (error instanceof StorageError && error.code === 'lease') measure('minstrel_leases_lost_total', {});
      if (!isUnreadableRecord(error)) throw error;
      // A retry only helps once another version of the bot runs.
      unreadable.add(id);
      log.error({ job: id, err: error }, 'Job skipped: its record cannot be read');
      return undefined;
    }
  };

  /** Turns a StorageError into a UserError: work that cannot be stored must not begin. */
  async function asUserErrors<Value>(operation: () => Promise<Value>): Promise<Value> {
    try {
      return await operation();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      log.error({ err: error }, 'Request declined: it could not be stored');
      throw new UserError(
        'My storage is down, so I may not be able to start this. If nothing appears within a minute, try again.',
      );
    }
  }

  const jobs: Jobs = {
    async start(request, invocation, settings) {
      const { work, title, parent, basedOn, options, command } = request;
      const { id: event, command: invoked, address, person } = invocation;
      const key = invocationKey(address.platform, event);
      const existing =
        parent === undefined ? undefined : await asUserErrors(() => findExisting({ work, parent }, key));
      if (existing && 'message' in existing)
        return { type: 'message', visibility: 'person', message: existing.message };
      const traceparent = tracer?.traceparent();
      const job = acceptedJob({
        ...('id' in request && present({ contest: request.contest, hidden: request.hidden })),
        id: existing?.id ?? ('id' in request ? request.id : newId()),
        command: command ?? invoked,
        title,
        address,
        person: { ...person, roles: [...person.roles] },
        invocation: key,
        work,
        ...present({ parent, basedOn, options, traceparent }),
        createdAt: now(),
      });
      const { reservation, ceilings, refusal } = meter.claim(job, settings);
      const at = job.createdAt + AUTO_BEGIN_MS;
      const answer = await asUserErrors(() =>
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
          const known = existing && (await asUserErrors(() => storage.jobs.read(answer.job)));
          // Another person requested the same work at the same moment.
          if (known && known.invocation !== key) return jobs.start(request, invocation, settings);
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
      const run = await JobRun.load(id, deps);
      // The buttons of a result must work before the record is written.
      if (run) await parts.readCallbacks(run);
      return run?.job;
    },
    file: (id, source, kinds, signal) => parts.keep.readResultFile(id, source, { kinds, signal }),

    async rememberOpus(id, url, opus) {
      await applyEvent(id, { type: 'encoded', url, opus }, deps);
    },

    async cancel(id, person) {
      const job = await applyEvent(id, { type: 'cancelRequested', by: person }, deps);
      if (job?.cancelRequestedBy === undefined || !isOpen(job)) return false;
      // Waking the job does not reach a replica that is already running it.
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
      const job = await applyEvent(id, { type: 'revealed' }, deps);
      if (job?.state !== 'ready') return false;
      await storage.schedule.wake(id);
      return true;
    },

    async setPage(id, withdrawn) {
      await applyEvent(id, { type: 'recorded', fields: { pageWithdrawn: withdrawn } }, deps);
    },

    async unhide(id) {
      await applyEvent(id, { type: 'recorded', fields: { hidden: false } }, deps);
    },

    async showAt(id, address, person) {
      const job = await applyEvent(id, { type: 'redirected', address, person }, deps);
      if (job?.address !== address) return undefined;
      await storage.schedule.add(id, now() + AUTO_BEGIN_MS);
      return { type: 'accepted', job: id, begin: () => wakeNow(id) };
    },

    async run(invoke, otherTimers) {
      const runJob = skipUnreadable(createAdvance({ ...deps, ...parts, invoke }));
      const handler: WakeHandler = (id, signal, lease) =>
        otherTimers?.owns(id) ? otherTimers.run(id, signal, lease) : runJob(id, signal, lease);
      await storage.schedule.start(handler, { concurrency: CONCURRENCY });
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
