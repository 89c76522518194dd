import { afterAll, beforeAll, expect, it } from 'vitest';
import { readableText } from '../servers/slack/mentions.ts';
import { type BothChats, startOnBothChats } from './both-chats.ts';

/** Schedules through the real discord.js and Bolt, with real time. */
let world: BothChats;

beforeAll(async () => {
  world = await startOnBothChats(() => ({}));
});
afterAll(() => world?.[Symbol.asyncDispose]());

it('posts a scheduled image on Discord without a command', async () => {
  const { discord } = world;
  const options = { what: 'image', when: 'in 2 seconds', prompt: 'a fox at dawn' };
  const reply = await discord.command({ name: 'schedule add', options }).response();
  expect(reply.embeds[0]?.title).toBe('Scheduled');
  const posted = await discord.until(
    () => discord.messages().find(({ attachments }) => attachments.length > 0),
    'the image',
  );
  expect(JSON.stringify(posted)).toContain('a fox at dawn');
  expect(discord.refused).toEqual([]);
});

it('posts a scheduled answer on Slack without a command', async () => {
  const { slack } = world;
  await slack.slash('/schedule', 'add ask --when in 2 seconds --prompt Write a haiku about rain');
  const posted = await slack.until(() =>
    slack.botMessages('C0MUSIC').find((message) => readableText(message).includes('haiku')),
  );
  await slack.until(() => JSON.stringify(posted.blocks).includes('Again'));
  expect(slack.refused).toEqual([]);
});

it('opens a form on Slack', async () => {
  const { slack } = world;
  await slack.slash('/schedule', 'add');
  const form = await slack.until(() => slack.openView('U0ADA'));
  expect(JSON.stringify(form)).toContain('every friday at 17:00');
});

it('completes times and time zones on Discord', async () => {
  const { discord } = world;
  const times = await discord.autocomplete({ name: 'schedule add', option: 'when', typed: 'every f' });
  expect(times.map(({ value }) => value)).toEqual(['every friday at 17:00']);
  const zones = await discord.autocomplete({ name: 'schedule zone', option: 'zone', typed: 'new york' });
  expect(zones.map(({ value }) => value)).toEqual(['America/New_York']);
});
