import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../src/app/telemetry/log.ts';
import { type Collector, startCollector } from '../servers/collector.ts';
import { type DiscordServer, startDiscord } from '../servers/discord/index.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** Logs and traces never contain people's text, whatever fails and however the gateway and the chats quote it. */
const SECRET = 'grandmother-letter';
const lines: string[] = [];
const log = createLog({ level: 'trace', write: (line) => lines.push(line), secrets: [] });
let discord: DiscordServer;
let slack: SlackServer;
let collector: Collector;
let running: RunningMinstrel;
let requests = 0;

/** Quotes the request in every way a gateway can. */
const gateway = createServer(async (request: IncomingMessage, response) => {
  const body = await text(request);
  requests += 1;
  const quotation = `you asked for ${body.slice(0, 2000)} ${SECRET}`;
  const answers = [
    () =>
      response
        .writeHead(400)
        .end(JSON.stringify({ code: 400, msg: quotation, error: { message: quotation } })),
    () =>
      response.writeHead(200).end(JSON.stringify({ code: 430, msg: quotation, data: { answer: SECRET } })),
    () => response.writeHead(200).end(`{"answer": "${SECRET}`),
    () => response.writeHead(500).end(`<html>${quotation}</html>`),
    () =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(`data: {"choices":[{"index":0,"delta":{"content":"${SECRET}"}}]}\n\ndata: {"${SECRET}\n\n`),
  ];
  answers[requests % answers.length]?.();
});

beforeAll(async () => {
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  slack = await startSlackServer({ ackTimeoutMs: PATIENCE_MS });
  collector = await startCollector();
  running = await startMinstrel(
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      GATEWAY_BASE_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.apiUrl,
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_URL: slack.apiUrl,
    },
    { writeTo: log },
  );
  await discord.until(() => discord.commands.length > 0, 'registered commands');
});
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await discord?.close();
  await slack?.close();
  await collector?.[Symbol.asyncDispose]();
  gateway.close();
});

const COMMANDS: readonly (readonly [name: string, options: Record<string, string>])[] = [
  ['song', { prompt: SECRET, title: SECRET, style: SECRET, lyrics: SECRET }],
  ['lyrics', { topic: SECRET }],
  ['image', { prompt: SECRET, avoid: SECRET }],
  ['image', { prompt: SECRET, model: SECRET }],
  ['video', { prompt: SECRET }],
  ['ask', { question: SECRET }],
  ['ask', { question: SECRET, model: `msg:${SECRET}` }],
  ['ask', { question: SECRET, model: `gen:${SECRET}` }],
];
const logged = (sentence: string) => lines.filter((line) => line.includes(sentence)).length;

it('logs and traces never contain people’s text', async () => {
  for (const [name, options] of COMMANDS) {
    discord.command({ name, options });
    const typed = Object.entries(options).map(([option, value]) => `--${option}="${value}"`);
    await slack.slash(`/${name}`, typed.join(' '));
  }
  discord.mention({ text: SECRET });
  await slack.mention(SECRET, {
    files: [slack.upload(`${SECRET}.png`, Buffer.from(SECRET), { mimetype: 'image/png' })],
  });
  await expect
    .poll(() => logged('Submission to the gateway failed'), { timeout: PATIENCE_MS })
    .toBeGreaterThan(5);
  await expect.poll(() => logged('No answer received'), { timeout: PATIENCE_MS }).toBeGreaterThan(2);

  // Posts fail too: the body of each refused request contains the text.
  discord.faults.fail(400, { times: 50, path: /^(POST|PATCH)/ });
  slack.faults.every(1, 'chat.postMessage', { type: 'error', error: 'invalid_blocks' });
  slack.faults.every(2, '*', { type: 'nonsense' });
  discord.mention({ text: SECRET });
  for (const [name, options] of COMMANDS) discord.command({ name, options });
  await slack.mention(SECRET);
  await expect.poll(() => logged('"name":"DiscordAPIError'), { timeout: PATIENCE_MS }).toBeGreaterThan(3);
  await expect.poll(() => logged('Slack'), { timeout: PATIENCE_MS }).toBeGreaterThan(1);

  // Pending retries do not delay the shutdown.
  discord.faults.clear();
  slack.faults.clear();
  await running.minstrel.stop();
  expect(lines.filter((line) => line.includes(SECRET))).toEqual([]);
  expect(collector.refused).toEqual([]);
  expect(collector.spans.filter(({ isFailed }) => isFailed).length).toBeGreaterThan(5);
  expect(collector.bodies.filter((body) => body.includes(SECRET))).toEqual([]);
});
