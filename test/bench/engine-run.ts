/** One candidate of P8: songs from acceptance to delivery, or BullMQ's own steps, and the CPU that each costs. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedError } from 'bullmq';
import { z } from 'zod';
import { commands } from '../../commands/index.ts';
import type { Gateway } from '../../src/gateway/client.ts';
import { createJobs, type Jobs } from '../../src/jobs/jobs.ts';
import type { Platform } from '../../src/platforms/platform.ts';
import { createDecisionStore } from '../../src/settings/decisions.ts';
import { createMeter, familyOf } from '../../src/settings/limits/limits.ts';
import { createVoices } from '../../src/settings/voices.ts';
import { openRedisStorage } from '../../src/storage/redis/redis.ts';
import { systemClock } from '../../src/storage/schedule.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/sqlite.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { RecordingPlatform } from '../jobs/recording-platform.ts';
import { ScriptedGateway } from '../jobs/scripted-gateway.ts';
import { SONG, songCallback } from '../jobs/world.ts';
import { PATIENT } from '../servers/redis.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { openBullmq } from './bullmq.ts';
import { bullmqKept, plainSqlite } from './engine-limits.ts';
import { cpuSeconds } from './measure.ts';
import { programInput, tell } from './program.ts';

const AT_ONCE = 50;
/** Compiled before it counts: a bot runs for weeks. */
const WARM_UP = 2_000;
const HOUR = 3_600_000;

interface Candidate {
  /** Resolves when the whole job is done. */
  one(): Promise<void>;
  /** Bytes of a finished record. */
  recordBytes(): Promise<number>;
  close(): Promise<void>;
}

const { candidate, url, jobs, recordBytes } = programInput(
  z.object({
    candidate: z.enum(['redis', 'sqlite', 'bullmq', 'bullmq kept', 'plain sqlite']),
    url: z.string(),
    jobs: z.number(),
    recordBytes: z.number(),
  }),
);

const tools = { clock: systemClock, random: Math.random, log: new RecordingLog() };

async function product(storage: Storage, close: () => Promise<void>): Promise<Candidate> {
  const delivered = new Map<string, () => void>();
  let last = '';
  const platform: Platform = Object.assign(new RecordingPlatform(), {
    show: async (...[, message, { key, posted }]: Parameters<Platform['show']>) => {
      if (message.progress === undefined) delivered.get(key)?.();
      return posted ?? { id: key };
    },
  });
  const gateway = gatewayThatCalls((job, body) => engine.receive(job, body));
  const { now } = systemClock;
  const kept = (name: string) => ({ name, bytes: 1_000, contentType: 'audio/mpeg' });
  const engine: Jobs = createJobs({
    storage,
    gateway,
    media: {
      keep: async (address) => kept(address.split('/').at(-1) ?? 'file'),
      keepBytes: async () => kept('bytes.png'),
      keepText: async () => kept('text'),
      archive: async () => kept('archive.zip'),
      open: async () => undefined,
      seconds: async () => 60,
      stat: async (name) => kept(name),
      tag: async (file) => file,
    },
    fitPicture: () => Promise.reject(new TypeError('no picture is fitted here')),
    voices: createVoices({ settings: storage.settings }),
    meter: createMeter({
      usage: storage.usage,
      ceilings: [],
      costs: {},
      now,
      isPaused: () => false,
      measure: () => {},
    }),
    platform: () => platform,
    command: (name) => commands.find((command) => command.name === name),
    callbackUrl: (job) => job,
    fileUrl: ({ name }) => name,
    concurrency: { song: AT_ONCE, image: 1, video: 1, ask: 1 },
    familyOf,
    measure: () => {},
    now,
    sleep: (ms, signal) => sleep(ms, undefined, signal ? { signal } : {}).catch(() => undefined),
    random: Math.random,
    newId: () => randomUUID().replaceAll('-', '').slice(0, 20),
    log: tools.log,
  });
  await engine.run(() => Promise.reject(new TypeError('No command is invoked here')));
  const address = { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' };
  const person = { id: 'ada', displayName: 'Ada', moderator: false, roles: [] };
  const decisions = createDecisionStore({ store: storage.settings, now, newId: randomUUID });
  const settings = await decisions.read(address);
  return {
    async one() {
      const invocation = { id: randomUUID(), command: 'song', options: {}, address, person };
      const outcome = await engine.start(SONG, invocation, settings);
      if (outcome.type !== 'accepted') throw new TypeError(`The work was not accepted: ${outcome.type}`);
      last = outcome.job;
      const { promise, resolve } = Promise.withResolvers<void>();
      delivered.set(outcome.job, resolve);
      outcome.begin();
      await promise;
      delivered.delete(outcome.job);
    },
    recordBytes: async () => JSON.stringify(await storage.jobs.read(last)).length,
    async close() {
      await engine.stop();
      await storage.close();
      await close();
    },
  };
}

/** Takes every song, and calls back with its three stages. */
function gatewayThatCalls(receive: (job: string, body: string) => Promise<unknown>): Gateway {
  const gateway = new ScriptedGateway();
  const callBack = async (job: string, task: string) => {
    for (const stage of ['text', 'first', 'complete'] as const) {
      await receive(job, JSON.stringify(songCallback(stage, task)));
    }
  };
  return Object.assign(gateway, {
    music: {
      ...gateway.music,
      generate: async ({ callBackUrl }: { callBackUrl: string }) => {
        const taskId = `task of ${callBackUrl}`;
        setImmediate(() => void callBack(callBackUrl, taskId));
        return { taskId };
      },
    },
  });
}

/** BullMQ's steps as its own guide has them (https://docs.bullmq.io/patterns/process-step-jobs), woken from outside. */
async function bullmq(): Promise<Candidate> {
  const record = 'x'.repeat(recordBytes);
  const jobs = await openBullmq<{ step: number; record: string }>('peer', url, () => async (job, token) => {
    const step = job.data.step + 1;
    await job.updateData({ record, step });
    if (step === 5) return;
    await job.moveToDelayed(Date.now() + HOUR, token);
    setImmediate(() => void job.promote());
    throw new DelayedError();
  });
  return {
    one: () => jobs.one((jobId) => jobs.queue.add('song', { record, step: 0 }, { jobId })),
    recordBytes: async () => recordBytes,
    close: jobs.close,
  };
}

async function open(): Promise<Candidate> {
  switch (candidate) {
    case 'redis':
      return product(await openRedisStorage({ ...tools, ...PATIENT, url }), () => Promise.resolve());
    case 'sqlite': {
      const folder = await mkdtemp(join(tmpdir(), 'minstrel-bench-'));
      const storage = await openSqliteStorage({ ...tools, path: join(folder, 'minstrel.sqlite') });
      return product(storage, () => rm(folder, { recursive: true }));
    }
    case 'bullmq':
      return bullmq();
    case 'bullmq kept':
      return { ...(await bullmqKept(url, recordBytes)), recordBytes: async () => recordBytes };
    case 'plain sqlite': {
      const folder = await mkdtemp(join(tmpdir(), 'minstrel-bench-'));
      const { one, close } = plainSqlite(join(folder, 'plain.sqlite'), recordBytes);
      return {
        one,
        recordBytes: async () => recordBytes,
        close: () => close().then(() => rm(folder, { recursive: true })),
      };
    }
    default:
      return candidate satisfies never;
  }
}

const measured = await open();
async function many(count: number): Promise<void> {
  let left = count;
  const lane = async () => {
    while (left-- > 0) await measured.one();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
await many(WARM_UP);
const before = process.cpuUsage();
const began = performance.now();
await many(jobs);
const seconds = (performance.now() - began) / 1_000;
const cpuMs = (cpuSeconds(before) * 1_000) / jobs;
const songs = WARM_UP + jobs;
tell({ cpuMs, perSecond: jobs / seconds, recordBytes: await measured.recordBytes(), songs });
await measured.close();
