import { afterAll, beforeAll, expect, it } from 'vitest';
import { wavOf } from '../fixtures/media-samples.ts';
import { labelsOf } from '../servers/discord/index.ts';
import { readableText } from '../servers/slack/mentions.ts';
import { type BothChats, startOnBothChats } from './both-chats.ts';

/** Songs from hummed recordings, through the message menus of both chats. */
let world: BothChats;

const MENU = 'Make a song from audio';
const NO_RECORDING = 'This message has no recording.';
const hummed = wavOf({ seconds: 6 });

beforeAll(async () => {
  world = await startOnBothChats(({ discord }) => ({ MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host }));
});
afterAll(() => world?.[Symbol.asyncDispose]());

it('creates a song from a recording on Discord', async () => {
  const { discord } = world;
  const voice = { filename: 'voice-message.wav', contentType: 'audio/wav', bytes: hummed };
  const message = discord.say({ text: '', files: [voice] });
  const menu = discord.contextMenu({ name: MENU, message });
  const modal = JSON.stringify(await menu.modal());
  expect(modal).toContain('“voice-message.wav” will be used');
  const submission = await discord.submitModal(menu, { mode: 'cover', style: 'brass band' });
  const song = await submission.message((posted) => labelsOf(posted).includes('Again'));
  expect(JSON.stringify(song)).toContain('voice-message');
  expect(discord.refused).toEqual([]);
});

it('refuses a message without a recording on Discord', async () => {
  const { discord } = world;
  const message = discord.say({ text: 'la la la' });
  const reply = await discord.contextMenu({ name: MENU, message }).response();
  expect(reply.content).toContain(NO_RECORDING);
});

it('does not start if the message was deleted before the form was sent, on Discord', async () => {
  const { discord, running } = world;
  const voice = { filename: 'voice-message.wav', contentType: 'audio/wav', bytes: hummed };
  const message = discord.say({ text: '', files: [voice] });
  const menu = discord.contextMenu({ name: MENU, message });
  await menu.modal();
  discord.remove(message);
  const sent = running.emulator.requests.length;
  const reply = await (await discord.submitModal(menu, { mode: 'cover', style: 'brass band' })).response();
  expect(reply.content).toContain('That message was deleted');
  expect(discord.refused.splice(0)).toMatchObject([{ code: 10_008 }]);
  expect(running.emulator.requests.slice(sent)).toEqual([]);
});

it('creates a song from a recording on Slack', async () => {
  const { slack } = world;
  const clip = slack.upload('audio_message.wav', hummed, { mimetype: 'audio/wav' });

  const { message } = await slack.say('', { files: [clip] });
  await slack.messageShortcut('message-menu:remix', message);
  const form = await slack.until(() => slack.openView('U0ADA'));
  await slack.submitView(form, { mode: 'cover', style: 'brass band' });
  const song = await slack.until(() =>
    slack.botMessages('C0MUSIC').find(({ blocks }) => JSON.stringify(blocks).includes('Again')),
  );
  expect(readableText(song)).toContain('audio_message');
  expect(slack.refused).toEqual([]);
});

it('refuses a message without a recording on Slack', async () => {
  const { slack } = world;
  const { message } = await slack.say('la la la');
  await slack.messageShortcut('message-menu:remix', message);
  const reply = await slack.until(() => slack.ephemeralsOf('U0ADA')[0]);
  expect(readableText(reply)).toContain(NO_RECORDING);
});
