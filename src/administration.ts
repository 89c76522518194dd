/** What moderators and operators decide, put together: access, models, limits, usage, privacy. */
import type { Address, AnswerSettings, AnyCommand, Log, Person } from './command.ts';
import type { Config } from './config.ts';
import { UserError } from './errors.ts';
import type { Gateway } from './gateway/client.ts';
import { metricsRoutes } from './http/metrics.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import { eraseJobs, forgetPerson } from './jobs/forget.ts';
import type { Media } from './media/media.ts';
import { createMetrics } from './metrics/metrics.ts';
import type { Moderation } from './moderation.ts';
import type { Platform } from './platforms/platform.ts';
import { type Admit, createAccess } from './settings/access.ts';
import { answerSettings } from './settings/answers.ts';
import { createDecisionStore } from './settings/decisions.ts';
import { createMeter, type Meter } from './settings/limits.ts';
import { createModelSettings, type ModelDefaults, type ModelSettings } from './settings/models.ts';
import { moderationFor } from './settings/moderation.ts';
import { SettingsError } from './settings/schema.ts';
import type { Voices } from './settings/voices.ts';
import { type Storage, StorageError } from './storage/storage.ts';
import { dayOf } from './storage/usage.ts';

const DAY = 24 * 3_600_000;

export interface AdministrationOptions {
  readonly config: Config;
  readonly storage: Storage;
  readonly gateway: Gateway;
  readonly media: Pick<Media, 'keepBytes' | 'remove'>;
  readonly voices: Voices;
  readonly commands: readonly AnyCommand[];
  readonly defaults: ModelDefaults;
  readonly platforms: () => readonly Platform[];
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: Log;
  /** Resolves after so many milliseconds, or rejects when the signal aborts. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export interface Administration {
  readonly admit: Admit;
  readonly meter: Meter;
  readonly models: ModelSettings;
  answers(where: Address): Promise<AnswerSettings>;
  /** @param person as the platform knows them */
  moderation(where: Address, person: Person): Moderation;
  /** Where operators read metrics; undefined where they did not ask for it. */
  readonly metricsUrl: string | undefined;
  stop(): Promise<void>;
}

/** Throws ListenError when the port for operators cannot be had. */
export async function startAdministration(options: AdministrationOptions): Promise<Administration> {
  const { config, storage, gateway, media, voices, commands, now, newId, log } = options;
  const metrics = createMetrics({
    process: config.admin !== undefined,
    platforms: () =>
      options.platforms().map((platform) => ({ name: platform.name, ready: platform.status().ready })),
  });
  const decisions = createDecisionStore({ store: storage.settings, now, newId });
  const models = createModelSettings({
    defaults: options.defaults,
    models: gateway.models,
    decisions,
    now,
    log,
    tell: async (address, message) => {
      const platform = options.platforms().find(({ name }) => name === address.platform);
      await platform?.whisper(address, message);
    },
  });
  const meter = createMeter({
    usage: storage.usage,
    decisions,
    ceilings: config.usage.limits,
    costs: config.usage.costs,
    now,
    listener: metrics,
  });
  const access = createAccess({
    decisions,
    served: config.servedServers,
    commands,
  });
  const forgetting = {
    storage,
    removeFile: (name: string) => media.remove(name),
  };
  const tools = {
    decisions,
    models,
    gatewayModels: gateway.models,
    meter,
    usage: storage.usage,
    commands: commands
      .filter(({ alwaysAllowed, moderatorsOnly }) => !alwaysAllowed && !moderatorsOnly)
      .map(({ name }) => name),
    hasUnits: Object.keys(config.usage.costs).length > 0,
    chart: async (rows, days) => {
      // Loaded when somebody asks for a report: drawing needs more than everything else together.
      const { drawUsageChart } = await import('./charts/usage-chart.ts');
      const picture = drawUsageChart(rows, {
        title: `Requests of the last ${days} days`,
        lastDay: dayOf(now()),
        days,
      });
      const { name, bytes, contentType } = await media.keepBytes(picture, { kinds: ['image'] });
      return { name, bytes, contentType };
    },
    forget: async (who) => {
      const erased = await forgetPerson(who, forgetting);
      await voices.forget(who.platform, who.person);
      await storage.usage.forget(who.platform, who.person);
      await decisions.forget(who.platform, who.person);
      return erased;
    },
    now,
  } satisfies Parameters<typeof moderationFor>[0];

  const tidying = startTidying(async () => {
    await storage.usage.prune(dayOf(now() - config.usage.retentionMs), now());
    await decisions.prune(now() - config.auditRetentionMs);
    if (config.jobRetentionMs === undefined) return;
    const before = now() - config.jobRetentionMs;
    await eraseJobs((job) => (job.finishedAt ?? job.createdAt) < before, forgetting);
  }, options);
  const server = await startMetricsServer();

  async function startMetricsServer(): Promise<HttpServer | undefined> {
    if (!config.admin) return undefined;
    try {
      return await createHttpServer({ ...config.admin, log, routes: [metricsRoutes(metrics)] });
    } catch (error) {
      await tidying.stop();
      throw error;
    }
  }

  return {
    async admit(asking) {
      try {
        return await access(asking);
      } catch (error) {
        const { address, command } = asking;
        if (error instanceof UserError) metrics.denied({ platform: address.platform, command });
        throw told(error, log);
      }
    },
    meter,
    models,
    answers: async (where) => answerSettings(await decisions.read(where)),
    moderation: (where, person) => moderationFor(tools, where, person),
    metricsUrl: server && `${server.url}/metrics`,
    async stop() {
      await tidying.stop();
      await server?.close();
    },
  };
}

/** Nobody passes a door whose rules cannot be read; the reason is a sentence. */
function told(error: unknown, log: Log): unknown {
  if (error instanceof StorageError) {
    log.error({ err: error }, 'Nobody was let in because the settings could not be read');
    return new UserError(
      'I cannot take work right now, because I could not keep track of it. Please try again soon.',
    );
  }
  if (error instanceof SettingsError) {
    log.error({ err: error }, 'Nobody was let in because the settings are not of this version');
    return new UserError(
      'The settings of this place were written by another version of me. Whoever runs this bot has to look at it.',
    );
  }
  return error;
}

/** Lets go what is too old: at the start, and once a day. */
function startTidying(
  tidy: () => Promise<void>,
  { sleep, log }: Pick<AdministrationOptions, 'sleep' | 'log'>,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      await tidy().catch((error: unknown) => {
        log.warn({ err: error }, 'What is too old could not be let go; trying again tomorrow');
      });
      await sleep(DAY, stopping.signal).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}
