/** Builds everything from the settings, starts it, and drains it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { home } from '../../commands/home/home.ts';
import { commands } from '../../commands/index.ts';
import { type Bot, createBot } from '../core/bot/bot.ts';
import { pageUrl } from '../core/http.ts';
import type { JobView } from '../core/job.ts';
import type { Replicas } from '../core/replicas.ts';
import type { Log } from '../core/telemetry/log.ts';
import type { Measure } from '../core/telemetry/series.ts';
import { fileRoutes } from '../http/files.ts';
import { healthRoutes } from '../http/health.ts';
import { callbackUrl, musicCallbackRoutes } from '../http/music-callback.ts';
import { pageRoutes, webhookRoutes } from '../http/platform-routes.ts';
import type { Routes } from '../http/server.ts';
import { limitVisitors } from '../http/visitors.ts';
import type { JobDependencies } from '../jobs/dependencies.ts';
import { createJobs, type Jobs } from '../jobs/jobs.ts';
import {
  createPendingAcknowledgements,
  type PendingAcknowledgements,
} from '../jobs/pending-acknowledgements.ts';
import { createRateLimiter } from '../jobs/steps/poll/rate-limiter.ts';
import { createPictureFitter } from '../media/content/pictures.ts';
import type { MediaReader, Platform } from '../platforms/platform.ts';
import { familyOf } from '../settings/limits/limits.ts';
import { createVoices } from '../settings/voices.ts';
import { createLocks } from '../storage/locks.ts';
import { systemClock } from '../storage/schedule.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { type Administration, startAdministration } from './inside/administration.ts';
import { type ContextParts, contextOf } from './inside/context.ts';
import { createPartyService, type PartyService } from './inside/parties.ts';
import { talkTools } from './inside/talk-tools.ts';
import {
  answerOffer,
  modelDefaults,
  newId,
  newSecret,
  type Outside,
  type OutsideOptions,
  openOutside,
  readerOf,
} from './outside.ts';
import { healthParts } from './routes/health-parts.ts';
import { songPageRoutes } from './routes/song-pages.ts';
import { measuredBot } from './telemetry/measurements.ts';
import { type Observability, openObservability } from './telemetry/telemetry.ts';

export interface PlatformTools {
  readonly measure: Measure;
  readonly media: MediaReader;
  readonly log: Log;
  readonly now: () => number;
  readonly random: () => number;
  /** Runs the work while no other replica runs a task of this name. */
  readonly withLock: (task: string, work: () => Promise<void>) => Promise<void>;
  readonly settings: SettingsStore;
  /** What all replicas share; absent where there is one alone. */
  readonly replicas?: Replicas | undefined;
  /** The secret of this name, made once and kept in storage. */
  readonly secret: (name: string) => Promise<string>;
  /** Where this machine reaches the listener. */
  readonly listenerUrl: string;
}

export interface AssembleOptions extends Omit<OutsideOptions, 'measure' | 'traces'> {
  readonly platforms: (tools: PlatformTools) => readonly Platform[] | Promise<readonly Platform[]>;
}

export interface Minstrel {
  /** Where this machine reaches the listener. */
  readonly url: string;
  /** Where the gateway is; the emulator's address when that is the gateway. */
  readonly gatewayUrl: string;
  /** Where operators read metrics; undefined where they did not ask for it. */
  readonly metricsUrl: string | undefined;
  /** Where the chat in the browser is, if it is on. As good as a password, so it is never logged. */
  readonly playgroundUrl: string | undefined;
  readonly bot: Bot;
  readonly job: (id: string) => Promise<JobView | undefined>;
  /** Takes no new work, hands over what runs, closes everything. */
  stop(): Promise<void>;
}

/** The public relative allows 20 a second for each account; other replicas poll too. */
const POLLS_PER_SECOND = 5;

/** SIGTERM has 10 s in all (the platform's and Docker's default): running steps get this much of it. */
const DRAIN_MS = 7_000;

/** Builds and starts everything, part by part. Throws StorageError or ListenError with a sentence for the operator. */
export async function assemble(options: AssembleOptions): Promise<Minstrel> {
  // Closed in the opposite order; one that fails keeps none of the others from closing.
  const opened = new AsyncDisposableStack();
  const close = () =>
    opened.disposeAsync().catch((error: unknown) => {
      options.log.error({ err: error }, 'Something did not close well');
    });
  try {
    const { metrics, traces } = await openObservability(options.config, options, opened);
    const outside = await openOutside({ ...options, measure: metrics?.measure, traces }, opened);
    const measured = { ...options, metrics, measure: metrics?.measure ?? (() => {}), traces };
    const platforms = await createPlatforms(outside, measured);
    const inside = await createInside(outside, platforms, measured, opened);
    const playground = await playgroundOf(outside, platforms);
    await outside.listener.serve([
      ...routesOf(outside, platforms, inside, measured),
      ...(playground?.routes ?? []),
    ]);
    await start(outside, platforms, inside, measured, opened);
    return {
      url: outside.listener.url,
      gatewayUrl: outside.gatewayUrl,
      metricsUrl: inside.administration.metricsUrl,
      playgroundUrl: playground?.url,
      bot: inside.bot,
      job: (id) => inside.jobs.find(id),
      stop: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type Platforms = ReadonlyMap<string, Platform>;
type Measured = AssembleOptions & Observability & { readonly measure: Measure };

async function createPlatforms({ storage, media, listener }: Outside, options: Measured): Promise<Platforms> {
  const { log, now, random, measure, traces } = options;
  const locks = createLocks({ settings: storage.settings, now, newId });
  const platforms = await options.platforms({
    media: readerOf(media),
    measure,
    log,
    now,
    random,
    withLock: (task, work) => locks.run(task, work),
    settings: storage.settings,
    replicas: storage.replicas,
    secret: (name) => storage.secret(name, newSecret),
    listenerUrl: listener.url,
  });
  return new Map(
    platforms.map((platform) => [platform.name, traces?.platform(platform) ?? platform] as const),
  );
}

/** What decides, runs jobs and answers. */
interface Inside {
  readonly administration: Administration;
  readonly jobs: Jobs;
  readonly pending: PendingAcknowledgements;
  readonly parties: PartyService;
  readonly bot: Bot;
}

async function createInside(
  outside: Outside,
  platforms: Platforms,
  options: Measured,
  opened: AsyncDisposableStack,
): Promise<Inside> {
  const { storage, gateway, media, emulator } = outside;
  const { config, log, now } = options;
  const voices = createVoices({ settings: storage.settings });
  const administration = await startAdministration({
    config,
    storage,
    gateway,
    media,
    voices,
    commands,
    defaults: await modelDefaults(config, emulator),
    platforms: [...platforms.values()],
    metrics: options.metrics,
    pageUrl: (kind, id) => pageUrl(outside.publicUrl, kind, id, outside.secrets[0]),
    now,
    newId,
    log,
    sleep: sleepUntil,
  });
  opened.defer(() => administration.stop());
  const platform = (name: string) => platforms.get(name);
  const jobs = createJobs(jobDependencies(outside, platform, { voices, ...administration }, options));
  const pending = createPendingAcknowledgements({
    settings: storage.settings,
    platform,
    alone: config.storage.type === 'sqlite',
    now,
    sleep: (ms, signal) => sleepUntil(ms, signal).catch(() => undefined),
    newId,
    log,
  });
  const parties = createPartyService({
    storage,
    media,
    jobs,
    platform: [...platforms.values()].find(({ voice }) => voice),
    alone: config.storage.type === 'sqlite',
    now,
    random: options.random,
    newId,
    log,
    sleep: (ms, signal) => sleepUntil(ms, signal).catch(() => undefined),
  });
  const parts: ContextParts = {
    now,
    log,
    jobs,
    gateway,
    media,
    voices,
    administration,
    pageUrl: administration.pageUrl,
    answers: await answerOffer(config, emulator),
    fitPicture: createPictureFitter(),
    parties,
    mayRead: (address, person) => platform(address.platform)?.mayRead?.(address, person) ?? false,
    hearsOnlyItsName: (address) => platform(address.platform)?.hearsOnlyItsName,
    accessTo: async (address, { url, attached }) =>
      attached
        ? { from: 'platform', headers: await platform(address.platform)?.attachmentHeaders(url, address) }
        : { from: 'person' },
  };
  const core = createBot({
    commands,
    log,
    pending,
    newReference: newId,
    admit: administration.admit,
    context: (request) => contextOf(request, parts),
    home: async ({ address, person }, context) => {
      const running = await jobs.runningEverywhere({ ...address, person: person.id });
      return home({ person, address, context, commands, running });
    },
  });
  const bot = { ...core, ...talkTools(core, { jobs, parts, log }) };
  return { administration, jobs, pending, parties, bot };
}

function jobDependencies(
  { storage, gateway, media, publicUrl, secrets: [secret] }: Outside,
  platform: (name: string) => Platform | undefined,
  { voices, meter, pageUrl }: Pick<JobDependencies, 'voices' | 'meter' | 'pageUrl'>,
  { config, log, now, random, measure, traces }: Measured,
): Omit<JobDependencies, 'invoke'> {
  const byName = new Map(commands.map((command) => [command.name, command]));
  return {
    storage,
    gateway,
    meter,
    media,
    voices,
    platform,
    command: (name) => byName.get(name),
    callbackUrl: (job) => callbackUrl(publicUrl, job, secret),
    fileUrl: readerOf(media).link,
    ...(pageUrl && { pageUrl }),
    concurrency: config.concurrency,
    familyOf,
    mediaDefaults: config.mediaDefaults,
    pollRate: createRateLimiter({ perSecond: POLLS_PER_SECOND, now: elapsed }),
    now,
    sleep: (ms, signal) => sleep(ms, undefined, signal ? { signal } : {}).catch(() => undefined),
    random,
    newId,
    log,
    measure,
    tracer: traces?.tracer,
    alone: config.storage.type === 'sqlite',
  };
}

function routesOf(
  outside: Outside,
  platforms: Platforms,
  { jobs, administration }: Inside,
  { config, log, now, measure }: Measured,
): Routes[] {
  const { storage, secrets, media } = outside;
  const receiveBy = (name: string, path: string) => {
    const receive = platforms.get(name)?.receive;
    return receive ? [webhookRoutes({ path, receive })] : [];
  };
  const visit = platforms.get('slack')?.visit;
  return [
    musicCallbackRoutes({ secrets, log, measure, receive: (job, body) => jobs.receive(job, body) }),
    healthRoutes({ parts: healthParts(storage, [...platforms.values()]), elapsed, log }),
    limitVisitors(
      [fileRoutes({ log, now, media }), ...songPageRoutes(outside, administration, { log, elapsed })],
      { elapsed },
    ),
    ...(config.discord?.publicKey === undefined ? [] : receiveBy('discord', '/discord/interactions')),
    ...(config.slack?.connection.type === 'http' ? receiveBy('slack', '/slack/events') : []),
    ...(visit && config.slack?.account.type === 'oauth'
      ? [pageRoutes({ paths: ['/slack/install', '/slack/oauth_redirect'], visit: () => visit })]
      : []),
  ];
}

/** Loaded only where the chat in the browser is on. */
async function playgroundOf(
  { listener: { url } }: Outside,
  platforms: Platforms,
): Promise<{ readonly routes: Routes[]; readonly url: string } | undefined> {
  const chat = platforms.values().find(({ browserChat }) => browserChat)?.browserChat;
  if (!chat) return undefined;
  const { playgroundRoutes, playgroundUrl } = await import('../http/playground/routes.ts');
  return { routes: [playgroundRoutes({ chat, url })], url: playgroundUrl({ chat, url }) };
}

async function start(
  { gateway }: Outside,
  platforms: Platforms,
  { jobs, pending, parties, bot }: Inside,
  { log, metrics, measure, traces }: Measured,
  opened: AsyncDisposableStack,
): Promise<void> {
  gateway.models.startRefreshing();
  const byModels = traces?.bot(bot, 'model') ?? bot;
  // Closed after the jobs: a step that ends meanwhile still shows its result.
  for (const platform of platforms.values()) opened.defer(() => platform.close());
  await jobs.run((invocation) => byModels.run(invocation));
  opened.defer(() => drain(jobs.stop(), log));
  const byPeople = traces?.bot(bot, 'person') ?? bot;
  await Promise.all(
    [...platforms.values()].map((platform) =>
      platform.start(metrics ? measuredBot(byPeople, platform.name, { measure, elapsed }) : byPeople),
    ),
  );
  const closing = new AbortController();
  const watching = pending.watch(closing.signal);
  opened.defer(async () => {
    closing.abort();
    await watching;
  });
  opened.defer(async () => {
    await Promise.all([...platforms.values()].map((platform) => platform.stop()));
  });
  parties.watch();
  opened.defer(() => parties.stop());
}

/** Waits for the steps that run; what is longer than that goes on from its record at the next start. */
async function drain(stopped: Promise<void>, log: Log): Promise<void> {
  const patience = new AbortController();
  const late = sleep(DRAIN_MS, 'late' as const, { signal: patience.signal }).catch(() => 'ended' as const);
  const outcome = await Promise.race([stopped, late]);
  patience.abort();
  if (outcome === 'late') log.warn({}, 'Some work is cut short; it goes on at the next start');
}

const { elapsed } = systemClock;

/** Resolves after so many milliseconds, or rejects when the signal aborts. */
const sleepUntil = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal });
