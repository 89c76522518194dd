import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { gatewayError, type Reply } from './scripted-gateway.ts';
import { createWorld, PICTURE, QUESTION, SONG, songCallback, VIDEO, type World } from './world.ts';

let world: World;

beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const labels = () => world.message()?.actions?.map(({ label }) => label);
const counted = () => Array.fromAsync(world.storage.usage.history());
describe('cancelled while the gateway is being asked', () => {
  /** The gateway answers when told to. */
  function slowGateway(): { answer: () => void; asked: Promise<void> } {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
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
    return { answer, asked };
  }

  /** Its person was told. `answer` resolves when what the gateway answered is stored. */
  async function cancelledWhileAsked(reply: Reply, request: typeof PICTURE) {
    const { answer, asked } = slowGateway();
    world.gateway.replies.push(reply);
    const job = await world.start(request);
    const advancing = world.advance(job);
    await asked;
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

  it('is told at once, and what the gateway answers after that is kept and offered', async () => {
    const { job, answer } = await cancelledWhileAsked('taken', PICTURE);
    await answer();
    expect(labels()).toEqual(['Show it', 'Again']);
    expect(await world.jobs.reveal(job)).toBe(true);
    await world.advance(job);
    expect(world.message()?.media).toHaveLength(1);
    expect(world.gateway.taken).toHaveLength(1);
  });

  it.each([
    ['refuses a picture', PICTURE, gatewayError('blocked')],
    ['takes a video', VIDEO, 'taken' as const],
  ])('leaves its slot to the next when the gateway %s', async (_what, request, reply) => {
    Object.assign(world.dependencies, { concurrency: { song: 1, image: 1, video: 1, ask: 1 } });
    const { answer } = await cancelledWhileAsked(reply, request);
    const next = await world.start(request);
    await world.advance(next);
    expect((await world.read(next)).queuePosition).toBe(1);
    await answer();
    await world.advance(next);
    expect((await world.read(next)).queuePosition).toBeUndefined();
  });

  describe('and told so before the gateway answers', () => {
    /** `meanwhile` happens before the gateway's answer. */
    async function cancelledBefore(
      reply: Reply,
      request: typeof PICTURE,
      meanwhile: (job: string) => unknown = () => undefined,
    ): Promise<string> {
      const { job, answer } = await cancelledWhileAsked(reply, request);
      await meanwhile(job);
      await answer();
      return job;
    }
    const refusal = gatewayError('blocked', { taken: 'no' });

    it.each([
      ['a picture', PICTURE, refusal],
      ['a song', SONG, refusal],
      ['a video', VIDEO, refusal],
      ['a song that it may take later', SONG, gatewayError('rate', { retryable: true, taken: 'no' })],
    ])('counts for nothing where it refuses %s', async (_what, request, reply) => {
      const job = await cancelledBefore(reply, request);
      expect(await world.read(job)).toMatchObject({ state: 'cancelled', charged: false });
      expect(await counted()).toEqual([]);
      expect(world.gateway.taken).toEqual([]);
      expect(world.message()?.text).toBe('Cancelled.');
      expect(world.platform.history.filter(({ text }) => text === 'Cancelled.')).toHaveLength(1);
    });

    it.each([
      ['a picture', PICTURE],
      ['a song', SONG],
    ])('counts where it is unknown whether the gateway took %s', async (_what, request) => {
      const job = await cancelledBefore(gatewayError('network', { taken: 'unknown' }), request);
      expect(await world.read(job)).toMatchObject({ state: 'cancelled', chargeUncertain: true });
      expect(await counted()).toMatchObject([{ requests: 1, uncertain: 1 }]);
    });

    it('counts where the gateway calls back for what it had refused', async () => {
      const job = await cancelledBefore(refusal, SONG, (id) => world.callback(id, songCallback('complete')));
      expect(await world.read(job)).toMatchObject({
        state: 'cancelled',
        charged: true,
        chargeUncertain: false,
      });
      expect(await counted()).toMatchObject([{ requests: 1, uncertain: 0 }]);
      expect(labels()).toEqual(['Show it', 'Again']);
    });

    it('counts where another run ended it before', async () => {
      const job = await cancelledBefore(refusal, PICTURE, (id) => world.advance(id));
      expect(await world.read(job)).toMatchObject({ state: 'cancelled', chargeUncertain: true });
      expect(await counted()).toMatchObject([{ requests: 1, uncertain: 1 }]);
    });
  });

  it('is cancelled with its result, where the answer was quicker', async () => {
    const { answer, asked } = slowGateway();
    const job = await world.start(PICTURE);
    const advancing = world.advance(job);
    await asked;
    await world.jobs.cancel(job, 'ada');
    answer();
    await advancing;
    expect(labels()).toEqual(['Show it', 'Again']);
  });

  it.each([
    ['a song', SONG],
    ['a video', VIDEO],
  ])('%s ends cancelled, and the gateway is not asked again', async (_what, request) => {
    const { answer, asked } = slowGateway();
    const job = await world.start(request);
    const advancing = world.advance(job);
    await asked;
    await world.jobs.cancel(job, 'ada');
    answer();
    await advancing;
    expect((await world.read(job)).state).toBe('cancelled');
    expect(world.message()?.text).toBe('Cancelled.');
    expect(world.gateway.taken).toHaveLength(1);
  });

  it('stays cancelled when the gateway refuses it in the end', async () => {
    const { answer, asked } = slowGateway();
    world.gateway.replies.push(gatewayError('rate', { retryable: true }));
    const job = await world.start(SONG);
    const advancing = world.advance(job);
    await asked;
    await world.jobs.cancel(job, 'ada');
    answer();
    await advancing;
    await world.advance(job);
    expect((await world.read(job)).state).toBe('cancelled');
    expect(world.gateway.taken).toEqual([]);
  });
});

describe('an answer that is stopped', () => {
  it('counts for nothing where the gateway was not asked yet', async () => {
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
    expect(await counted()).toEqual([]);
  });

  it('counts for nothing where the gateway refuses it', async () => {
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
    expect(await counted()).toEqual([]);
  });
});

describe('a cancelled video that the gateway finishes all the same', () => {
  it('is found by asking on, and offered', async () => {
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

describe('a song that is cancelled when only part of it had come', () => {
  it('has nothing to show, until the whole of it comes', async () => {
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
      'cover.png',
      'Rain (take 1).mp3',
      'Rain (take 2).mp3',
    ]);
  });
});

describe('declined, because its platform took no acknowledgement', () => {
  it('ends unpaid with a sentence and Again, once', async () => {
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

  it('goes on if it has begun, and is not declined where it was asked for before', async () => {
    const { job, decline } = await world.accept(SONG, { id: 'the same' });
    await world.advance(job);
    await decline?.();
    const again = await world.accept(SONG, { id: 'the same' });
    expect(again.decline).toBeUndefined();
    expect((await world.read(job)).state).toBe('waiting');
  });
});

it('whose process died before its platform began or declined it begins by itself', async () => {
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
