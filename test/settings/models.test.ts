import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ImageEditorChoice } from '../../src/core/bot/context.ts';
import type { Family } from '../../src/core/models/family.ts';
import type { PlaceTools } from '../../src/settings/moderation.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { type Administered, administer } from './administration.ts';
import { memoryStorage } from './memory-storage.ts';
import { HERE, MOD } from './samples.ts';

let storage: Storage;
let administered: Administered;
let mod: PlaceTools;

beforeEach(async () => {
  const opened = await memoryStorage();
  storage = opened.storage;
  administered = administer(opened);
  administered.list.offer(['chat-small', 'Chat Large=chat-large', 'canvas-plus', 'seer']);
  mod = administered.moderation(HERE, MOD);
});
afterEach(() => storage.close());

const ELSEWHERE = { ...HERE, channel: 'elsewhere' };
const THREAD = { ...HERE, channel: 'thread', parent: HERE.channel };
const resolve = (where = HERE, named?: string) => administered.resolve('ask', named, where);
const inForce = async (where: typeof HERE = HERE) =>
  (await administered.modelsInForce(where)).find(({ family }) => family === 'ask');

describe('models with listed uses', () => {
  const suggested = (family: Family, typed: string) =>
    administered.models.suggest(family, typed).map(({ value }) => value);
  beforeEach(() => {
    administered.list.offered = [
      { id: 'canvas', uses: ['pictures'] },
      { id: 'mystery' },
      { id: 'reel', uses: ['videos'] },
      { id: 'talk', uses: ['answers'], routes: ['chat'] },
      { id: 'scribe', uses: ['answers'], routes: ['msg', 'chat'] },
      { id: 'facet', uses: ['answers', 'pictures'], routes: ['gen'] },
    ];
  });

  test('completion offers a family’s own models first', () => {
    expect(suggested('ask', '')).toEqual(['talk', 'scribe', 'gen:facet', 'mystery', 'canvas', 'reel']);
    expect(suggested('video', '')).toEqual(['reel', 'mystery', 'canvas', 'talk', 'scribe', 'facet']);
    expect(suggested('image', 'a')).toEqual(['canvas', 'gen:facet', 'talk']);
  });

  test('completion works after a route, with its models first', () => {
    expect(suggested('ask', 'msg:')).toEqual([
      'msg:scribe',
      'msg:talk',
      'msg:facet',
      'msg:mystery',
      'msg:canvas',
      'msg:reel',
    ]);
    expect(suggested('ask', 'GEN: fac')).toEqual(['gen:facet']);
    expect(suggested('image', 'gen:')[0]).toBe('gen:facet');
    expect(suggested('video', 'gen:'), 'videos have no such route').toEqual([]);
    administered.list.offer(['talk', 'V6', 'V5']);
    expect(suggested('song', '')).toEqual(['V6', 'V5', 'V4_5ALL', 'V4_5PLUS', 'V4_5', 'V4']);
  });

  test('a model on only one route uses that route, even if it is not named', async () => {
    expect(await administered.resolve('ask', 'facet', HERE)).toBe('gen:facet');
    expect(await administered.resolve('image', 'facet', HERE)).toBe('gen:facet');
    expect(await administered.resolve('ask', 'scribe', HERE), 'chat takes it, too').toBe('scribe');
    expect(await administered.resolve('ask', 'msg:facet', HERE), 'who names a route gets it').toBe(
      'msg:facet',
    );
  });

  test('an image made from others uses a gen model: the previous one, the one set here, or the best in the list', async () => {
    const editor = async (choice?: ImageEditorChoice) =>
      administered.models.imageEditor(choice, await administered.decisions.read(HERE));
    expect(await editor()).toBe('gen:facet');
    administered.list.offered = [
      { id: 'canvas', uses: ['pictures'] },
      ...['painter-pro', 'painter-flash-preview', 'painter-flash'].map((id) => ({
        id,
        uses: ['answers', 'pictures'] as const,
        routes: ['gen'] as const,
      })),
    ];
    expect(await editor()).toBe('gen:painter-flash');
    await mod.models.choose('image', 'painter-pro', 'channel');
    expect(await editor()).toBe('gen:painter-pro');
    expect(await editor({ previous: 'gen:painter-flash' })).toBe('gen:painter-flash');
    expect(await editor({ previous: 'gen:facet' }), 'the account no longer has it').toBe('gen:painter-pro');
    expect(await editor({ named: 'painter-flash' })).toBe('gen:painter-flash');
    await mod.models.choose('image', 'canvas', 'channel');
    expect(await editor()).toBe('gen:painter-flash');
  });

  test('models that the operator set for images with text come first, even without a list', async () => {
    const options = {
      storage,
      clock: { now: Date.now },
      illustrating: ['sketcher'],
      configured: ['sketcher'],
    };
    const own = administer(options);
    const editor = async () => own.models.imageEditor({}, await own.decisions.read(HERE));
    own.list.offered = [{ id: 'facet', uses: ['pictures'], routes: ['gen'] }];
    expect(await editor()).toBe('gen:sketcher');
    own.list.offered = undefined;
    expect(await editor()).toBe('gen:sketcher');
  });

  test('the suggestion to choose lists a family’s own models first', async () => {
    await expect(administered.resolve('video', undefined, HERE)).rejects.toThrow(
      'Available models: reel, mystery, canvas',
    );
  });

  test('a model of another family is refused, and the refusal says what it is for', async () => {
    await expect(administered.resolve('ask', 'canvas', HERE)).rejects.toThrow(
      '“canvas” is for images, not answers. Use it with /image, or choose another model here.',
    );
    await expect(administered.resolve('video', 'talk', HERE)).rejects.toThrow('“talk” is for answers');
    await expect(mod.models.choose('image', 'reel', 'server')).rejects.toThrow('“reel” is for videos');
    expect(await administered.resolve('image', 'gen:facet', HERE)).toBe('gen:facet');
    expect(await administered.resolve('image', 'mystery', HERE), 'the gateway decides').toBe('mystery');
  });
});

describe('which model is used', () => {
  test('is the named one, else the channel’s, the server’s or the deployment’s', async () => {
    expect(await resolve()).toBe('chat:chat-small');
    await mod.models.choose('ask', 'msg:seer', 'server');
    expect(await resolve()).toBe('msg:seer');
    await mod.models.choose('ask', 'chat-large', 'channel');
    expect(await resolve()).toBe('chat-large');
    expect(await administered.resolve('ask', undefined, ELSEWHERE)).toBe('msg:seer');
    expect(await resolve(HERE, 'gen:chat-small')).toBe('gen:chat-small');
    expect(await administered.resolve('song', undefined, HERE)).toBe('V5');
  });

  test('a thread reads and changes the choice of its channel', async () => {
    await mod.models.choose('ask', 'chat-large', 'channel');
    expect(await administered.resolve('ask', undefined, THREAD)).toBe('chat-large');
    await administered.moderation(THREAD, MOD).models.choose('ask', 'seer', 'channel');
    expect(await resolve()).toBe('seer');
  });

  test('other servers and platforms are not affected', async () => {
    await mod.models.choose('ask', 'chat-large', 'server');
    for (const where of [
      { ...HERE, guild: 'another' },
      { ...HERE, platform: 'slack' },
      { platform: 'discord', channel: 'channel', person: 'ada' },
    ]) {
      expect(await administered.resolve('ask', undefined, where)).toBe('chat:chat-small');
    }
  });

  test('show lists the models in force and why', async () => {
    expect(await inForce()).toEqual({
      family: 'ask',
      model: 'chat:chat-small',
      from: 'deployment',
      unavailable: [],
    });
    await mod.models.choose('ask', 'chat-large', 'server');
    expect(await inForce()).toMatchObject({ from: 'server', chosenBy: { displayName: 'Mod' } });
    await mod.models.choose('ask', 'seer', 'channel');
    expect(await inForce()).toMatchObject({ model: 'seer', from: 'channel' });
    expect((await administered.modelsInForce(HERE)).find(({ family }) => family === 'video')).toEqual({
      family: 'video',
      from: 'none',
      unavailable: [],
    });
  });

  test('resetting a choice applies the next one', async () => {
    await mod.models.choose('ask', 'chat-large', 'server');
    await mod.models.choose('ask', 'seer', 'channel');
    expect(await mod.reset('ask', 'channel')).toBe(true);
    expect(await resolve()).toBe('chat-large');
    expect(await mod.reset('ask', 'channel')).toBe(false);
  });
});

test('a model that the operator configured may be named, even if the gateway does not list it', async () => {
  const configured = administer({ ...(await memoryStorage()), configured: ['thinker-preview'] });
  configured.list.offer(['chat-small']);
  expect(await configured.resolve('ask', 'gen:thinker-preview', HERE)).toBe('gen:thinker-preview');
  await expect(configured.resolve('ask', 'gen:thinker', HERE)).rejects.toThrow("isn't available");
});

describe('choosing', () => {
  test('an unavailable id is refused with similar ones, and nothing changes', async () => {
    await expect(mod.models.choose('ask', 'chat-smalll', 'channel')).rejects.toThrow(
      "The model “chat-smalll” isn't available. Did you mean “chat-small” or “chat-large”?",
    );
    expect(await inForce()).toMatchObject({ from: 'deployment' });
  });

  test('a display name resolves to its id, even after a route', async () => {
    expect(await mod.models.choose('ask', 'chat large', 'channel')).toMatchObject({
      model: 'chat-large',
      label: 'chat large',
      checked: true,
    });
    expect(await mod.models.choose('ask', 'msg:Chat Large', 'channel')).toMatchObject({
      model: 'msg:chat-large',
    });
    expect(await resolve()).toBe('msg:chat-large');
  });

  test('a route that the family does not have is part of the name, and refused', async () => {
    await expect(mod.models.choose('video', 'msg:seer', 'channel')).rejects.toThrow('The model “msg:seer”');
    await expect(mod.models.choose('image', 'chat:seer', 'channel')).rejects.toThrow("isn't available");
    expect(await mod.models.choose('image', 'gen:seer', 'channel')).toMatchObject({ model: 'gen:seer' });
  });

  test('song models are those of the contract, or newer ones', async () => {
    expect(await mod.models.choose('song', 'v4_5', 'server')).toMatchObject({ model: 'V4_5' });
    for (const name of ['V3_5', 'V4_6', 'V45', 'chirp-v5'])
      await expect(mod.models.choose('song', name, 'server')).rejects.toThrow('Choose one of these: V4');
    for (const name of ['V5_5', 'V5PLUS', 'V6', 'V10_5ALL'])
      expect(await mod.models.choose('song', name, 'server')).toMatchObject({ model: name });
  });

  test('accepts any name without a list, and reports that it was not checked', async () => {
    administered.list.offered = undefined;
    expect(await mod.models.choose('ask', 'brand-new', 'channel')).toMatchObject({ checked: false });
  });
});

describe('several models for questions', () => {
  test('are chosen in order, and each name is checked', async () => {
    expect(await mod.models.choose('ask', 'msg:Chat Large,seer , seer', 'channel')).toMatchObject({
      model: 'msg:chat-large, seer',
      checked: true,
    });
    expect(await resolve()).toBe('msg:chat-large, seer');
    expect(await inForce()).toMatchObject({
      model: 'msg:chat-large, seer',
      from: 'channel',
      unavailable: [],
    });
    await expect(mod.models.choose('ask', 'chat-large, chat-smalll', 'channel')).rejects.toThrow(
      "The model “chat-smalll” isn't available.",
    );
    await expect(mod.models.choose('ask', 'a,b,c,d,e,f', 'channel')).rejects.toThrow('up to 5 models');
    await expect(mod.models.choose('ask', ' , ', 'channel')).rejects.toThrow('up to 5 models');
    expect(await resolve()).toBe('msg:chat-large, seer');
  });

  test('are refused for other families, even without a list', async () => {
    administered.list.offered = undefined;
    for (const family of ['song', 'image', 'video'] as const)
      await expect(mod.models.choose(family, 'V5,V4', 'channel')).rejects.toThrow(
        'Only questions can have several models.',
      );
  });

  test('keep the remaining ones when one disappears', async () => {
    await mod.models.choose('ask', 'seer, chat-large', 'channel');
    administered.list.offer(['chat-small', 'chat-large']);
    expect(await resolve()).toBe('chat-large');
    expect(await inForce()).toMatchObject({
      model: 'chat-large',
      from: 'channel',
      unavailable: [{ model: 'seer', from: 'channel' }],
    });
    expect(administered.notifications).toMatchObject([
      {
        message: {
          text: expect.stringContaining("“seer”, is no longer available. I'm using “chat\\-large” instead"),
        },
      },
    ]);
    await resolve();
    expect(administered.notifications).toHaveLength(1);
    administered.list.offer(['chat-small']);
    expect(await resolve()).toBe('chat:chat-small');
  });

  test('can be the default of the operator', async () => {
    const defaults = { ask: 'msg:gone, chat-small, seer' };
    const configured = administer({ ...(await memoryStorage()), defaults });
    configured.list.offer(['chat-small', 'seer']);
    expect(await configured.resolve('ask', undefined, HERE)).toBe('chat-small, seer');
    expect((await configured.modelsInForce(HERE)).find(({ family }) => family === 'ask')).toMatchObject({
      model: 'chat-small, seer',
      from: 'deployment',
      unavailable: [{ model: 'msg:gone', from: 'deployment' }],
    });
    configured.list.offer(['other']);
    await expect(configured.resolve('ask', undefined, HERE)).rejects.toThrow('is no longer available');
  });
});

describe('a chosen model that disappears', () => {
  beforeEach(async () => {
    await mod.models.choose('ask', 'seer', 'server');
    await mod.models.choose('ask', 'msg:chat-large', 'channel');
    administered.list.offer(['chat-small', 'seer']);
  });

  test('falls back to the next choice, and notifies the moderator who chose it once', async () => {
    expect(await resolve()).toBe('seer');
    expect(await resolve()).toBe('seer');
    expect(administered.notifications).toHaveLength(1);
    expect(administered.notifications[0]?.address).toMatchObject({
      guild: 'guild',
      channel: 'channel',
      person: 'mod',
    });
    expect(administered.notifications[0]?.message.text).toMatch(/^The model for answers, “msg.*seer/);
    expect(administered.log.lines).toContainEqual(expect.objectContaining({ level: 'warn' }));
  });

  test('is reported with the name of its channel, because the notice may be a direct message', async () => {
    await administered.resolve('ask', undefined, { ...HERE, channelName: 'music' });
    expect(administered.notifications[0]?.message.text).toContain('The model for answers in #music, “msg');
  });

  test('many invocations at once send one notification', async () => {
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => resolve())))).toEqual(
      new Set(['seer']),
    );
    expect(administered.notifications).toHaveLength(1);
  });

  test('falls back to the deployment’s model when no choice is available, and show lists it', async () => {
    administered.list.offer(['chat-small']);
    expect(await resolve()).toBe('chat:chat-small');
    expect(administered.notifications).toHaveLength(2);
    expect(await inForce()).toEqual({
      family: 'ask',
      model: 'chat:chat-small',
      from: 'deployment',
      unavailable: [
        { model: 'msg:chat-large', from: 'channel' },
        { model: 'seer', from: 'server' },
      ],
    });
  });

  test('reports a missing default to requesters, and to moderators in show', async () => {
    administered = administer({ storage, clock: { now: () => 0 }, defaults: { ask: 'chat:retired-model' } });
    const fresh = { ...HERE, guild: 'fresh' };
    await expect(administered.resolve('ask', undefined, fresh)).rejects.toThrow(
      'The default model for answers, “chat:retired-model”, is no longer available.',
    );
    const [, ask] = await administered.modelsInForce(fresh);
    expect(ask).toEqual({
      family: 'ask',
      from: 'none',
      unavailable: [{ model: 'chat:retired-model', from: 'deployment' }],
    });
  });

  test('is used again when it returns, and a later loss is reported again', async () => {
    await resolve();
    administered.list.offer(['chat-small', 'seer', 'chat-large']);
    expect(await resolve()).toBe('msg:chat-large');
    await mod.models.choose('ask', 'chat-large', 'channel');
    administered.list.offer(['seer']);
    await resolve();
    expect(administered.notifications).toHaveLength(2);
  });

  test('refreshes an old list before notifying the moderator', async () => {
    administered.list.refresh = async () => {
      administered.list.offer(['chat-small', 'seer', 'chat-large']);
    };
    expect(await resolve()).toBe('msg:chat-large');
    expect(administered.notifications).toEqual([]);
  });

  test('a moderator who cannot be reached does not stop the command', async () => {
    const unreachable = administer({ storage, clock: { now: () => 0 } });
    unreachable.list.offer(['seer']);
    unreachable.notifications.push = () => {
      throw new TypeError('away');
    };
    expect(await unreachable.resolve('ask', undefined, HERE)).toBe('seer');
    expect(unreachable.log.lines.map(({ sentence }) => sentence)).toContain(
      'Could not notify anyone that a model is no longer available; /models show lists it',
    );
  });
});

test('answer settings of a channel override the server’s, and the server’s override the defaults', async () => {
  expect(await mod.inForce.answers()).toEqual({
    assistant: { on: false, from: 'deployment' },
    footer: { on: true, from: 'deployment' },
    talk: false,
  });
  await mod.answers.change({ systemPrompt: 'Be brief.', assistant: true }, 'server');
  await mod.answers.change({ systemPrompt: 'Speak like a pirate.', footer: false }, 'channel');
  expect(await mod.inForce.answers()).toEqual({
    systemPrompt: { text: 'Speak like a pirate.', from: 'channel' },
    assistant: { on: true, from: 'server' },
    footer: { on: false, from: 'channel' },
    talk: false,
  });
  expect(await mod.reset('prompt', 'channel')).toBe(true);
  expect((await mod.inForce.answers()).systemPrompt).toEqual({ text: 'Be brief.', from: 'server' });
});
