import { Readable } from 'node:stream';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { StartRequest } from '../../../src/core/bot/start-request.ts';
import type { AnswerWork } from '../../../src/core/work.ts';
import { MediaError } from '../../../src/media/errors.ts';
import { createWorld, QUESTION, VIDEO, type World } from '../world.ts';

const fox = { name: 'fox.png', contentType: 'image/png', url: 'https://cdn.example/fox.png' };
const FILM: StartRequest = {
  ...VIDEO,
  work: { route: 'media.video', request: { model: 'film', prompt: 'a fox' }, image: fox },
};

let world: World;
beforeEach(async () => {
  world = await createWorld();
  return () => world[Symbol.asyncDispose]();
});

test('the job fetches attachments after it has shown its message', async () => {
  const job = await world.start(FILM);
  expect(world.message()).toBeUndefined();
  await world.advance(job);
  expect(await world.read(job)).toMatchObject({ state: 'waiting', work: { image: { name: 'fox.png' } } });
  expect(world.gateway.taken).toMatchObject([{ request: { imageUrl: 'https://bot.example/files/fox.png' } }]);
});

test.each([
  ['type', /fox\.png isn't an image file that I can read/],
  ['too-large', /fox\.png is too large\. The limit is 25 MB/],
  ['network', /I couldn't read fox\.png\. Attach it again/],
] as const)(
  "an unusable file (%s) is reported in the job's message, and nothing is spent",
  async (code, sentence) => {
    world.unreachable.set(fox.url, new MediaError(code, 'no'));
    const job = await world.start(FILM);
    await world.advance(job);
    expect(world.message()?.text).toMatch(sentence);
    expect(world.message()?.actions).toMatchObject([{ label: 'Again' }]);
    expect(await world.read(job)).toMatchObject({ state: 'failed', charged: false });
    expect(world.gateway.taken).toEqual([]);
  },
);

describe('a question', () => {
  beforeEach(() => {
    const kept = { name: 'fox.png', bytes: 3, contentType: 'image/png' };
    const open = async () => ({ ...kept, stream: Readable.from([Buffer.from('fox')]) });
    Object.assign(world.dependencies.media, { keep: async () => kept, open, keepBytes: async () => kept });
  });

  const questionRequest = (more: Partial<AnswerWork>): StartRequest => ({
    ...QUESTION,
    work: { ...(QUESTION.work as AnswerWork), history: { message: 'm1' }, ...more },
  });
  const imageMessage = { author: 'person' as const, person: 'bob', name: 'Bob', text: 'Look!', files: [fox] };

  test('includes the conversation read by its platform', async () => {
    world.platform.conversation = [imageMessage];
    const job = await world.start(questionRequest({}));
    await world.advance(job);
    const { work } = await world.read(job);
    expect(work).not.toHaveProperty('history');
    expect(work).toMatchObject({
      request: { turns: [{ person: 'bob', parts: [{ text: '(an image)' }, { text: 'Look!' }] }, {}] },
    });
  });

  test('that replies to an image goes to the vision model', async () => {
    world.platform.conversation = [imageMessage];
    const job = await world.start(questionRequest({ seeing: { dialect: 'msg', model: 'seeing' } }));
    await world.advance(job);
    expect((await world.read(job)).work).toMatchObject({
      dialect: 'msg',
      request: { model: 'seeing', turns: [{ parts: [{ type: 'image' }, { text: 'Look!' }] }, {}] },
    });
  });

  test('with an image fails for a model that cannot read it, and nothing is spent', async () => {
    const turns = [
      { role: 'user' as const, parts: [{ type: 'file' as const, file: { ...fox, contentType: undefined } }] },
    ];
    const job = await world.start(questionRequest({ request: { model: 'chat-small', turns } }));
    await world.advance(job);
    expect(world.message()?.text).toContain("“chat-small” can't read images");
    expect(world.gateway.taken).toEqual([]);
  });
});

/** Fetches that never finish. Resolves when the first one starts. */
function neverFetch(): Promise<void> {
  const fetching = Promise.withResolvers<void>();
  const { keep } = world.dependencies.media;
  Object.assign(world.dependencies.media, {
    keep: async (...args: Parameters<typeof keep>) => {
      fetching.resolve();
      await new Promise((_, reject) =>
        args[1].signal?.addEventListener('abort', () => reject(args[1].signal?.reason)),
      );
    },
  });
  return fetching.promise;
}

test('slow files fail the job with a message, and nothing is spent', async () => {
  const deadline = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(deadline.signal);
  const fetching = neverFetch();
  const job = await world.start(FILM);
  const ended = world.advance(job);
  await fetching;
  deadline.abort();
  await ended;
  timeout.mockRestore();
  expect(world.message()?.text).toMatch(/longer than 10 minutes, .* fewer or smaller/);
  expect(await world.read(job)).toMatchObject({ charged: false });
});

test('a job that is cancelled while its files are fetched ends immediately', async () => {
  const fetching = neverFetch();
  const job = await world.start(FILM);
  const ended = world.advance(job);
  await fetching;
  await world.jobs.cancel(job, 'ada');
  await ended;
  expect(await world.read(job)).toMatchObject({ state: 'cancelled', charged: false });
});
