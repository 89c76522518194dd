/** What moderators and operators decide, put together: access, models, limits, usage, what is erased. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyCommand } from '../core/bot/command.ts';
import { dayOf } from '../core/clock.ts';
import { UserError } from '../core/errors.ts';
import type { Address, Person } from '../core/invocation.ts';
import type { JobView } from '../core/job.ts';
import { type Judgement, type KeptFile, lastDays } from '../core/message.ts';
import type { DayUsage, Moderation } from '../core/moderation.ts';
import type { System } from '../core/system.ts';
import type { Log } from '../core/telemetry/log.ts';
import type { Measure } from '../core/telemetry/series.ts';
import type { Gateway } from '../gateway/client.ts';
import type { Media } from '../media/media.ts';
import type { Platform } from '../platforms/platform.ts';
import { type Admit, createAccess } from '../settings/access/admission.ts';
import { albumId } from '../settings/albums.ts';
import type { DecisionStore, Decisions } from '../settings/decisions.ts';
import type { FeedbackStore } from '../settings/feedback.ts';
import { createMeter, type Meter, modelOf } from '../settings/limits/meter.ts';
import { createModelSettings, type ModelDefaults, type ModelSettings } from '../settings/models.ts';
import { type ModerationOptions, moderationFor } from '../settings/moderation.ts';
import { SettingsError } from '../settings/records.ts';
import { usageChart } from '../settings/usage-chart/draw.ts';
import type { Voices } from '../settings/voices.ts';
import { type Storage, StorageError } from '../storage/storage.ts';
import type { Config } from './config/read.ts';
import { type ForgetTools, forget } from './forget.ts';
import type { Pages } from './routes/pages.ts';

/** While a file of this name is in the data directory, nothing new is taken: an operator's brake, without a restart. */
const PAUSE_FILE = 'paused';

export interface AdministrationOptions extends Pick<System, 'now' | 'newId' | 'log'> {
  readonly config: Config;
  readonly storage: Storage;
  readonly models: Gateway['models'];
  readonly media: Pick<Media, 'keepBytes' | 'remove'>;
  readonly voices: Voices;
  readonly decisions: DecisionStore;
  readonly feedback: FeedbackStore;
  readonly pages: Pages;
  readonly commands: readonly AnyCommand[];
  readonly defaults: ModelDefaults;
  readonly platform: (name: string) => Platform | undefined;
  readonly forgetParties: ForgetTools['forgetParties'];
  readonly measure: Measure;
}

export interface Administration {
  readonly admit: Admit;
  readonly meter: Meter;
  readonly models: ModelSettings;
  /** Keeps what a person says of an answer. */
  judge(answer: JobView, person: Person, judgement: Judgement): Promise<void>;
  /** @param person as the platform knows them */
  moderation(where: Address, person: Person, settings: Decisions): Moderation;
}

export function createAdministration(options: AdministrationOptions): Administration {
  const { config, storage, decisions, feedback, pages, commands, measure, now, log } = options;
  const models = createModelSettings({
    defaults: options.defaults,
    models: options.models,
    decisions,
    now,
    log,
    tell: async (address, message) => options.platform(address.platform)?.sendPrivately(address, message),
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
  const moderationTools: ModerationOptions = {
    ...options,
    models,
    gatewayModels: options.models,
    meter,
    usage: storage.usage,
    hasUnits: Object.keys(config.usage.costs).length > 0,
    chart: (used, days) => keepChart(used, days, options),
    forget: (who) => forget(who, { ...options, removeFile: (name) => options.media.remove(name) }),
    albumUrl: (address, key) => pages.urlAt(address, 'albums', albumId(address, key)),
  };
  return {
    async admit(asking, known) {
      try {
        return await access(asking, known);
      } catch (error) {
        const { address, command = 'none' } = asking;
        if (error instanceof UserError)
          measure('minstrel_access_denials_total', { platform: address.platform, command });
        throw asUserError(error, log);
      }
    },
    meter,
    models,
    async judge({ id: job, work, address, createdAt }, { id: person }, judgement) {
      const model = modelOf(work) ?? 'none';
      const before = await feedback.vote(address, { job, model, day: dayOf(createdAt), person, judgement });
      if (before !== judgement)
        measure('minstrel_feedback_total', { platform: address.platform, model, judgement });
    },
    moderation: (where, person, settings) => moderationFor(moderationTools, where, person, settings),
  };
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
