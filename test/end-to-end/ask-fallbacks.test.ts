import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { json, type Upstream } from '../jobs/ask/upstream.ts';
import type { DiscordServer } from '../servers/discord/index.ts';
import { readableText } from '../servers/slack/mentions.ts';
import type { SlackServer } from '../servers/slack/server.ts';
import { startOnUpstream } from './both-chats.ts';

/** Several models for questions, on both chats. */
const CHAT = '/chat/completions';
const BOB = 'U0BOB';
let world: Awaited<ReturnType<typeof startOnUpstream>>;
let discord: DiscordServer;
let slack: SlackServer;
let upstream: Upstream;

beforeAll(async () => {
  world = await startOnUpstream({
    ASK_MODEL: 'chat:chat-small,msg:scribe-large',
    USAGE_COSTS: 'ask:chat-small=1, ask:scribe-large=5',
  });
  ({ discord, slack, upstream } = world);
});

afterEach(() => {
  expect(discord.refused).toEqual([]);
  expect(slack.refused).toEqual([]);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

const overloaded = json({ error: { type: 'overloaded_error', message: 'Overloaded' } }, 529);

describe('a question whose model is overloaded', () => {
  it('is answered by the next one on Discord, and counted at its price', async () => {
    upstream.next(CHAT, overloaded);
    const question = discord.command({ name: 'ask', options: { question: 'What is 6 times 7?' } });
    const message = await question.message(({ components }) => JSON.stringify(components).includes('Again'));
    const text = JSON.stringify(message.embeds) + message.content + JSON.stringify(message.components);
    expect(text).toContain('scribe-large (instead of chat-small)');
    await expect
      .poll(async () => JSON.stringify(await discord.command({ name: 'minstrel usage' }).response()))
      .toContain('5 units');
  });

  it('is answered by the next one on Slack', async () => {
    upstream.next(CHAT, overloaded);
    await slack.slash('/ask', 'What is 6 times 7?');
    const message = await slack.until(() =>
      slack.botMessages('C0MUSIC').find(({ blocks }) => JSON.stringify(blocks).includes('Again')),
    );
    expect(readableText(message)).toContain('scribe-large (instead of chat-small)');
  });
});

describe('moderators', () => {
  it('choose several models on Discord, with suggestions after each comma', async () => {
    const set = { family: 'ask', model: 'gen:facet-text, scribe-large' };
    const reply = await discord.command({ name: 'models set', options: set, moderator: true }).response();
    const choices = await discord.autocomplete({
      name: 'models set',
      option: 'model',
      typed: 'gen:facet-text, scribe',
      options: { family: 'ask' },
      moderator: true,
    });
    expect(choices).toContainEqual({
      name: 'gen:facet-text, msg:scribe-large',
      value: 'gen:facet-text, msg:scribe-large',
    });
    expect(JSON.stringify(reply)).toContain("If one can't answer, I ask the next.");
    const shown = await discord.command({ name: 'models show', moderator: true }).response();
    expect(JSON.stringify(shown)).toMatch(/gen:facet.{0,3}text, msg:scribe.{0,3}large \(this channel/);
    upstream.next('facet-text', json({ error: { code: 404, message: 'gone', status: 'NOT_FOUND' } }, 404));
    const question = discord.command({ name: 'ask', options: { question: 'What is 2 times 3?' } });
    const message = await question.message(({ components }) => JSON.stringify(components).includes('Again'));
    expect(JSON.stringify([message.embeds, message.components, message.content])).toContain(
      'scribe-large (instead of facet-text)',
    );
  });

  it('choose several models on Slack', async () => {
    const privately = async (text: string) => {
      const before = slack.ephemeralsOf(BOB).length;
      await slack.slash('/models', text, { user: BOB });
      await slack.until(() => slack.ephemeralsOf(BOB).length > before);
      return slack.ephemeralsOf(BOB).slice(before).map(readableText).join('\n');
    };
    expect(await privately('set ask chat-small,scribe-largo channel')).toContain('Did you mean');
    expect(await privately('set ask scribe-large,chat-small channel')).toContain(
      "If one can't answer, I ask the next.",
    );
    expect(await privately('show')).toContain('msg:scribe-large, chat-small (this channel');
  });
});
