import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { type Collector, type SpanTree, startCollector } from '../servers/collector.ts';
import { type DiscordServer, startDiscord } from '../servers/discord/index.ts';
import { freePort } from '../servers/free-port.ts';
import { PROGRAM_ENVIRONMENT, PROJECT, whileRuns } from '../servers/program.ts';
import { noRedis, startRedisServer } from '../servers/redis.ts';
import { PATIENCE_MS, startMinstrel } from './minstrel.ts';

const PROBE = new URL('../servers/loaded-modules.ts', import.meta.url).href;

/** Traces of the bot in a separate process. */
let discord: DiscordServer;
let emulator: Emulator;
let collector: Collector;
let directory: string;
let bot: ChildProcess | undefined;
let environment: Record<string, string>;

beforeEach(async () => {
  discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  collector = await startCollector();
  emulator = await startEmulator({
    speed: 0,
    songSeconds: 3,
    studio: createSampleStudio(),
    fetch: fetchPatiently,
    callbackTimeoutSeconds: 600,
  });
  directory = await mkdtemp(join(tmpdir(), 'minstrel-traces-'));
  environment = {
    DATA_DIR: directory,
    GATEWAY_BASE_URL: emulator.url,
    GATEWAY_API_KEY: emulator.apiKey,
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    MEDIA_ALLOWED_HOSTS: [new URL(emulator.url).host, new URL(discord.origin).host].join(','),
  };
});

afterEach(async () => {
  await kill();
  await emulator.close();
  await collector[Symbol.asyncDispose]();
  await discord.close();
  await rm(directory, { recursive: true, force: true });
});

/** Retries callbacks until the bot has started. It answers 503 before. */
async function fetchPatiently(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  for (;;) {
    try {
      const response = await fetch(input, init);
      if (response.status !== 503) return response;
    } catch (error) {
      if (init?.signal?.aborted) throw error;
    }
    await sleep(50);
  }
}

async function start(more: Record<string, string>): Promise<ChildProcess> {
  const started = spawn(process.execPath, ['--import', PROBE, 'src/main.ts'], {
    cwd: PROJECT,
    env: { ...PROGRAM_ENVIRONMENT, PORT: String(await freePort()), ...environment, ...more },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  bot = started;
  const isUp = () => discord.gateway.connected > 0 && discord.commands.length > 0;
  await whileRuns(started, discord.until(isUp, 'registered commands'));
  return started;
}

async function kill(): Promise<void> {
  const child = bot;
  bot = undefined;
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  await discord.until(() => discord.gateway.connected === 0, 'the end of its connection');
}

function spansIn({ span, children }: SpanTree): SpanTree['span'][] {
  return [span, ...children.flatMap(spansIn)];
}

/** One process requests a song and is killed; another receives the callback and delivers it. */
async function handOver(shared: Record<string, string>): Promise<void> {
  const port = String(await freePort());
  const traced = {
    ...shared,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '20',
    // Nothing listens there until the second process starts.
    PUBLIC_URL: `http://127.0.0.1:${port}`,
  };
  await start(traced);
  const interaction = discord.command({ name: 'song', options: { prompt: 'for grandmother' } });
  const command = await collector.until((spans) => {
    const names = spans.map(({ name }) => name);
    const isSent = names.includes('gateway music/generate') && names.includes('step accepted');
    return isSent && spans.find(({ name }) => name === 'command song');
  });
  await kill();
  {
    await using _other = await startMinstrel({ ...environment, ...traced, PORT: port }, { emulator });
    await interaction.message(({ attachments }) => attachments.length >= 2);
    await collector.until((spans) =>
      spans.some(({ attributes }) => attributes['minstrel.state.after'] === 'delivered'),
    );
  }
  const [tree, ...rest] = collector.trees().filter(({ span }) => span.traceId === command.traceId);
  expect(rest).toEqual([]);
  expect(tree?.span.name).toBe('command song');
  const spans = tree ? spansIn(tree) : [];
  const by = (name: string) =>
    new Set(spans.filter((span) => span.name === name).map((span) => span.process));
  const [first, second] = [by('command song'), by('step waiting')];
  expect([by('gateway music/generate'), by('step accepted')]).toEqual([first, first]);
  expect(first).not.toEqual(second);
  expect(inspect(spans, { depth: null })).not.toContain('grandmother');
  expect(collector.refused).toEqual([]);
}

it('one trace covers a song across a restart', () => handOver({}));

describe.skipIf(noRedis)('on Redis', () => {
  it('one trace covers a song across replicas', async () => {
    const redis = await startRedisServer();
    try {
      await handOver({ REDIS_URL: redis.url });
    } finally {
      await redis.dispose();
    }
  });
});

it('does not load OpenTelemetry without a collector', async () => {
  const process = await start({});
  const loadedModules = once(process, 'message');
  process.send('loaded?');
  const urls = z.array(z.string()).parse((await loadedModules)[0]);
  expect(urls.some((url) => url.endsWith('/src/app/assemble.ts'))).toBe(true);
  expect(urls.filter((url) => /opentelemetry|telemetry\/traces\.ts/.test(url))).toEqual([]);
});
