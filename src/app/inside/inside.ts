/** What decides, runs jobs and answers, built from what Minstrel reaches. */
import { setTimeout as timer } from 'node:timers/promises';
import { home } from '../../../commands/home/home.ts';
import { commands } from '../../../commands/index.ts';
import { type Bot, createBot } from '../../core/bot/bot.ts';
import { pageUrl } from '../../core/http.ts';
import type { Measure } from '../../core/telemetry/series.ts';
import { callbackUrl } from '../../http/music-callback.ts';
import type { JobDependencies } from '../../jobs/dependencies.ts';
import { createJobs, type Jobs } from '../../jobs/jobs.ts';
import { createPictureFitter } from '../../media/content/pictures.ts';
import type { Platform } from '../../platforms/platform.ts';
import { familyOf } from '../../settings/limits/limits.ts';
import { createVoices } from '../../settings/voices.ts';
import {
  answerOffer,
  modelDefaults,
  newId,
  type Outside,
  type OutsideOptions,
  readerOf,
} from '../outside.ts';
import type { Observability } from '../telemetry/telemetry.ts';
import { type Administration, startAdministration } from './administration.ts';
import { type ContextParts, contextOf } from './context.ts';
import { createPartyService, type PartyService } from './parties.ts';
import { talkTools } from './talk-tools.ts';

export type Platforms = ReadonlyMap<string, Platform>;

export interface InsideOptions
  extends Observability,
    Pick<OutsideOptions, 'config' | 'log' | 'now' | 'random'> {
  readonly measure: Measure;
  readonly pollPause?: JobDependencies['pollPause'];
}

/** What decides, runs jobs and answers. */
export interface Inside {
  readonly administration: Administration;
  readonly jobs: Jobs;
  readonly parties: PartyService;
  readonly bot: Bot;
}

export async function createInside(
  outside: Outside,
  platforms: Platforms,
  options: InsideOptions,
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
    defaults: modelDefaults(config, emulator),
    platforms: [...platforms.values()],
    metrics: options.metrics,
    forgetParties: ({ platform, person }) => parties.forget(platform, person),
    pageUrl: (kind, id) => pageUrl(outside.publicUrl, kind, id, outside.secrets[0]),
    now,
    newId,
    log,
    sleep,
  });
  opened.defer(() => administration.stop());
  const platform = (name: string) => platforms.get(name);
  const jobs = createJobs(jobDependencies(outside, platform, { voices, ...administration }, options));
  const parties = createPartyService({
    storage,
    media,
    jobs,
    platform: [...platforms.values()].find(({ voice }) => voice),
    pageUrl: administration.pageUrl,
    now,
    random: options.random,
    newId,
    log,
    sleep,
  });
  const parts: ContextParts = {
    now,
    log,
    jobs,
    gateway,
    voices,
    administration,
    pageUrl: administration.pageUrl,
    answers: answerOffer(config, emulator),
    parties,
    mayRead: (address, person) => platform(address.platform)?.mayRead?.(address, person) ?? false,
    hearsOnlyItsName: (address) => platform(address.platform)?.hearsOnlyItsName,
  };
  const core = createBot({
    commands,
    log,
    newReference: newId,
    admit: administration.admit,
    context: (request) => contextOf(request, parts),
    home: async ({ address, person }, context) => {
      const running = await jobs.runningEverywhere({ ...address, person: person.id });
      return home({ person, address, context, commands, running });
    },
  });
  const bot = { ...core, ...talkTools(core, { jobs, parts, log }) };
  return { administration, jobs, parties, bot };
}

function jobDependencies(
  { storage, gateway, media, publicUrl, secrets: [secret] }: Outside,
  platform: (name: string) => Platform | undefined,
  { voices, meter, pageUrl }: Pick<JobDependencies, 'voices' | 'meter' | 'pageUrl'>,
  { config, log, now, random, pollPause, measure, traces }: InsideOptions,
): Omit<JobDependencies, 'invoke'> {
  const byName = new Map(commands.map((command) => [command.name, command]));
  return {
    storage,
    gateway,
    meter,
    media,
    fitPicture: createPictureFitter(),
    voices,
    platform,
    command: (name) => byName.get(name),
    callbackUrl: (job) => callbackUrl(publicUrl, job, secret),
    fileUrl: readerOf(media).link,
    ...(pageUrl && { pageUrl }),
    concurrency: config.concurrency,
    familyOf,
    pollPause,
    now,
    sleep,
    random,
    newId,
    log,
    measure,
    tracer: traces?.tracer,
    alone: config.storage.type === 'sqlite',
  };
}

/** Resolves after so many milliseconds, or when the signal aborts. */
const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  timer(ms, undefined, signal ? { signal } : {}).catch(() => undefined);
