/** Settings, jobs and commands, put together over the services. */
import { commands } from '../../commands/index.ts';
import type { Bot } from '../core/bot/create-bot.ts';
import { sleep } from '../core/clock.ts';
import { pageUrl } from '../core/http.ts';
import type { Measure } from '../core/telemetry/series.ts';
import { callbackUrl } from '../http/music-callback.ts';
import type { JobDependencies } from '../jobs/dependencies.ts';
import { createJobs, type Jobs } from '../jobs/jobs.ts';
import { createPictureFitter } from '../media/content/pictures.ts';
import type { Platform } from '../platforms/platform.ts';
import { familyOf } from '../settings/limits/meter.ts';
import { createVoices } from '../settings/voices.ts';
import { type Administration, startAdministration } from './administration.ts';
import { assembleBot } from './bot.ts';
import { createPartyService, type PartyService } from './parties.ts';
import {
  answerOffer,
  modelDefaults,
  newId,
  readerOf,
  type ServiceOptions,
  type Services,
} from './services.ts';
import type { Observability } from './telemetry/observability.ts';

export type Platforms = ReadonlyMap<string, Platform>;

export interface ApplicationOptions
  extends Observability,
    Pick<ServiceOptions, 'config' | 'log' | 'now' | 'random'> {
  readonly measure: Measure;
  readonly pollPause?: JobDependencies['pollPause'];
}

/** The bot and what it decides and runs. */
export interface Application {
  readonly administration: Administration;
  readonly jobs: Jobs;
  readonly parties: PartyService;
  readonly bot: Bot;
}

export async function createApplication(
  services: Services,
  platforms: Platforms,
  options: ApplicationOptions,
  opened: AsyncDisposableStack,
): Promise<Application> {
  const { storage, gateway, media, emulator } = services;
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
    pageUrl: (kind, id) => pageUrl(services.publicUrl, kind, id, services.secrets[0]),
    now,
    newId,
    log,
    sleep,
  });
  opened.defer(() => administration.stop());
  const platform = (name: string) => platforms.get(name);
  const jobs = createJobs(jobDependencies(services, platform, { voices, ...administration }, options));
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
  const bot = assembleBot({
    now,
    log,
    storage,
    jobs,
    gateway,
    voices,
    administration,
    answers: answerOffer(config, emulator),
    parties,
    mayRead: (address, person) => platform(address.platform)?.mayRead?.(address, person) ?? false,
    hearsOnlyItsName: (address) => platform(address.platform)?.hearsOnlyItsName,
    newReference: newId,
  });
  return { administration, jobs, parties, bot };
}

function jobDependencies(
  { storage, gateway, media, publicUrl, secrets: [secret] }: Services,
  platform: (name: string) => Platform | undefined,
  { voices, meter, pageUrl }: Pick<JobDependencies, 'voices' | 'meter' | 'pageUrl'>,
  { config, log, now, random, pollPause, measure, traces }: ApplicationOptions,
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
