/** Deliberate bugs: each breaks promises, so that a test sees each check fail. */
import { GatewayError } from '../../src/gateway/transport/errors.ts';
import type { JobDependencies } from '../../src/jobs/dependencies.ts';
import type { Platform } from '../../src/platforms/platform.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { Invariant } from './watch.ts';

type Gateway = JobDependencies['gateway'];

/** Replaces a dependency of a replica. */
export interface Plant {
  readonly storage?: (storage: Storage) => Storage;
  readonly gateway?: (gateway: Gateway) => Gateway;
  readonly platform?: (platform: Platform) => Platform;
}

export const UNHARMED = <Port>(port: Port): Port => port;

/** The same gateway, with requests for songs, lyrics and images passed through `send`. */
const sending =
  (send: <Answer>(request: () => Promise<Answer>) => Promise<Answer>) =>
  (gateway: Gateway): Gateway => ({
    ...gateway,
    music: {
      ...gateway.music,
      generate: (...request) => send(() => gateway.music.generate(...request)),
      generateLyrics: (...request) => send(() => gateway.music.generateLyrics(...request)),
    },
    media: {
      ...gateway.media,
      createImage: (...request) => send(() => gateway.media.createImage(...request)),
    },
  });

/** The same storage, with job records changed on every write. */
const rewriting =
  (change: (job: Parameters<Storage['jobs']['replace']>[0]) => typeof job) =>
  (storage: Storage): Storage => ({
    ...storage,
    jobs: { ...storage.jobs, replace: (job) => storage.jobs.replace(change(job)) },
  });

const DAY_MS = 24 * 3_600_000;

interface Bug extends Plant {
  readonly fault: string;
  readonly breaks: readonly Invariant[];
}

export const PLANTS: readonly Bug[] = [
  {
    fault: 'an invocation is acknowledged before its job is stored',
    breaks: ['nothing is forgotten'],
    storage: (storage) => ({ ...storage, accept: async () => ({ type: 'accepted' }) }),
  },
  {
    fault: 'no run is scheduled again, and lost timers are not searched for',
    breaks: ['nothing is forgotten', 'never ended', 'ends in time'],
    storage: (storage) => ({
      ...storage,
      schedule: {
        ...storage.schedule,
        unscheduled: async () => [],
        start: (handler, options) =>
          storage.schedule.start(async (...run) => {
            await handler(...run);
            return undefined;
          }, options),
      },
    }),
  },
  {
    fault: 'each run is a day late',
    breaks: ['ends in time'],
    storage: (storage) => ({
      ...storage,
      schedule: {
        ...storage.schedule,
        start: (handler, options) =>
          storage.schedule.start(async (...run) => {
            const at = await handler(...run);
            return at === undefined ? undefined : at + DAY_MS;
          }, options),
      },
    }),
  },
  {
    fault: 'a request with a lost response is sent again',
    breaks: ['one charge', 'paid twice'],
    gateway: sending((request) => request().catch(request)),
  },
  {
    fault: 'a message is not found again',
    breaks: ['one message', 'doubled'],
    platform: (platform) => ({
      ...platform,
      show: (address, message, { posted: _, mayHavePosted: _found, ...options }) =>
        platform.show(address, message, options),
    }),
  },
  {
    fault: 'the end of a job is not shown',
    breaks: ['no message in progress', 'lost'],
    platform: (platform) => ({
      ...platform,
      show: async (address, message, options) =>
        message.progress || !options.posted ? platform.show(address, message, options) : options.posted,
    }),
  },
  {
    fault: 'a callback is answered before it is stored',
    breaks: ['callbacks count'],
    storage: (storage) => ({ ...storage, receive: async () => 'stored' }),
  },
  {
    fault: 'charges are not counted',
    breaks: ['limits equal charges'],
    storage: (storage) => ({ ...storage, usage: { ...storage.usage, settle: async () => true } }),
  },
  {
    fault: 'an ended job is reopened',
    breaks: ['states go forward'],
    storage: rewriting((job) => (job.state === 'delivered' ? { ...job, state: 'waiting' } : job)),
  },
  {
    fault: 'a delivered job is reported as failed',
    breaks: ['one end'],
    storage: rewriting((job) => (job.state === 'delivered' ? { ...job, state: 'failed' } : job)),
  },
  {
    fault: 'Retry-After is ignored',
    breaks: ['Retry-After'],
    gateway: sending((request) =>
      request().catch((error: unknown) => {
        if (!(error instanceof GatewayError)) throw error;
        const { route, code, taken, retryable } = error;
        throw new GatewayError({ route, code, taken, retryable });
      }),
    ),
  },
  {
    fault: 'a suspended replica does not check its lease',
    breaks: ['one writer'],
    storage: (storage) => ({
      ...storage,
      schedule: {
        ...storage.schedule,
        start: (handler, options) =>
          storage.schedule.start(
            (job, signal, lease) => handler(job, signal, { ...lease, isHeld: () => true }),
            options,
          ),
      },
    }),
  },
];
