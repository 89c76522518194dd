import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Message } from '../../../src/core/message.ts';
import { gatewayError } from '../../jobs/scripted-gateway.ts';
import { BOB, labelsOf, openStudio, type Studio } from './world.ts';

/** The gateway charges for every request, so existing results of a take are reused. */
let studio: Studio;
let song: Message;

beforeEach(async () => {
  studio = await openStudio();
  studio.world.gateway.words.push({ word: 'Rain ', startSeconds: 1, endSeconds: 2 });
  song = await studio.finish(await studio.ask('song', { prompt: 'rain' }));
});
afterEach(() => studio[Symbol.asyncDispose]());

const requestCount = () => studio.world.gateway.taken.length;

function privateMessage(outcome: Awaited<ReturnType<Studio['ask']>>): Message {
  if (outcome.type !== 'message') throw new Error(`Not a message: ${JSON.stringify(outcome)}`);
  expect(outcome.visibility).toBe('person');
  return outcome.message;
}

test.each(['WAV take 1', 'Music video take 1', 'Karaoke take 1'])('%s is reused', async (label) => {
  await studio.finish(await studio.press(song, label));
  const before = requestCount();
  const message = privateMessage(await studio.press(song, label, { person: BOB }));
  expect(message.text).toMatch(/^This already existed, so nothing was spent\./);
  expect(message.media).toMatchObject([{ source: { type: 'stored' } }]);
  expect(requestCount()).toBe(before);
  // The other take has no result yet.
  expect(await studio.press(song, label.replace('1', '2'))).toMatchObject({ type: 'accepted' });
});

test('Stems are reused per split, by the button and the command', async () => {
  await studio.finish(await studio.fill(song, 'Stems take 1', { split: 'separate_vocal' }));
  const before = requestCount();
  expect(privateMessage(await studio.fill(song, 'Stems take 1')).media).toHaveLength(2);
  expect(privateMessage(await studio.ask('stems', { split: 'vocals' })).title).toBe('Stems of Rain, take 1');
  expect(requestCount()).toBe(before);
  expect(await studio.fill(song, 'Stems take 1', { split: 'split_stem' })).toMatchObject({
    type: 'accepted',
  });
});

test('a second press during the work reports that it is in progress', async () => {
  const [first, second] = await Promise.all([
    studio.press(song, 'WAV take 1'),
    studio.press(song, 'WAV take 1', { person: BOB }),
  ]);
  expect([first, second].map(({ type }) => type).sort()).toEqual(['accepted', 'message']);
  expect(privateMessage(first.type === 'message' ? first : second).text).toContain('already in progress');
});

test('cancelled work can be requested again, even before the gateway has answered', async () => {
  const { world } = studio;
  const accepted = await studio.press(song, 'WAV take 1');
  if (accepted.type !== 'accepted') throw new Error(`Not accepted: ${JSON.stringify(accepted)}`);
  await world.storage.jobs.replace({ ...(await world.read(accepted.job)), state: 'ready', end: 'cancelled' });
  expect(await studio.press(song, 'WAV take 1')).toMatchObject({ type: 'accepted' });
});

test('a repeated event is accepted once, without a message that the result exists', async () => {
  const press = () => studio.press(song, 'WAV take 1', { id: 'the same' });
  expect([await press(), await press()].map(({ type }) => type)).toEqual(['accepted', 'accepted']);
});

test('work can be requested again after a failure, and after the result was deleted', async () => {
  studio.world.gateway.replies.push(gatewayError('blocked'));
  const failed = await studio.finish(await studio.press(song, 'WAV take 1'));
  expect(labelsOf(failed)).toContain('Again');
  await studio.finish(await studio.press(song, 'WAV take 1'));
  const { stat } = studio.world.dependencies.media;
  Object.assign(studio.world.dependencies.media, { stat: async () => undefined });
  expect(await studio.press(song, 'WAV take 1')).toMatchObject({ type: 'accepted' });
  Object.assign(studio.world.dependencies.media, { stat });
});

test('links to the existing message if the platform has links', async () => {
  Object.assign(studio.world.platform, { linkTo: async () => 'https://chat.example/message' });
  await studio.finish(await studio.press(song, 'WAV take 1'));
  expect(privateMessage(await studio.press(song, 'WAV take 1')).actions).toEqual([
    { type: 'link', url: 'https://chat.example/message', label: 'Open message' },
  ]);
});
