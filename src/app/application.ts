/** Settings, jobs and commands, put together over the services. */
import { setTimeout as timer } from 'node:timers/promises';
import { home } from '../../commands/home/sections.ts';
import { suggestedPrompts } from '../../commands/home/suggested-prompts.ts';
import { commands } from '../../commands/index.ts';
import { type Bot, createBot } from '../core/bot/create-bot.ts';
import { pageUrl } from '../core/http.ts';
import { invocationKey } from '../core/job.ts';
import type { Measure } from '../core/telemetry/series.ts';
import { callbackUrl } from '../http/music-callback.ts';
import type { JobDependencies } from '../jobs/dependencies.ts';
import { createJobs, type Jobs } from '../jobs/jobs.ts';
import { createPictureFitter } from '../media/content/pictures.ts';
import type { Platform } from '../platforms/platform.ts';
import { familyOf } from '../settings/limits/meter.ts';
import { createVoices } from '../settings/voices.ts';
import { type Administration, startAdministration } from './administration.ts';
import { type ContextParts, contextOf } from './context.ts';
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
  const parts: ContextParts = {
    now,
    log,
    storage,
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
      const running = await storage.jobs.running({ platform: address.platform }, person.id);
      return home({ person, address, context, commands, running });
    },
  });
  const bot = { ...core, ...talk(core, parts) };
  return { administration, jobs, parties, bot };
}

/** What talk without commands asks of the bot. */
function talk(
  { refusal }: Pick<Bot, 'refusal'>,
  parts: ContextParts,
): Required<Pick<Bot, 'prompts' | 'cancelRunning' | 'withdraw' | 'talks'>> {
  const { administration, storage, jobs, log } = parts;
  return {
    async talks(address) {
      try {
        return await administration.talks(address);
      } catch (error) {
        log.warn({ err: error }, 'Whether each message is a question cannot be read; it is none');
        return false;
      }
    },

    async prompts({ address, person: platformPerson }) {
      try {
        const asking = { address, person: platformPerson };
        const admitted = await administration.admit({ ...asking, command: 'minstrel' });
        return await suggestedPrompts({
          context: contextOf({ ...admitted, address, platformPerson }, parts),
          commands,
          isAllowed: async (command) => (await refusal({ ...asking, command })) === undefined,
        });
      } catch (error) {
        log.warn({ err: error }, 'What a person could say cannot be suggested');
        return [];
      }
    },

    async cancelRunning({ address, person: { id: person } }) {
      try {
        for (const job of await storage.jobs.running(address, person))
          if (job.address.thread === address.thread) await jobs.cancel(job.id, person);
      } catch (error) {
        log.error({ err: error }, 'What runs in a thread could not be cancelled');
      }
    },

    async withdraw({ platform, id }) {
      try {
        const job = await storage.jobs.ofInvocation(invocationKey(platform, id));
        if (job) await jobs.cancel(job.id, job.person.id);
      } catch (error) {
        log.error({ err: error }, 'What a deleted message asked for could not be cancelled');
      }
    },
  };
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

/** Resolves after so many milliseconds, or when the signal aborts. */
const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  timer(ms, undefined, signal ? { signal } : {}).catch(() => undefined);
