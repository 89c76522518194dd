import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RawOptions } from '../../src/core/options.ts';
import { gatewayAt } from '../gateway/support.ts';
import { advanceOnce } from '../jobs/world.ts';
import { type Facade, startFacade } from '../servers/public/facade.ts';
import type { AcceptedRequest } from '../servers/public/service.ts';
import { openStudio, type Studio } from './song/world.ts';

let studio: Studio;
let services: Facade;
beforeEach(async () => {
  [studio, services] = await Promise.all([openStudio(), startFacade()]);
});
afterEach(async () => {
  expect([...services.media.refused, ...services.music.refused]).toEqual([]);
  await studio[Symbol.asyncDispose]();
  await services[Symbol.asyncDispose]();
});

const accepted = (): AcceptedRequest[] => [...services.media.accepted, ...services.music.accepted];

/** Runs a command, and resolves to the request that the public service accepted. */
async function acceptedBy(command: string, options: RawOptions): Promise<unknown> {
  const { world } = studio;
  const { id } = await studio.stored(await studio.ask(command, options));
  const dependencies = {
    ...world.dependencies,
    gateway: gatewayAt(services.url).gateway,
  };
  await advanceOnce(dependencies, id);
  return accepted().at(-1)?.body;
}

const audio = { name: 'hum.mp3', url: 'https://cdn.example/hum.mp3', bytes: 3, contentType: 'audio/mpeg' };

describe('the public services accept', () => {
  const shapes = ['square', 'wide', 'tall', 'landscape', 'portrait'];
  it.each(['qwen-image', 'qwen-image-plus', 'qwen-image-2.0', 'wan2.6-t2i', 'z-image-turbo'])(
    'every shape of an image of %s',
    async (model) => {
      for (const size of shapes)
        expect(await acceptedBy('image', { prompt: 'a fox', avoid: 'text', size, model })).toMatchObject({
          model,
        });
      expect(accepted()).toHaveLength(shapes.length);
    },
  );

  it.each(['V4', 'V4_5', 'V4_5PLUS', 'V4_5ALL', 'V5', 'V5_5'])(
    'a song of %s in both modes',
    async (model) => {
      expect(await acceptedBy('song', { prompt: 'x'.repeat(500), model })).toMatchObject({ model });
      const custom = { title: 'x'.repeat(80), style: 'x'.repeat(200), lyrics: 'x'.repeat(3000), model };
      expect(await acceptedBy('song', custom)).toMatchObject({ model, customMode: true });
    },
  );

  it.each([
    { mode: 'cover', prompt: 'a waltz' },
    { mode: 'cover', style: 'waltz', prompt: 'la' },
    { mode: 'extend' },
    { mode: 'extend', prompt: 'la' },
    { mode: 'extend', style: 'waltz', prompt: 'la' },
    { mode: 'vocals', prompt: 'la' },
    { mode: 'instrumental', style: 'brass' },
  ])('a recording with %j for a newer model', async (options) => {
    expect(await acceptedBy('remix', { audio, model: 'V5_5', ...options })).toMatchObject({ model: 'V5_5' });
  });

  const image = { name: 'fox.png', url: 'https://cdn.example/fox.png', bytes: 3, contentType: 'image/png' };
  it.each([
    { model: 'wan2.6-t2v', prompt: 'a fox', duration: '5', shots: 'several' },
    { model: 'wan2.6-t2v', prompt: 'a fox', audio, exact: true },
    { model: 'wan2.6-i2v', image },
    { model: 'wan2.6-i2v', image, prompt: 'a fox', resolution: '720P', silent: true },
  ])('a video with %j', async (options) => {
    expect(await acceptedBy('video', options)).toMatchObject({ model: options.model });
  });
});

it('an extended song includes its lyrics', async () => {
  await studio.finish(await studio.ask('song', { prompt: 'a tune for rain' }));
  expect(await acceptedBy('remix', { mode: 'extend' })).toMatchObject({
    defaultParamFlag: false,
    prompt: '[Verse]\nRain on the roof',
  });
});

it('a changed song keeps its newer model', async () => {
  const first = await studio.finish(await studio.ask('song', { prompt: 'a tune for rain', model: 'V5_5' }));
  const changed = await studio.stored(await studio.fill(first, 'Change', { prompt: 'a tune for snow' }));
  expect(changed.work).toMatchObject({ request: { model: 'V5_5' } });
});
