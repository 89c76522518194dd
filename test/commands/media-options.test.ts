import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Invocation } from '../../src/core/invocation.ts';
import type { RawOptions } from '../../src/core/options.ts';
import { advanceOnce } from '../jobs/world.ts';
import { openStudio, type Studio } from './song/world.ts';

let studio: Studio;
beforeEach(async () => {
  studio = await openStudio();
});
afterEach(() => studio[Symbol.asyncDispose]());

/** Returns the request that a command sends to the gateway. */
async function requestOf(command: 'image' | 'video', options: RawOptions) {
  const { world } = studio;
  const outcome = await studio.ask(command, { model: 'canvas', ...options });
  const { id } = await studio.stored(outcome);
  const concurrency = { ...world.dependencies.concurrency, image: 9, video: 9 };
  const dependencies = { ...world.dependencies, concurrency };
  await advanceOnce(dependencies, id);
  return world.gateway.taken.at(-1)?.request;
}

const sentence = async (command: string, options: RawOptions, more: Partial<Invocation> = {}) => {
  const outcome = await studio.ask(command, options, more);
  return outcome.type === 'message' ? outcome.message.text : outcome.type;
};

describe('an image', () => {
  it('is a square by default, in a size that the model accepts', async () => {
    expect(await requestOf('image', { prompt: 'a fox' })).toMatchObject({ size: '1328*1328' });
    const wide = { prompt: 'a fox', size: 'wide' };
    expect(await requestOf('image', wide)).toMatchObject({ size: '1792*1008' });
    expect(await requestOf('image', { ...wide, model: 'qwen-image' })).toMatchObject({ size: '1664*928' });
  });

  it('uses the prompt unchanged with exact', async () => {
    expect(await requestOf('image', { prompt: 'a fox', exact: true })).toMatchObject({ promptExtend: false });
  });

  it('describes its size in words for a gen model, whose route has no size', async () => {
    const request = await requestOf('image', { prompt: 'a fox', size: '1664*928', model: 'gen:painter' });
    expect(request).toMatchObject({
      turns: [{ parts: [{ text: 'a fox' }, { text: 'Its shape: wide, 1664 by 928 pixels.' }] }],
    });
  });
});

describe('a video', () => {
  it('passes on silent, shots and exact', async () => {
    expect(await requestOf('video', { prompt: 'a fox' })).toEqual({ model: 'canvas', prompt: 'a fox' });
    expect(await requestOf('video', { prompt: 'a fox', silent: true })).toMatchObject({ audio: false });
    // The public API needs prompt_extend for several shots.
    expect(await requestOf('video', { prompt: 'a fox', shots: 'multi' })).toMatchObject({
      shotType: 'multi',
      promptExtend: true,
    });
    expect(await requestOf('video', { prompt: 'a fox', exact: true })).toMatchObject({ promptExtend: false });
  });

  it('refuses exact with several shots, and silent with audio', async () => {
    expect(
      await sentence('video', { prompt: 'a fox', exact: true, shots: 'multi', model: 'film' }),
    ).toContain('Leave out “exact” or “shots”');
    const audio = { name: 'rain.wav', url: 'https://cdn.example/rain.wav', contentType: 'audio/wav' };
    expect(await sentence('video', { prompt: 'a fox', silent: true, audio, model: 'film' })).toContain(
      'Leave out “silent” or “audio”',
    );
  });
});

describe('a question', () => {
  it('accepts a file up to the size limit of attachments', async () => {
    const file = (bytes: number) => ({
      name: 'fox.png',
      url: 'https://cdn.example/fox.png',
      contentType: 'image/png',
      bytes,
    });
    const ask = (bytes: number) =>
      sentence('ask', { question: 'What is this?', image: file(bytes), model: 'msg:some-model' });
    expect(await ask(25 * 1024 * 1024)).toBe('accepted');
    expect(await ask(25 * 1024 * 1024 + 1)).toContain('“image” takes files of up to 25 MB');
  });
});
