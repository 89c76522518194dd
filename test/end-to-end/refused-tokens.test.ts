import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLog } from '../../src/app/telemetry/log.ts';
import { type DiscordServer, startDiscord } from '../servers/discord/index.ts';
import { readableText } from '../servers/slack/mentions.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** A chat with wrong settings, and requests from strangers, do not affect the other chat. */
let discord: DiscordServer;
let slack: SlackServer;
let running: RunningMinstrel | undefined;
let lines: string[];

const DISCORD_TOKEN = 'YW5vdGhlci1ib3Q.GxYzAb.another-token-only-for-tests';
const SLACK_BOT_TOKEN = 'xoxb-0000000000-another';
const SLACK_APP_TOKEN = 'xapp-1-A0000000000-another';

beforeEach(async () => {
  discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  slack = await startSlackServer({ ackTimeoutMs: PATIENCE_MS });
  lines = [];
});

afterEach(async () => {
  await running?.[Symbol.asyncDispose]();
  running = undefined;
  await discord.close();
  await slack.close();
});

async function start(settings: Record<string, string>): Promise<void> {
  const environment = {
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_API_URL: slack.apiUrl,
    ...('SLACK_SIGNING_SECRET' in settings ? {} : { SLACK_APP_TOKEN: slack.appToken }),
    ...settings,
  };
  const log = createLog({ level: 'trace', write: (line) => lines.push(line), secrets: [] });
  running = await startMinstrel(environment, { writeTo: log });
}

const request = (path: string, init?: RequestInit) => fetch(`${running?.minstrel.url}${path}`, init);

async function readiness(): Promise<{ status: number; platforms: string }> {
  const response = await request('/readyz');
  const { parts } = (await response.json()) as { parts: { platforms: string } };
  return { status: response.status, platforms: parts.platforms };
}

const logged = (sentence: string) => lines.filter((line) => line.includes(sentence)).length;

async function discordAnswers(): Promise<void> {
  await discord.until(() => discord.commands.length > 0, 'registered commands');
  const interaction = discord.command({ name: 'ask', options: { question: 'What is 6 times 7?' } });
  await interaction.message((message) => JSON.stringify(message.embeds).includes('42'));
}

async function slackAnswers(): Promise<void> {
  await slack.slash('/ask', 'What is 6 times 7?');
  await slack.until(() => slack.workspace.messages.some((message) => readableText(message).includes('42')));
}

const ofSlack = (setting: string) => `Slack rejected ${setting} (invalid_auth). Set it to `;
const OF_DISCORD = 'Discord rejected the token. Press “Reset Token” ';

it.for([
  ['SLACK_BOT_TOKEN', { SLACK_BOT_TOKEN }],
  ['SLACK_APP_TOKEN', { SLACK_APP_TOKEN }],
] as const)('a wrong %s is reported, and Discord keeps working', async ([setting, settings]) => {
  await start(settings);
  const { status, platforms } = await readiness();
  expect([status, platforms]).toEqual([503, expect.stringContaining(`slack: ${ofSlack(setting)}`)]);
  expect(platforms).not.toContain('discord');
  await discordAnswers();
  expect(logged(ofSlack(setting))).toBe(1);
  expect(logged('stack')).toBe(0);
});

it('a wrong DISCORD_TOKEN is reported, and Slack keeps working', async () => {
  await start({ DISCORD_TOKEN });
  const { status, platforms } = await readiness();
  expect([status, platforms]).toEqual([503, expect.stringContaining(`discord: ${OF_DISCORD}`)]);
  expect(platforms).not.toContain('slack:');
  await slackAnswers();
  expect(logged(`Discord connection failed: ${OF_DISCORD}`)).toBeGreaterThan(0);
  expect(logged('stack')).toBe(0);
});

it('with wrong tokens for both chats, the process keeps running and names both', async () => {
  await start({ DISCORD_TOKEN, SLACK_BOT_TOKEN });
  const { status, platforms } = await readiness();
  expect(status).toBe(503);
  expect(platforms).toContain(OF_DISCORD);
  expect(platforms).toContain(ofSlack('SLACK_BOT_TOKEN'));
  expect((await request('/healthz')).status).toBe(200);
  expect(logged(OF_DISCORD)).toBeGreaterThan(0);
  expect(logged(ofSlack('SLACK_BOT_TOKEN'))).toBe(1);
  expect(logged('stack')).toBe(0);
});

it('a stranger’s requests to Slack’s routes are only logged', async () => {
  await start({ SLACK_SIGNING_SECRET: slack.signingSecret, PUBLIC_URL: 'https://minstrel.example' });
  for (let time = 0; time < 9; time += 1) {
    const response = await request('/slack/events', { method: 'POST', body: '{}' });
    expect(response.status).toBe(401);
  }
  expect(await readiness()).toEqual({ status: 200, platforms: 'ready' });
  expect(logged('SLACK_SIGNING_SECRET')).toBe(1);
  await discordAnswers();
});
