import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { StartRequest } from '../../src/core/bot/start-request.ts';
import type { Job } from '../../src/core/job.ts';
import { PlatformError } from '../../src/platforms/platform.ts';
import { familyOf } from '../../src/settings/limits/meter.ts';
import { StorageError } from '../../src/storage/storage.ts';
import { gatewayError } from './scripted-gateway.ts';
import { createWorld, PICTURE, QUESTION, SONG, songCallback, VIDEO, type World } from './world.ts';

/** Simulates the death of the process: nothing is written afterwards. */
class Crash extends StorageError {
  constructor() {
    super('lease', 'the process died');
  }
}

type Event =
  | { type: 'advance'; diesAt: number | undefined }
  | { type: 'callback'; stage: 'text' | 'first' | 'complete' | 'failed' | 'garbage' }
  | { type: 'time'; milliseconds: number }
  | { type: 'gateway'; trouble: 'refused' | 'busy' | 'uncertain' }
  | { type: 'poll'; status: 'running' | 'failed' | 'succeeded' | 'unknown' | 'error' }
  | { type: 'platform'; trouble: 'unavailable' | 'gone' | 'refused' }
  | { type: 'cancel' };

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('advance' as const),
      diesAt: fc.option(fc.nat(12), { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('callback' as const),
      stage: fc.constantFrom(
        'text' as const,
        'first' as const,
        'complete' as const,
        'failed' as const,
        'garbage' as const,
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('time' as const),
      milliseconds: fc.constantFrom(1_000, 60_000, 2_000_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('gateway' as const),
      trouble: fc.constantFrom('refused' as const, 'busy' as const, 'uncertain' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('poll' as const),
      status: fc.constantFrom(
        'running' as const,
        'failed' as const,
        'succeeded' as const,
        'unknown' as const,
        'error' as const,
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('platform' as const),
      trouble: fc.constantFrom('unavailable' as const, 'gone' as const, 'refused' as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'cancel' as const }) },
);

const work = fc.constantFrom<StartRequest>(SONG, VIDEO, PICTURE, QUESTION);

it('accepted work survives any order of responses, callbacks, polls, deadlines, cancellations, platform faults and crashes', async () => {
  await fc.assert(
    fc.asyncProperty(work, fc.array(event, { maxLength: 30 }), async (request, events) => {
      let pointsLeft = Number.POSITIVE_INFINITY;
      await using world = await createWorld(() => {
        pointsLeft -= 1;
        if (pointsLeft < 0) throw new Crash();
      });
      const job = await world.start(request);
      let completed = false;
      let cancelled = false;
      let rank = 0;
      for (const happens of events) {
        if (happens.type === 'advance') {
          pointsLeft = happens.diesAt ?? Number.POSITIVE_INFINITY;
          await survive(world.advance(job));
          pointsLeft = Number.POSITIVE_INFINITY;
        } else if (happens.type === 'cancel') {
          cancelled = (await world.jobs.cancel(job, 'ada')) || cancelled;
        } else {
          await happen(world, job, happens);
          if (happens.type === 'callback' && happens.stage === 'complete' && hasCallbacks(request))
            completed = true;
        }
        const now = rankOf(await world.read(job));
        expect(now).toBeGreaterThanOrEqual(rank);
        rank = now;
      }

      await settle(world, job);
      const record = await world.read(job);
      const { route } = record.work;
      expect(['delivered', 'failed', 'expired', 'cancelled']).toContain(record.state);
      expect(world.gateway.taken.length, `${route} was paid for`).toBeLessThanOrEqual(1);
      expect(
        world.platform.shown.size,
        'one message is shown, or none in a closed channel',
      ).toBeLessThanOrEqual(1);
      const message = world.platform.privateMessages.at(-1) ?? world.message();
      expect(message?.progress, 'no message stays in progress').toBeUndefined();
      expect(message?.text ?? message?.title).toBeTruthy();
      const { concurrency } = world.dependencies;
      const queue = familyOf(record.work);
      expect(
        await world.storage.semaphores.holdersAndNext(queue, concurrency[queue]),
        'it does not block the queue',
      ).toEqual([]);
      if (completed && !cancelled) expect(record.state, 'a received result is delivered').toBe('delivered');
    }),
  );
});

function hasCallbacks({ work: { route } }: StartRequest): boolean {
  return route === 'music.generate';
}

/** Rank of a state. `accepted` and `submitting` alternate only while the gateway has definitely not accepted the work. */
function rankOf({ state, end }: Job): number {
  if (end === 'delivered') return 4;
  switch (state) {
    case 'accepted':
    case 'submitting':
      return 0;
    case 'waiting':
      return 1;
    default:
      return 2;
  }
}

async function happen(
  world: World,
  job: string,
  event: Exclude<Event, { type: 'advance' | 'cancel' }>,
): Promise<void> {
  switch (event.type) {
    case 'callback':
      if (event.stage === 'garbage') return world.callback(job, '<html>');
      if (event.stage === 'failed')
        return world.callback(job, {
          code: 501,
          data: { callbackType: 'error', task_id: 'task-1', data: null },
        });
      return world.callback(job, songCallback(event.stage));
    case 'time':
      return world.clock.advance(event.milliseconds);
    case 'gateway':
      world.gateway.replies.push(
        event.trouble === 'uncertain'
          ? gatewayError('timeout', { taken: 'unknown' })
          : gatewayError(event.trouble === 'busy' ? 'rate' : 'invalid', {
              retryable: event.trouble === 'busy',
            }),
      );
      return;
    case 'poll':
      world.gateway.polls.push(
        event.status === 'error'
          ? gatewayError('unavailable', { retryable: true })
          : {
              status: event.status,
              ...(event.status === 'succeeded' ? { videoUrl: 'https://gateway.example/film.mp4' } : {}),
            },
      );
      return;
    case 'platform':
      world.platform.failures.push(new PlatformError(event.trouble, event.trouble));
      return;
    default:
      return event satisfies never;
  }
}

async function survive(step: Promise<unknown>): Promise<void> {
  await step.catch((error: unknown) => {
    if (!(error instanceof Crash)) throw error;
  });
}

/** Advances the job whenever it is due, until it stops or reaches its deadline. */
async function settle(world: World, job: string): Promise<void> {
  for (let runs = 0; runs < 1_000; runs++) {
    const next = await world.advance(job);
    if (next === undefined) return;
    world.clock.advance(Math.max(1, next - world.clock.now()));
  }
  throw new Error('The job does not settle');
}
