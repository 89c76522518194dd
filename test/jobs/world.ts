import { Readable } from 'node:stream';
import { commands } from '../../commands/index.ts';
import type { Outcome } from '../../src/core/bot/outcome.ts';
import type { StartRequest } from '../../src/core/bot/start-request.ts';
import type { Invocation } from '../../src/core/invocation.ts';
import type { Job } from '../../src/core/job.ts';
import type { Message } from '../../src/core/message.ts';
import type { JobDependencies } from '../../src/jobs/dependencies.ts';
import { createJobs, type EntryRequest, type Jobs } from '../../src/jobs/jobs.ts';
import { type Advance, createAdvance, type RunFacts } from '../../src/jobs/runner/advance.ts';
import { createSharedParts } from '../../src/jobs/runner/steps.ts';
import type { MediaError } from '../../src/media/errors.ts';
import { createVoices, type Voices } from '../../src/settings/voices.ts';
import type { RunTools } from '../../src/storage/schedule.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/open.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { administer } from '../settings/administration.ts';
import { ManualClock } from '../storage/manual-clock.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { RecordingPlatform } from './recording-platform.ts';
import { ScriptedGateway } from './scripted-gateway.ts';

type AcceptedOutcome = Extract<Outcome, { type: 'accepted' }>;

/** Jobs on real storage, with a gateway, a platform and a clock controlled by the test. */
export interface World extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly storage: Storage;
  readonly gateway: ScriptedGateway;
  readonly platform: RecordingPlatform;
  readonly jobs: Jobs;
  readonly voices: Voices;
  readonly log: RecordingLog;
  /** URLs that fail, and their errors. */
  readonly unreachable: Map<string, MediaError>;
  readonly dependencies: JobDependencies;
  /** Length of every recording. */
  readonly recording: { seconds: number | undefined };
  /** Recorded metrics: name, labels and value. */
  readonly measured: readonly (readonly unknown[])[];
  /** Runs commands for jobs. */
  readonly invoker: { invoke: JobDependencies['invoke'] };
  /** Stores work like a command. */
  accept(request: StartRequest | EntryRequest, invocation?: Partial<Invocation>): Promise<AcceptedOutcome>;
  /** Starts work like a command, and resolves to the job's id. */
  start(request: StartRequest | EntryRequest, invocation?: Partial<Invocation>): Promise<string>;
  /** Advances a job once, like a wake-up. */
  advance(job: string): Promise<number | undefined>;
  callback(job: string, body: unknown): Promise<void>;
  read(job: string): Promise<Job>;
  /** The only message of a job. */
  message(): Message | undefined;
}

export const SONG: StartRequest = {
  work: {
    route: 'music.generate',
    request: { customMode: false, instrumental: false, model: 'V5', prompt: 'rain' },
  },
  title: 'Composing “rain”',
};
export const VIDEO: StartRequest = {
  work: { route: 'media.video', request: { model: 'film', prompt: 'a lighthouse' } },
  title: 'Creating a video of “a lighthouse”',
};
export const PICTURE: StartRequest = {
  work: { route: 'media.image', request: { model: 'paint', prompt: 'a fox' } },
  title: 'Creating an image of “a fox”',
};
export const QUESTION: StartRequest = {
  work: {
    route: 'answer',
    dialect: 'chat',
    request: { model: 'chat-small', turns: [{ role: 'user', parts: [{ type: 'text', text: 'Why?' }] }] },
  },
  title: '“Why?”',
};

/** A callback as the gateway sends it. Gaps of the contract are filled like the public API. */
export function songCallback(stage: 'text' | 'first' | 'complete', task = 'task-1'): object {
  const songs = ['one', 'two'].map((take) => ({
    id: `audio-${take}`,
    title: 'Rain',
    prompt: '[Verse]\nRain on the roof',
    tags: 'lofi',
    duration: 91.5,
    ...(stage === 'text' || (stage === 'first' && take === 'two')
      ? {}
      : { audio_url: `https://gateway.example/${take}.mp3`, image_url: 'https://gateway.example/cover.png' }),
  }));
  return { code: 200, msg: 'ok', data: { callbackType: stage, task_id: task, data: songs } };
}

/** `crash` is called wherever a process may die, and throws to kill it there. */
export async function createWorld(
  crash: (point: string) => void = () => undefined,
  open: (tools: RunTools) => Promise<Storage> = (tools) => openSqliteStorage({ path: ':memory:', ...tools }),
): Promise<World> {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const storage = await open({ clock, random: () => 0.5, log });
  const gateway = new ScriptedGateway();
  const platform = new RecordingPlatform();
  gateway.crash = crash;
  platform.crash = crash;
  const unreachable = new Map<string, MediaError>();
  const unfinished = new Set<string>();
  const voices = createVoices({ settings: storage.settings });
  const { meter, decisions } = administer({ storage, clock });
  let ids = 0;
  let events = 0;
  const storedFile = (name: string) => ({ name, bytes: 1_000, contentType: 'audio/mpeg' });
  const measured: (readonly unknown[])[] = [];
  const recording: World['recording'] = { seconds: 60 };
  const invoker: World['invoker'] = {
    invoke: () => Promise.reject(new TypeError('commands are not available in this test')),
  };
  const kept = new Set<string>();
  const dependencies: JobDependencies = {
    storage: { ...storage, jobs: crashable(storage.jobs, crash) },
    gateway,
    media: {
      keep: async (url) => {
        const failure = unreachable.get(url);
        if (failure) throw failure;
        const file = storedFile(url.split('/').at(-1) ?? 'file');
        kept.add(file.name);
        return file;
      },
      keepBytes: async () => {
        kept.add('bytes.png');
        return storedFile('bytes.png');
      },
      keepText: async (_text, extension) => storedFile(`text.${extension}`),
      archive: async () => storedFile('archive.zip'),
      open: async (name) => (kept.has(name) ? { ...storedFile(name), stream: Readable.from([]) } : undefined),
      seconds: async () => recording.seconds,
      stat: async (name) => storedFile(name),
      tag: async (file) => file,
    },
    pictures: { fit: async (bytes) => bytes, clean: async (bytes) => bytes },
    voices,
    meter,
    platform: (name) => (name === platform.name ? platform : undefined),
    command: (name) => commands.find((command) => command.name === name),
    invoke: (invocation) => invoker.invoke(invocation),
    callbackUrl: (job) => `https://bot.example/callbacks/music/${job}/signature`,
    fileUrl: ({ name }) => `https://bot.example/files/${name}`,
    pageUrl: async () => undefined,
    concurrency: { song: 10, image: 4, video: 3, ask: 16 },
    measure: (...measurement) => void measured.push(measurement),
    now: clock.now,
    sleep: (milliseconds, signal) => clock.sleep(milliseconds, signal),
    random: () => 0.5,
    newId: () => `id${++ids}`,
    log,
  };
  const jobs = createJobs(dependencies);
  const accept: World['accept'] = async (request, invocation) => {
    const command = request.work.route.startsWith('music')
      ? 'song'
      : (COMMANDS[request.work.route] ?? 'song');
    const fullInvocation: Invocation = {
      id: `event-${++events}`,
      command,
      options: {},
      address: { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' },
      person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
      ...invocation,
    };
    const outcome = await jobs.start(request, fullInvocation, await decisions.read(fullInvocation.address));
    if (outcome.type !== 'accepted') throw new TypeError(`The work was not accepted: ${outcome.type}`);
    return outcome;
  };
  return {
    clock,
    storage,
    gateway,
    platform,
    jobs,
    voices,
    log,
    unreachable,
    dependencies,
    recording,
    measured,
    invoker,
    accept,
    start: async (request, invocation) => (await accept(request, invocation)).job,
    async advance(job) {
      // Like the schedule: the run after an unfinished one counts as interrupted.
      const interrupted = unfinished.has(job);
      unfinished.add(job);
      const next = await advanceOnce(dependencies, job, { interrupted });
      unfinished.delete(job);
      return next;
    },
    async callback(job, body) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      await storage.receive({ job, body: text, receivedAt: clock.now() });
    },
    async read(job) {
      const record = await storage.jobs.read(job);
      if (!record) throw new TypeError(`There is no job ${job}`);
      return record;
    },
    message: () => [...platform.shown.values()].at(-1),
    async [Symbol.asyncDispose]() {
      await storage.close();
      const broken = measured.find(([name]) => name === 'minstrel_invariants_broken_total');
      if (broken) throw new Error(`A job breaks an invariant: ${JSON.stringify(broken)}`);
    },
  };
}

/** Advances jobs in a process with these dependencies. */
export const createAdvancing = (dependencies: JobDependencies): Advance =>
  createAdvance({ ...dependencies, ...createSharedParts(dependencies) });

/** Runs a job like the schedule; by default not interrupted, and with its lease held. */
export function advanceOnce(
  dependencies: JobDependencies,
  job: string,
  facts: Partial<RunFacts> = {},
): Promise<number | undefined> {
  const { signal } = new AbortController();
  return createAdvancing(dependencies)(job, { signal, interrupted: false, isHeld: () => true, ...facts });
}

/** A process may die before or after each write. */
function crashable(jobs: Storage['jobs'], crash: (point: string) => void): Storage['jobs'] {
  return {
    ...jobs,
    async replace(job) {
      crash('before a write');
      const written = await jobs.replace(job);
      crash('after a write');
      return written;
    },
  };
}

const COMMANDS: Record<string, string> = {
  'media.video': 'video',
  'media.image': 'image',
  'gen.image': 'image',
  answer: 'ask',
};
