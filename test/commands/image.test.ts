/** Images that are made from other images. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Message } from '../../src/core/message.ts';
import type { FileReference } from '../../src/core/options.ts';
import { MediaError } from '../../src/media/errors.ts';
import { createBotOn } from '../core/bot-on-world.ts';
import { advanceOnce } from '../jobs/world.ts';
import { type Administered, administer } from '../settings/administration.ts';
import { openStudio, type Studio } from './song/world.ts';

let studio: Studio;
beforeEach(async () => {
  studio = await openStudio();
  studio.world.gateway.drawn.push({ type: 'image', mimeType: 'image/png', data: 'AAAA' });
});
afterEach(() => studio[Symbol.asyncDispose]());

/** The job runs in two steps: it fetches the files, then it sends the request. */
async function finish(outcome: Awaited<ReturnType<Studio['ask']>>): Promise<Message> {
  const { id } = await studio.stored(outcome);
  await studio.world.advance(id);
  return studio.finish(outcome);
}

const photo = (name: string): FileReference => ({
  name,
  contentType: 'image/png',
  url: `https://cdn.example/${name}`,
  attached: true,
});

const sent = () => studio.world.gateway.taken.at(-1);

describe('Change', () => {
  const change = (message: Message, prompt: string, label = 'Change') =>
    studio.fill(message, label, { prompt });

  it('asks what to change, and creates an image from one of a media model', async () => {
    const original = await finish(await studio.ask('image', { prompt: 'a fox', model: 'canvas' }));
    const opened = await studio.press(original, 'Change');
    expect(opened).toMatchObject({
      type: 'form',
      form: {
        title: 'Change the image',
        options: { prompt: { label: 'What should change?', required: true } },
      },
    });
    const outcome = await change(original, 'make it night');
    expect(await studio.stored(outcome)).toMatchObject({
      title: 'Changing “a fox”',
      parent: 'id1',
      basedOn: '“a fox”',
      work: {
        route: 'gen.image',
        images: [{ job: 'id1', source: { type: 'remote', url: 'https://gateway.example/picture.png' } }],
      },
    });
    const changed = await finish(outcome);
    expect(sent()).toMatchObject({
      route: 'gen.image',
      request: {
        model: 'some-model',
        turns: [{ role: 'user', parts: [{ type: 'image' }, { type: 'text', text: 'make it night' }] }],
      },
    });
    expect(changed).toMatchObject({
      title: 'Make it night',
      fields: [{ name: 'Made from', value: '“a fox”' }],
      media: [{ kind: 'image', alt: 'make it night (made from “a fox”)' }],
    });
  });

  it('reuses the gen model of the image, and its stored file', async () => {
    const original = await finish(
      await studio.ask('image', { prompt: 'a fox', size: 'wide', model: 'gen:painter' }),
    );
    expect(original.title).toBe('A fox');
    const changed = await finish(await change(original, 'make it night'));
    const again = await studio.stored(await change(changed, 'add a cat'));
    expect(again).toMatchObject({
      title: 'Changing “make it night”',
      work: {
        request: { model: 'painter' },
        images: [{ source: { type: 'stored', file: { name: 'bytes.png' } } }],
      },
    });
  });

  it('has a button for each of several images', async () => {
    studio.world.gateway.drawn.push({ type: 'image', mimeType: 'image/png', data: 'BBBB' });
    const original = await finish(await studio.ask('image', { prompt: 'a fox', model: 'gen:painter' }));
    expect(original.actions?.map(({ label }) => label)).toEqual([
      'Change image 1',
      'Animate image 1',
      'Change image 2',
      'Animate image 2',
      'Again',
    ]);
    expect((await change(original, 'make it night', 'Change image 2')).type).toBe('accepted');
  });

  it('requires a description', async () => {
    const original = await finish(await studio.ask('image', { prompt: 'a fox', model: 'canvas' }));
    expect(await change(original, ' ')).toMatchObject({ type: 'message', option: 'prompt' });
  });

  it('reports a missing image before anything is spent', async () => {
    const { world } = studio;
    const original = await finish(await studio.ask('image', { prompt: 'a fox', model: 'gen:painter' }));
    const outcome = await change(original, 'make it night');
    const { id } = await studio.stored(outcome);
    const media = { ...world.dependencies.media, stat: async () => undefined };
    await advanceOnce({ ...world.dependencies, media }, id);
    expect(world.platform.history.at(-1)?.text).toContain('This file is gone');
    expect(world.gateway.taken).toHaveLength(1);
  });
});

describe('Animate', () => {
  const animated = async (message: Message) => {
    const { work } = await studio.stored(await studio.fill(message, 'Animate', { duration: '5' }));
    return work.route === 'media.video' ? work.request.prompt : work.route;
  };

  it('uses the description of an image, but not the words of a change', async () => {
    const original = await finish(
      await studio.ask('image', { prompt: 'a fox', size: 'wide', model: 'gen:painter' }),
    );
    expect(await animated(original)).toBe('a fox');
    const changed = await finish(await studio.fill(original, 'Change', { prompt: 'make it night' }));
    expect(await animated(changed)).toBeUndefined();
  });
});

describe('/image with reference images', () => {
  it('sends up to three before the prompt, and names them in the result', async () => {
    const outcome = await studio.ask('image', {
      prompt: 'the fox in this forest',
      reference: photo('fox.png'),
      reference2: photo('forest.jpg'),
      reference3: photo('style.webp'),
      size: 'wide',
    });
    expect((await studio.stored(outcome)).work).toMatchObject({
      images: [{ url: 'https://cdn.example/fox.png', attached: true }, {}, {}],
    });
    const message = await finish(outcome);
    const [turn] = (sent()?.request.turns ?? []) as [{ parts: { type: string; text?: string }[] }];
    expect(turn.parts.map(({ type, text }) => text ?? type)).toEqual([
      'image',
      'image',
      'image',
      'the fox in this forest',
      'Its shape: wide, 1664 by 928 pixels.',
    ]);
    expect(message.fields).toEqual([{ name: 'Made from', value: 'fox.png, forest.jpg, style.webp' }]);
  });

  it('refuses other files', async () => {
    const song = { ...photo('rain.mp3'), contentType: 'audio/mpeg' };
    expect(await studio.ask('image', { prompt: 'a fox', reference: song })).toMatchObject({
      type: 'message',
      option: 'reference',
    });
  });

  it('stores the image that models accept, and sends that', async () => {
    const { world } = studio;
    const outcome = await studio.ask('image', { prompt: 'a fox', reference: photo('fox.heic') });
    const { id } = await studio.stored(outcome);
    const fit = async () => Buffer.from('converted');
    await advanceOnce({ ...world.dependencies, pictures: { ...world.dependencies.pictures, fit } }, id);
    expect((await world.read(id)).work).toMatchObject({ images: [{ name: 'bytes.png' }] });
  });

  /** The first step converts the image, the next one reads it for the request. */
  function withUnreadableImages() {
    const { dependencies } = studio.world;
    const { media } = dependencies;
    let opened = 0;
    const open: typeof media.open = async (name) => (opened++ === 0 ? media.open(name) : undefined);
    return { ...dependencies, media: { ...media, open } };
  }

  it('waits while a stored reference cannot be read, instead of sending only the prompt', async () => {
    const { world } = studio;
    const outcome = await studio.ask('image', { prompt: 'a fox', reference: photo('fox.png') });
    const { id } = await studio.stored(outcome);
    await advanceOnce(withUnreadableImages(), id);
    expect(world.gateway.taken).toEqual([]);
    expect(await world.read(id)).toMatchObject({ state: 'accepted', refusals: 1 });
    await finish(outcome);
    expect(JSON.stringify(sent()?.request)).toContain('"type":"image"');
  });

  it('fails without blaming the service if a stored reference stays unreadable, and spends nothing', async () => {
    const { world } = studio;
    const outcome = await studio.ask('image', { prompt: 'a fox', reference: photo('fox.png') });
    const { id } = await studio.stored(outcome);
    const dependencies = withUnreadableImages();
    for (let run = 0; run < 8; run += 1) await advanceOnce(dependencies, id);
    expect(await world.read(id)).toMatchObject({ state: 'failed', charged: false });
    expect(world.message()?.text).toContain("I couldn't read a reference image");
    expect(JSON.stringify(world.message())).not.toMatch(/service/);
    expect(world.gateway.taken).toEqual([]);
  });

  it('fails with a sentence if a reference cannot be read, and spends nothing', async () => {
    const { world } = studio;
    world.unreachable.set('https://cdn.example/fox.heic', new MediaError('type', 'HEIC'));
    const { id } = await studio.stored(
      await studio.ask('image', { prompt: 'a fox', reference: photo('fox.heic') }),
    );
    await world.advance(id);
    await world.advance(id);
    expect(world.message()?.text).toContain("fox.heic isn't an image file that I can read");
    expect(world.gateway.taken).toEqual([]);
  });
});

describe('the model of an image with references', () => {
  let administered: Administered;
  const ask = async (model?: string) => {
    const bot = createBotOn(studio.world, { administered });
    const outcome = await bot.run({
      id: `event-${model}`,
      command: 'image',
      options: { prompt: 'a fox', reference: photo('fox.png'), ...(model && { model }) },
      address: { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' },
      person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
    });
    if (outcome.type === 'message') return outcome.message.text;
    const { work } = await studio.stored(outcome);
    return 'request' in work && 'model' in work.request ? work.request.model : undefined;
  };

  it('is a gen model of the account if the default is a media model', async () => {
    administered = administer({ ...studio.world, defaults: { image: 'canvas' } });
    administered.list.offered = [
      { id: 'canvas', uses: ['pictures'] },
      { id: 'facet', uses: ['pictures', 'answers'], routes: ['gen'] },
    ];
    expect(await ask()).toBe('facet');
    expect(await ask('canvas')).toBe(
      "The model “canvas” can't create images from other images. Leave out “model”, or choose one that can: gen:facet.",
    );
  });

  it('is missing without a gen model, and the refusal says how to set one', async () => {
    administered = administer({ ...studio.world, defaults: { image: 'canvas' } });
    administered.list.offered = [{ id: 'canvas', uses: ['pictures'] }];
    expect(await ask()).toContain('Ask a moderator to set a gen model with /models set');
    expect(studio.world.gateway.taken).toEqual([]);
  });
});
