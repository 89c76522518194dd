import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Message } from '../../../src/core/message.ts';
import { gatewayError } from '../../jobs/scripted-gateway.ts';
import { BOB, labelsOf, openStudio, type Studio } from './world.ts';

/** What the gateway makes once of a take, and charges each time that it is asked for. */
let studio: Studio;
let song: Message;

beforeEach(async () => {
  studio = await openStudio();
  studio.world.gateway.words.push({ word: 'Rain ', startSeconds: 1, endSeconds: 2 });
  song = await studio.finish(await studio.ask('song', { prompt: 'rain' }));
});
afterEach(() => studio[Symbol.asyncDispose]());

const bought = () => studio.world.gateway.taken.length;

function told(outcome: Awaited<ReturnType<Studio['ask']>>): Message {
  if (outcome.type !== 'message') throw new Error(`Not told: ${JSON.stringify(outcome)}`);
  expect(outcome.visibility).toBe('person');
  return outcome.message;
}

test.each(['WAV take 1', 'Music video take 1', 'Karaoke take 1'])('%s', async (label) => {
  await studio.finish(await studio.press(song, label));
  const before = bought();
  const message = told(await studio.press(song, label, { person: BOB }));
  expect(message.text).toMatch(/^This already exists, so nothing was spent\./);
  expect(message.media).toMatchObject([{ source: { type: 'kept' } }]);
  expect(bought()).toBe(before);
  // The other take has its own.
  expect(await studio.press(song, label.replace('1', '2'))).toMatchObject({ type: 'accepted' });
});

test('Stems, of each split, from the button and from the command', async () => {
  await studio.finish(await studio.fill(song, 'Stems take 1', { split: 'separate_vocal' }));
  const before = bought();
  expect(told(await studio.fill(song, 'Stems take 1')).media).toHaveLength(2);
  expect(told(await studio.ask('stems', { split: 'vocals' })).title).toBe('Stems of Rain, take 1');
  expect(bought()).toBe(before);
  expect(await studio.fill(song, 'Stems take 1', { split: 'split_stem' })).toMatchObject({
    type: 'accepted',
  });
});

test('while it is being made, others hear that; two who press at once get one', async () => {
  const [one, other] = await Promise.all([
    studio.press(song, 'WAV take 1'),
    studio.press(song, 'WAV take 1', { person: BOB }),
  ]);
  expect([one, other].map(({ type }) => type).sort()).toEqual(['accepted', 'message']);
  expect(told(one.type === 'message' ? one : other).text).toContain('already in progress');
});

test('what was cancelled can be asked for again, also before the gateway has answered', async () => {
  const { world } = studio;
  const asked = await studio.press(song, 'WAV take 1');
  if (asked.type !== 'accepted') throw new Error(`Not accepted: ${JSON.stringify(asked)}`);
  await world.storage.jobs.replace({ ...(await world.read(asked.job)), state: 'ready', end: 'cancelled' });
  expect(await studio.press(song, 'WAV take 1')).toMatchObject({ type: 'accepted' });
});

test('the same event that comes twice makes one, and is not told that it exists', async () => {
  const press = () => studio.press(song, 'WAV take 1', { id: 'the same' });
  expect([await press(), await press()].map(({ type }) => type)).toEqual(['accepted', 'accepted']);
});

test('after a failure it can be asked for again, and so when nothing is left of it', async () => {
  studio.world.gateway.replies.push(gatewayError('blocked'));
  const failed = await studio.finish(await studio.press(song, 'WAV take 1'));
  expect(labelsOf(failed)).toContain('Again');
  await studio.finish(await studio.press(song, 'WAV take 1'));
  const { stat } = studio.world.dependencies.media;
  Object.assign(studio.world.dependencies.media, { stat: async () => undefined });
  expect(await studio.press(song, 'WAV take 1')).toMatchObject({ type: 'accepted' });
  Object.assign(studio.world.dependencies.media, { stat });
});

test('the message of what was made is linked to, where the platform can', async () => {
  Object.assign(studio.world.platform, { linkTo: async () => 'https://chat.example/message' });
  await studio.finish(await studio.press(song, 'WAV take 1'));
  expect(told(await studio.press(song, 'WAV take 1')).actions).toEqual([
    { type: 'link', url: 'https://chat.example/message', label: 'Open message' },
  ]);
});
