import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { gatewayError, type Reply } from './scripted-gateway.ts';
import { createWorld, PICTURE, QUESTION, SONG, songCallback, VIDEO, type World } from './world.ts';

let world: World;

beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const labels = () => world.message()?.actions?.map(({ label }) => label);
const usageHistory = () => Array.fromAsync(world.storage.usage.history());
describe('a cancellation during the request to the gateway', () => {
  /** Holds the gateway's response until `answer` is called. */
  function slowGateway(): { answer: () => void; requested: Promise<void> } {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const { promise: requested, resolve: ask } = Promise.withResolvers<void>();
    const hold = async <Value>(work: () => Promise<Value>): Promise<Value> => {
      const result = work();
      result.catch(() => undefined);
      ask();
      await answered;
      return result;
    };
    const { media, music } = world.gateway;
    const { createImage, createVideo } = media;
    const { generate } = music;
    Object.assign(media, {
      createImage: (request: Parameters<typeof createImage>[0]) => hold(() => createImage(request)),
      createVideo: (request: Parameters<typeof createVideo>[0]) => hold(() => createVideo(request)),
    });
    Object.assign(music, {
      generate: (request: Parameters<typeof generate>[0]) => hold(() => generate(request)),
    });
    return { answer, requested: requested };
  }

  /** Cancels a job during its request. `answer` resolves once the gateway's response is stored. */
  async function cancelDuringRequest(reply: Reply, request: typeof PICTURE) {
    const { answer, requested } = slowGateway();
    world.gateway.replies.push(reply);
    const job = await world.start(request);
    const advancing = world.advance(job);
    await requested;
    expect(await world.jobs.cancel(job, 'ada')).toBe(true);
    await expect
      .poll(() => {
        world.clock.advance(1_000);
        return world.message()?.text;
      })
      .toBe('Cancelled.');
    return {
      job,
      answer: () => {
        answer();
        return advancing;
      },
    };
  }

  it('is shown immediately, and a later result is stored and offered', async () => {
    const { job, answer } = await cancelDuringRequest('taken', PICTURE);
    await answer();
    expect(labels()).toEqual(['Show it', 'Again']);
    expect(await world.jobs.reveal(job)).toBe(true);
    await world.advance(job);
    expect(world.message()?.media).toHaveLength(1);
    expect(world.gateway.taken).toHaveLength(1);
  });

  it.each([
    ['refuses an image', PICTURE, gatewayError('blocked')],
    ['accepts a video', VIDEO, 'taken' as const],
  ])('releases the slot when the gateway %s', async (_what, request, reply) => {
    Object.assign(world.dependencies, { concurrency: { song: 1, image: 1, video: 1, ask: 1 } });
    const { answer } = await cancelDuringRequest(reply, request);
    const next = await world.start(request);
    await world.advance(next);
    expect((await world.read(next)).queuePosition).toBe(1);
    await answer();
    await world.advance(next);
    expect((await world.read(next)).queuePosition).toBeUndefined();
  });

  describe('shown before the gateway responds', () => {
    /** `meanwhile` runs before the gateway responds. */
    async function cancelBeforeResponse(
      reply: Reply,
      request: typeof PICTURE,
      meanwhile: (job: string) => unknown = () => undefined,
    ): Promise<string> {
      const { job, answer } = await cancelDuringRequest(reply, request);
      await meanwhile(job);
      await answer();
      return job;
    }
    const refusal = gatewayError('blocked', { taken: 'no' });

    it.each([
      ['an image', PICTURE, refusal],
      ['a song', SONG, refusal],
      ['a video', VIDEO, refusal],
      ['a song that may be retried later', SONG, gatewayError('rate', { retryable: true, taken: 'no' })],
    ])('is not charged if the gateway refuses %s', async (_what, request, reply) => {
      const job = await cancelBeforeResponse(reply, request);
      expect(await world.read(job)).toMatchObject({ state: 'cancelled', charged: false });
      expect(await usageHistory()).toEqual([]);
      expect(world.gateway.taken).toEqual([]);
      expect(world.message()?.text).toBe('Cancelled.');
      expect(world.platform.history.filter(({ text }) => text === 'Cancelled.')).toHaveLength(1);
    });

    it.each([
      ['an image', PICTURE],
      ['a song', SONG],
    ])('is charged if the gateway may have accepted %s', async (_what, request) => {
      const job = await cancelBeforeResponse(gatewayError('network', { taken: 'unknown' }), request);
      expect(await world.read(job)).toMatchObject({ state: 'cancelled', chargeUncertain: true });
      expect(await usageHistory()).toMatchObject([{ requests: 1, uncertain: 1 }]);
    });

    it('is charged if the gateway calls back for a refused request', async () => {
      const job = await cancelBeforeResponse(refusal, SONG, (id) =>
        world.callback(id, songCallback('complete')),
      );
      expect(await world.read(job)).toMatchObject({
        state: 'cancelled',
        charged: true,
        chargeUncertain: false,
      });
      expect(await usageHistory()).toMatchObject([{ requests: 1, uncertain: 0 }]);
      expect(labels()).toEqual(['Show it', 'Again']);
    });

    it('is charged if another run has ended the job', async () => {
      const job = await cancelBeforeResponse(refusal, PICTURE, (id) => world.advance(id));
      expect(await world.read(job)).toMatchObject({ state: 'cancelled', chargeUncertain: true });
      expect(await usageHistory()).toMatchObject([{ requests: 1, uncertain: 1 }]);
    });
  });

  it('includes the result if the response was faster', async () => {
    const { answer, requested } = slowGateway();
    const job = await world.start(PICTURE);
    const advancing = world.advance(job);
    await requested;
    await world.jobs.cancel(job, 'ada');
    answer();
    await advancing;
    expect(labels()).toEqual(['Show it', 'Again']);
  });

  it.each([
    ['a song', SONG],
    ['a video', VIDEO],
  ])('a cancelled job for %s ends, and its request is not repeated', async (_what, request) => {
    const { answer, requested } = slowGateway();
    const job = await world.start(request);
    const advancing = world.advance(job);
    await requested;
    await world.jobs.cancel(job, 'ada');
    answer();
    await advancing;
    expect((await world.read(job)).state).toBe('cancelled');
    expect(world.message()?.text).toBe('Cancelled.');
    expect(world.gateway.taken).toHaveLength(1);
  });

  it('persists if the gateway finally refuses the request', async () => {
    const { answer, requested } = slowGateway();
    world.gateway.replies.push(gatewayError('rate', { retryable: true }));
    const job = await world.start(SONG);
    const advancing = world.advance(job);
    await requested;
    await world.jobs.cancel(job, 'ada');
    answer();
    await advancing;
    await world.advance(job);
    expect((await world.read(job)).state).toBe('cancelled');
    expect(world.gateway.taken).toEqual([]);
  });
});

describe('an answer that is stopped', () => {
  it('is not charged before the request', async () => {
    const job = await world.start(QUESTION);
    const { jobs } = world.dependencies.storage;
    const { replace } = jobs;
    jobs.replace = async (record) => {
      const written = await replace(record);
      if (written?.state !== 'submitting') return written;
      jobs.replace = replace;
      await world.jobs.cancel(job, 'ada');
      return written;
    };
    await world.advance(job);
    expect(world.gateway.taken).toEqual([]);
    expect(await world.read(job)).toMatchObject({ state: 'cancelled', charged: false });
    expect(await usageHistory()).toEqual([]);
  });

  it('is not charged if the gateway refuses it', async () => {
    const job = await world.start(QUESTION);
    Object.assign(world.gateway.chat, {
      async *stream(_question: unknown, { signal }: { signal: AbortSignal }) {
        await world.jobs.cancel(job, 'ada');
        await expect.poll(() => signal.aborted).toBe(true);
        yield* [];
        throw gatewayError('rate', { retryable: true, taken: 'no' });
      },
    });
    await world.advance(job);
    expect(await world.read(job)).toMatchObject({ state: 'cancelled', charged: false });
    expect(await usageHistory()).toEqual([]);
  });
});

describe('a cancelled video that the gateway finishes anyway', () => {
  it('is found by polling, and offered', async () => {
    const job = await world.start(VIDEO);
    await world.advance(job);
    await world.jobs.cancel(job, 'ada');
    const next = await world.advance(job);
    expect(world.message()?.text).toBe('Cancelled.');
    expect(next).toBeGreaterThan(world.clock.now());
    world.gateway.polls.push(
      { status: 'running' },
      { status: 'succeeded', videoUrl: 'https://gateway.example/film.mp4' },
    );
    for (let at = next; at !== undefined; ) {
      world.clock.advance(Math.max(1, at - world.clock.now()));
      at = await world.advance(job);
    }
    expect(labels()).toEqual(['Show it', 'Again']);
    await world.jobs.reveal(job);
    await world.advance(job);
    expect(world.message()?.media).toHaveLength(1);
  });
});

describe('a song cancelled after a partial result', () => {
  it('offers nothing until the result is complete', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, songCallback('first'));
    await world.advance(job);
    await world.jobs.cancel(job, 'ada');
    await world.advance(job);
    expect(world.message()?.text).toBe('Cancelled.');
    expect(labels()).toEqual(['Again']);
    expect(await world.jobs.reveal(job)).toBe(false);

    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    expect(labels()).toEqual(['Show it', 'Again']);
    expect(await world.jobs.reveal(job)).toBe(true);
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.message()?.media?.map(({ name }) => name)).toEqual([
      'Rain - cover.png',
      'Rain (take 1).mp3',
      'Rain (take 2).mp3',
    ]);
  });
});

describe('a job declined because its platform did not acknowledge in time', () => {
  it('ends unpaid with a message and Again, once', async () => {
    const { job, decline } = await world.accept(SONG);
    await decline?.();
    await world.advance(job);
    await world.advance(job);
    expect(world.message()).toMatchObject({ text: expect.stringContaining('Nothing was spent') });
    expect(labels()).toEqual(['Again']);
    expect(world.platform.history).toHaveLength(1);
    expect(world.gateway.taken).toEqual([]);
    expect(await world.read(job)).toMatchObject({ state: 'failed', charged: false });
  });

  it('continues if it has begun, and is not declined for a repeated request', async () => {
    const { job, decline } = await world.accept(SONG, { id: 'the same' });
    await world.advance(job);
    await decline?.();
    const again = await world.accept(SONG, { id: 'the same' });
    expect(again.decline).toBeUndefined();
    expect((await world.read(job)).state).toBe('waiting');
  });
});

it('begins automatically if its process died before the platform began or declined it', async () => {
  const { job } = await world.accept(SONG);
  await world.jobs.run(world.dependencies.invoke);
  onTestFinished(async () => {
    const stopped = world.jobs.stop();
    world.clock.advance(11_000);
    await stopped;
  });
  world.clock.advance(9_000);
  expect((await world.read(job)).state).toBe('accepted');
  world.clock.advance(2_000);
  await expect.poll(async () => (await world.read(job)).state).toBe('waiting');
});
