/** Builds settings, jobs and commands on top of the services. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commands, commandsFor } from '../../commands/index.ts';
import type { Bot } from '../core/bot/create-bot.ts';
import type { Address, Person } from '../core/invocation.ts';
import type { MediaFile } from '../core/message.ts';
import type { DayUsage } from '../core/moderation.ts';
import type { System } from '../core/system.ts';
import { dayOf } from '../core/util/clock.ts';
import { lastDays } from '../core/util/words.ts';
import { pageUrl } from '../core/web/page-url.ts';
import { callbackUrl } from '../http/music-callback.ts';
import type { JobDependencies } from '../jobs/dependencies.ts';
import { createJobs, type Jobs } from '../jobs/jobs.ts';
import { createPictures } from '../media/content/pictures.ts';
import type { Media } from '../media/media.ts';
import type { Parties } from '../party/parties.ts';
import { createPartyStore } from '../party/store.ts';
import type { Platform } from '../platforms/platform.ts';
import { createContestStore } from '../settings/contests/contests.ts';
import { createDecisionStore, type DecisionStore } from '../settings/decisions.ts';
import { createFeedback } from '../settings/feedback.ts';
import { createScheduleStore } from '../settings/schedules/schedules.ts';
import { usageChart } from '../settings/usage-chart/draw.ts';
import { createVoices } from '../settings/voices.ts';
import { createAdministration } from './administration.ts';
import { assembleBot } from './bot.ts';
import { startCleanup } from './cleanup.ts';
import { type ContestRunner, createContests } from './contests/contests.ts';
import { createReadOrigin } from './origins.ts';
import { partiesOf } from './parties.ts';
import { createPages, type Pages } from './routes/pages.ts';
import { createSchedules, type ScheduleRunner } from './schedules.ts';
import {
  answerOffer,
  configuredModels,
  modelDefaults,
  readerOf,
  type ServiceOptions,
  type Services,
} from './services.ts';
import type { Observability } from './telemetry/observability.ts';

/** While this file exists in the data directory, new work is refused: lets operators pause without a restart. */
const PAUSE_FILE = 'paused';

export type Platforms = ReadonlyMap<string, Platform>;

export interface ApplicationOptions
  extends Observability,
    Pick<ServiceOptions, keyof System | 'config' | 'measure'> {}

export interface Application {
  readonly decisions: DecisionStore;
  readonly jobs: Jobs;
  /** Undefined if no platform has voice channels. */
  readonly parties: Parties | undefined;
  readonly schedules: ScheduleRunner;
  readonly contests: ContestRunner;
  readonly bot: Bot;
}

export function createApplication(
  services: Services,
  platforms: Platforms,
  options: ApplicationOptions,
  opened: AsyncDisposableStack,
): Application {
  const { storage, gateway, media } = services;
  const { config, measure, log, now, newId } = options;
  const platform = (name: string) => platforms.get(name);
  const voices = createVoices({ settings: storage.settings });
  const decisions = createDecisionStore({ store: storage.settings, now, newId });
  const feedback = createFeedback(storage);
  const scheduleStore = createScheduleStore(storage);
  const contestStore = createContestStore(storage);
  const pages = createPages({
    decisions,
    publicUrl: config.listener.publicUrl,
    signedUrl: (kind, id) => pageUrl(services.publicUrl, kind, id, services.secrets[0]),
  });
  const administration = createAdministration({
    storage,
    models: gateway.models,
    voices,
    schedules: scheduleStore,
    contests: contestStore,
    decisions,
    feedback,
    pages,
    commands: commandsFor(config),
    families: config.offered,
    defaults: modelDefaults(config),
    configured: configuredModels(config),
    illustrating: answerOffer(config).illustratingModels,
    served: config.servedServers,
    ceilings: config.usage.limits,
    costs: config.usage.costs,
    isPaused: () => existsSync(join(config.dataDirectory, PAUSE_FILE)),
    notify: async (address, message) => platform(address.platform)?.sendPrivately(address, message),
    chart: (usage, days) => storeChart(usage, { days, today: dayOf(now()) }, media),
    removeFile: (name) => media.remove(name),
    forgetParties: ({ platform: name, person }) =>
      (partiesOn(name) ?? createPartyStore({ settings: storage.settings, platform: name, now })).forget(
        person,
      ),
    measure,
    now,
    newId,
    log,
  });
  const cleanup = startCleanup({
    ...services,
    retentionMs: config.retentionMs,
    decisions,
    feedback,
    contests: contestStore,
    now,
    log,
  });
  opened.defer(() => cleanup.stop());
  const { meter } = administration;
  const jobs = createJobs(jobDependencies(services, platform, { voices, meter, pages }, options));
  const voicePlatform = [...platforms.values()].find(({ voice }) => voice);
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const schedules = createSchedules({
    store: scheduleStore,
    storage,
    admit: administration.admit,
    platform,
    timeZone,
    now,
    newId,
    log,
  });
  const contests = createContests({
    store: contestStore,
    schedules: scheduleStore,
    storage,
    jobs,
    media,
    platform,
    pageUrl: pages.urlOf,
    albumUrl: (address, id) => pages.urlAt(address, 'albums', id),
    timeZone,
    now,
    newId,
    log,
  });
  const parties = partiesOf(voicePlatform, { ...options, storage, media, jobs, pageUrl: pages.urlOf });
  const partiesOn = (name: string) => (name === voicePlatform?.name ? parties : undefined);
  const canRead = (address: Address, person: Person) =>
    platform(address.platform)?.canRead?.(address, person) ?? false;
  const bot = assembleBot({
    now,
    log,
    storage,
    jobs,
    gateway,
    voices,
    administration,
    decisions,
    pages,
    schedules,
    contests,
    answerOffer: answerOffer(config),
    offered: config.offered,
    changesImages: config.changesImages,
    partiesOn,
    canRead,
    readOrigin: createReadOrigin({ media, platform, find: jobs.find, canRead }),
    mentionsOnlyNotice: (address) => platform(address.platform)?.mentionsOnlyNotice,
    newReference: newId,
  });
  return { decisions, jobs, parties, schedules, contests, bot };
}

async function storeChart(
  usage: readonly DayUsage[],
  { days, today }: { readonly days: number; readonly today: string },
  media: Pick<Media, 'keepBytes'>,
): Promise<MediaFile> {
  const picture = await usageChart(usage, { title: `Jobs in ${lastDays(days)}`, lastDay: today, days });
  return media.keepBytes(picture, { kinds: ['image'] });
}

function jobDependencies(
  { storage, gateway, media, publicUrl, secrets: [secret] }: Services,
  platform: (name: string) => Platform | undefined,
  { voices, meter, pages }: Pick<JobDependencies, 'voices' | 'meter'> & { readonly pages: Pages },
  { config, traces, measure, now, sleep, random, newId, log }: ApplicationOptions,
): Omit<JobDependencies, 'invoke'> {
  // A job of a family whose service was removed still needs its command.
  const all = [...commands, ...commandsFor(config)];
  const byName = new Map(all.map((command) => [command.name, command]));
  return {
    storage,
    gateway,
    meter,
    media,
    pictures: createPictures(),
    voices,
    platform,
    command: (name) => byName.get(name),
    callbackUrl: (job) => callbackUrl(publicUrl, job, secret),
    fileUrl: readerOf(media).link,
    pageUrl: pages.urlOf,
    concurrency: config.concurrency,
    now,
    sleep,
    random,
    newId,
    log,
    measure,
    tracer: traces?.tracer,
  };
}
