import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DiscordServer, startDiscord } from '../servers/discord/index.ts';
import { freePort } from '../servers/free-port.ts';
import { PROGRAM_ENVIRONMENT, PROJECT, whileRuns } from '../servers/program.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import { PATIENCE_MS } from './minstrel.ts';

const LONGEST_STEP = new URL('./longest-step.ts', import.meta.url).href;

/** Runs the bot in a separate process and watches its main thread during hostile answers of 200 kB. */
const ANSWERS: Readonly<Record<string, string>> = {
  plain: 'Some **bold** words.\n\n'.repeat(400),
  lists: '- '.repeat(100_000),
  brackets: '['.repeat(200_000),
  stars: `${'*a '.repeat(33_000)}${'b*'.repeat(50_000)}`,
};
/** CPU time in milliseconds, so that other load does not matter. */
const MOST_AT_ONCE = 50;

let discord: DiscordServer;
let slack: SlackServer;
let gateway: Server;
let directory: string;
let listener: number;
let bot: ChildProcess;
let output = '';

beforeAll(async () => {
  discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  slack = await startSlackServer({ ackTimeoutMs: PATIENCE_MS });
  gateway = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.url?.endsWith('/models')) return void response.end(JSON.stringify({ data: [{ id: 'm' }] }));
    const [, text = ''] = Object.entries(ANSWERS).find(([name]) => body.includes(`of ${name}`)) ?? [];
    response.setHeader('content-type', 'text/event-stream');
    const write = (choice: object) => response.write(`data: ${JSON.stringify({ choices: [choice] })}\n\n`);
    for (let at = 0; at < text.length; at += 2_000)
      write({ index: 0, delta: { content: text.slice(at, at + 2_000) } });
    write({ index: 0, delta: {}, finish_reason: 'stop' });
    response.end('data: [DONE]\n\n');
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  // Sound: a TCP server that listens has an AddressInfo.
  const { port } = gateway.address() as AddressInfo;
  listener = await freePort();
  directory = await mkdtemp(join(tmpdir(), 'minstrel-huge-'));
  bot = spawn(process.execPath, ['--import', LONGEST_STEP, 'src/main.ts'], {
    cwd: PROJECT,
    env: {
      ...PROGRAM_ENVIRONMENT,
      PORT: String(listener),
      DATA_DIR: directory,
      GATEWAY_BASE_URL: `http://127.0.0.1:${port}`,
      GATEWAY_API_KEY: 'key',
      ASK_MODEL: 'chat:m',
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.apiUrl,
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_URL: slack.apiUrl,
      MEDIA_ALLOWED_HOSTS: [discord.origin, slack.apiUrl].map((url) => new URL(url).host).join(','),
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  bot.stdout?.on('data', (chunk) => (output += chunk));
  await whileRuns(
    bot,
    discord.until(() => discord.commands.length > 0, 'registered commands'),
  );
});
afterAll(async () => {
  bot?.kill('SIGKILL');
  gateway?.close();
  await slack?.close();
  await discord?.close();
  await rm(directory, { recursive: true, force: true });
});

async function isReady(): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${listener}/readyz`).catch(() => undefined);
  return response?.ok === true;
}

const CHATS = {
  async Discord(question: string) {
    const handle = discord.command({ name: 'ask', options: { question } });
    await handle.message((message) => JSON.stringify(message.components).includes('Again'));
  },
  async Slack(question: string) {
    const answers = () =>
      slack.botMessages('C0MUSIC').filter(({ blocks }) => JSON.stringify(blocks).includes('Again')).length;
    const before = answers();
    await slack.slash('/ask', question, { user: 'U0ADA' });
    await slack.until(() => answers() > before);
  },
};

/** Returns the longest step since the last call, in milliseconds. */
async function longestStep(): Promise<number> {
  const before = output.length;
  bot.kill('SIGUSR2');
  await expect.poll(() => output.slice(before)).toMatch(/longest step: .*\n/);
  return Number(/longest step: ([\d.]+)/.exec(output.slice(before))?.[1]);
}

it.each(Object.entries(CHATS))(
  'an answer of 200 kB blocks the event loop for at most 50 ms on %s',
  async (_, ask) => {
    await expect.poll(isReady).toBe(true);
    // The first run compiles code.
    await ask('Tell me of plain words');
    for (const name of Object.keys(ANSWERS)) {
      await longestStep();
      await ask(`Tell me of ${name}`);
      expect(await longestStep(), name).toBeLessThan(MOST_AT_ONCE);
    }
  },
);
