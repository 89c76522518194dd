/** What moderators and operators decide, put together: access, models, limits, usage, privacy. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyCommand } from '../core/bot/command.ts';
import { dayOf, systemClock } from '../core/clock.ts';
import { UserError } from '../core/errors.ts';
import type { PageKind } from '../core/http.ts';
import type { Address, Person } from '../core/invocation.ts';
import type { JobView } from '../core/job.ts';
import { type Judgement, type KeptFile, lastDays } from '../core/message.ts';
import type { DayUsage, Moderation } from '../core/moderation.ts';
import type { System } from '../core/system.ts';
import type { Log } from '../core/telemetry/log.ts';
import type { Gateway } from '../gateway/client.ts';
import type { Metrics } from '../http/metrics.ts';
import { createHttpServer, type HttpServer } from '../http/server.ts';
import { eraseJobs } from '../jobs/forget.ts';
import type { Media } from '../media/media.ts';
import type { Platform } from '../platforms/platform.ts';
import { type Admit, createAccess } from '../settings/access/admission.ts';
import { albumId } from '../settings/albums.ts';
import {
  createDecisionStore,
  type DecisionStore,
  type Decisions,
  pagesInForce,
  SettingsError,
} from '../settings/decisions.ts';
import { createFeedback, type FeedbackStore } from '../settings/feedback.ts';
import { createMeter, type Meter, modelOf } from '../settings/limits/meter.ts';
import { createModelSettings, type ModelDefaults, type ModelSettings } from '../settings/models.ts';
import { type ModerationOptions, moderationFor } from '../settings/moderation.ts';
import { usageChart } from '../settings/usage-chart/draw.ts';
import type { Voices } from '../settings/voices.ts';
import { type Storage, StorageError } from '../storage/storage.ts';
import type { Config } from './config/read.ts';
import { type ForgetTools, forget } from './forget.ts';
import { createPageLinks } from './routes/page-links.ts';
import { createCollector } from './telemetry/measurements.ts';

const DAY = 24 * 3_600_000;
/** Of usage, votes and changes by moderators: a year, and a month to compare it with. */
const RETENTION_MS = 400 * DAY;
/** While a file of this name is in the data directory, nothing new is taken: an operator's brake, without a restart. */
const PAUSE_FILE = 'paused';

export interface AdministrationOptions extends Pick<System, 'now' | 'newId' | 'sleep' | 'log'> {
  readonly config: Config;
  readonly storage: Storage;
  readonly gateway: Gateway;
  readonly media: Pick<Media, 'keepBytes' | 'remove'>;
  readonly voices: Voices;
  readonly commands: readonly AnyCommand[];
  readonly defaults: ModelDefaults;
  readonly platforms: readonly Platform[];
  /** Absent where operators did not ask for them. */
  readonly metrics: Metrics | undefined;
  readonly forgetParties: ForgetTools['forgetParties'];
  /** The signed address of a page. */
  readonly pageUrl: (kind: PageKind, id: string) => string;
}

export interface Administration {
  readonly admit: Admit;
  readonly meter: Meter;
  readonly models: ModelSettings;
  /** Whether each message in the channel is a question. */
  talks(where: Address): Promise<boolean>;
  /** Keeps what a person says of an answer. */
  judge(answer: JobView, person: Person, judgement: Judgement): Promise<void>;
  readonly decisions: DecisionStore;
  /** Where people open the page of a song; undefined where they could not, or moderators switched pages off. */
  pageUrl(song: Pick<JobView, 'id' | 'address'>): Promise<string | undefined>;
  /** Takes the links to a song's page out of what chats show. */
  hidePage(song: string): Promise<void>;
  /** @param person as the platform knows them */
  moderation(where: Address, person: Person, settings: Decisions): Moderation;
  /** Where operators read metrics; undefined where they did not ask for it. */
  readonly metricsUrl: string | undefined;
  stop(): Promise<void>;
}

/** Throws ListenError when the port for operators cannot be had. */
export async function startAdministration(options: AdministrationOptions): Promise<Administration> {
  const { config, storage, gateway, platforms, commands, now, newId, log } = options;
  const { metrics } = options;
  const { measure = () => {} } = metrics ?? {};
  const server = config.admin && metrics && (await serveMetrics(config.admin, metrics, options));
  const decisions = createDecisionStore({ store: storage.settings, now, newId });
  const feedback = createFeedback(storage);
  const models = createModelSettings({
    defaults: options.defaults,
    models: gateway.models,
    decisions,
    now,
    log,
    tell: async (address, message) => {
      await platforms.find(({ name }) => name === address.platform)?.sendPrivately(address, message);
    },
  });
  const meter = createMeter({
    usage: storage.usage,
    ceilings: config.usage.limits,
    costs: config.usage.costs,
    now,
    isPaused: () => existsSync(join(config.dataDirectory, PAUSE_FILE)),
    measure,
  });
  const access = createAccess({ decisions, served: config.servedServers, commands });
  const pageLinks = createPageLinks({
    storage,
    platforms,
    urlOf: ({ id }) => options.pageUrl('songs', id),
    log,
  });
  const moderationTools: ModerationOptions = {
    decisions,
    models,
    gatewayModels: gateway.models,
    meter,
    usage: storage.usage,
    feedback,
    commands,
    hasUnits: Object.keys(config.usage.costs).length > 0,
    chart: (used, days) => keepChart(used, days, options),
    async forget(who) {
      const takeAway = await pageLinks.ofPerson(who.platform, who.person);
      const removeFile = (name: string) => options.media.remove(name);
      const erased = await forget(who, { ...options, decisions, removeFile });
      // Nothing waits for it: the links open nothing any more.
      void takeAway();
      return erased;
    },
    albumUrl: (address, key) => urlAt(address, 'albums', albumId(address, key)),
    newId,
    now,
  };
  const urlAt = ({ platform }: Pick<Address, 'platform'>, kind: PageKind, id: string) =>
    isOpenTo(platform, config.listener) ? options.pageUrl(kind, id) : undefined;
  const cleanup = startCleanup({ decisions, feedback }, options);
  return {
    async admit(asking, known) {
      try {
        return await access(asking, known);
      } catch (error) {
        const { address, command } = asking;
        if (error instanceof UserError)
          measure('minstrel_access_denials_total', {
            platform: address.platform,
            command: command ?? 'none',
          });
        throw asUserError(error, log);
      }
    },
    meter,
    models,
    talks: async (where) => (await decisions.read(where)).channel.talk ?? false,
    async judge({ id: job, work, address, createdAt }, { id: person }, judgement) {
      const model = modelOf(work) ?? 'none';
      const before = await feedback.vote(address, { job, model, day: dayOf(createdAt), person, judgement });
      if (before !== judgement)
        measure('minstrel_feedback_total', { platform: address.platform, model, judgement });
    },
    decisions,
    async pageUrl({ id, address }) {
      const { on } = pagesInForce(await decisions.read(address), address);
      return on ? urlAt(address, 'songs', id) : undefined;
    },
    hidePage: pageLinks.takeAway,
    moderation: (where, person, settings) => moderationFor(moderationTools, where, person, settings),
    metricsUrl: server && `${server.url}/metrics`,
    async stop() {
      await cleanup.stop();
      await server?.close();
    },
  };
}

async function serveMetrics(
  at: { readonly host: string; readonly port: number },
  metrics: Metrics,
  { log, ...options }: AdministrationOptions,
): Promise<HttpServer> {
  const { metricsRoutes } = await import('../http/metrics.ts');
  const collect = createCollector({ ...options, metrics, elapsed: systemClock.elapsed });
  return createHttpServer({ ...at, log, routes: [metricsRoutes(metrics, collect)] });
}

/** Whose people are at this machine. */
const HERE_ONLY: ReadonlySet<string> = new Set(['terminal', 'web']);
const LOOPBACK = /^(localhost|127\..*|0\.0\.0\.0|\[::1?\])$/i;

/** Whether people of a platform can open the pages of the listener. */
function isOpenTo(platform: string, { publicUrl }: Config['listener']): boolean {
  if (HERE_ONLY.has(platform)) return true;
  return publicUrl !== undefined && !LOOPBACK.test(new URL(publicUrl).hostname);
}

/** When settings cannot be read, every person is refused. */
function asUserError(error: unknown, log: Log): unknown {
  if (error instanceof StorageError) {
    log.error({ err: error }, 'Access was refused because the settings could not be read');
    return new UserError(
      'I cannot take work right now, because I could not keep track of it. Please try again soon.',
    );
  }
  if (error instanceof SettingsError) {
    log.error({ err: error }, 'Access was refused because the settings are not of this version');
    return new UserError(
      'The settings of this place were written by another version of me. Whoever runs this bot has to look at it.',
    );
  }
  return error;
}

async function keepChart(
  used: readonly DayUsage[],
  days: number,
  { media, now }: AdministrationOptions,
): Promise<KeptFile> {
  const title = `Requests of ${lastDays(days)}`;
  const picture = await usageChart(used, { title, lastDay: dayOf(now()), days });
  return media.keepBytes(picture, { kinds: ['image'] });
}

/** Deletes what is older than the operator keeps: at the start, and once a day. */
function startCleanup(
  { decisions, feedback }: { readonly decisions: DecisionStore; readonly feedback: FeedbackStore },
  { config, storage, media, now, sleep, log }: AdministrationOptions,
): { stop(): Promise<void> } {
  async function cleanUp(): Promise<void> {
    const oldest = now() - RETENTION_MS;
    await storage.usage.prune(dayOf(oldest), now());
    await feedback.prune(dayOf(oldest));
    await decisions.prune(oldest);
    if (config.retentionMs === undefined) return;
    const before = now() - config.retentionMs;
    await eraseJobs(storage.jobs.endedBefore(before), {
      storage,
      removeFile: (name) => media.remove(name),
    });
    await storage.scrub();
  }
  const stopping = new AbortController();
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      await cleanUp().catch((error: unknown) => {
        log.warn({ err: error }, 'What is too old could not be deleted; trying again tomorrow');
      });
      await sleep(DAY, stopping.signal);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}
