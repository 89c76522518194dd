import type { AnyCommand } from '../core/bot/command.ts';
import { UserError } from '../core/errors.ts';
import type { Address, Person } from '../core/invocation.ts';
import type { JobView } from '../core/job.ts';
import type { Judgement } from '../core/message.ts';
import type { System } from '../core/system.ts';
import type { Log } from '../core/telemetry/log.ts';
import { dayOf } from '../core/util/clock.ts';
import { type AccessOptions, type Admit, createAccess } from '../settings/access/admission.ts';
import { albumId } from '../settings/albums.ts';
import type { Decisions } from '../settings/decisions.ts';
import type { FeedbackStore } from '../settings/feedback.ts';
import { createMeter, type Meter, type MeterOptions, modelOf } from '../settings/limits/meter.ts';
import { createModelSettings, type ModelSettings, type ModelSettingsOptions } from '../settings/models.ts';
import { type ModerationOptions, moderationFor, type PlaceTools } from '../settings/moderation.ts';
import { SettingsError } from '../settings/records.ts';
import { StorageError } from '../storage/storage.ts';
import { type ForgetTools, forget } from './forget.ts';
import type { Pages } from './routes/pages.ts';

export interface AdministrationOptions
  extends Pick<System, 'now' | 'newId' | 'log'>,
    ForgetTools,
    Pick<AccessOptions, 'served'>,
    Pick<MeterOptions, 'ceilings' | 'costs' | 'isPaused' | 'measure'>,
    Pick<ModelSettingsOptions, 'models' | 'families' | 'configured' | 'illustrating' | 'defaults' | 'notify'>,
    Pick<ModerationOptions, 'chart'> {
  readonly feedback: FeedbackStore;
  readonly commands: readonly AnyCommand[];
  readonly pages: Pick<Pages, 'urlAt'>;
}

export interface Administration {
  readonly admit: Admit;
  readonly meter: Meter;
  readonly models: ModelSettings;
  /** Whether the operator set prices for units. */
  readonly hasUnits: boolean;
  /** Stores feedback on an answer. */
  judge(answer: JobView, person: Person, judgement: Judgement): Promise<void>;
  /** @param person as the platform reports them. @param settings read on each call if absent */
  moderation(where: Address, person: Person, settings?: Decisions): PlaceTools;
}

export function createAdministration(options: AdministrationOptions): Administration {
  const { storage, costs, feedback, pages, measure, log } = options;
  const { usage } = storage;
  const models = createModelSettings(options);
  const meter = createMeter({ ...options, usage });
  const access = createAccess(options);
  const moderationTools: ModerationOptions = {
    ...options,
    models,
    meter,
    usage,
    forget: (owner) => forget(owner, options),
    albumUrl: (address, key) => pages.urlAt(address, 'albums', albumId(address, key)),
  };
  return {
    async admit(request, currentSettings) {
      try {
        return await access(request, currentSettings);
      } catch (error) {
        const { address, command = 'none' } = request;
        if (error instanceof UserError)
          measure('minstrel_access_denials_total', { platform: address.platform, command });
        throw asUserError(error, log);
      }
    },
    meter,
    models,
    hasUnits: Object.keys(costs).length > 0,
    async judge({ id: job, work, address, createdAt }, { id: person }, judgement) {
      const model = modelOf(work) ?? 'none';
      const previous = await feedback.vote(address, { job, model, day: dayOf(createdAt), person, judgement });
      if (previous !== judgement)
        measure('minstrel_feedback_total', { platform: address.platform, model, judgement });
    },
    moderation: (where, person, settings) => moderationFor(moderationTools, where, person, settings),
  };
}

/** If settings cannot be read, all requests are refused. */
function asUserError(error: unknown, log: Log): unknown {
  if (error instanceof StorageError) {
    log.error({ err: error }, 'Access refused: could not read settings');
    return new UserError(
      "I can't start anything right now because my storage is down. Try again in a minute.",
    );
  }
  if (error instanceof SettingsError) {
    log.error({ err: error }, 'Access refused: settings were written by another version');
    return new UserError(
      "The settings here were saved by another version of me, so I can't read them. Ask the bot's operator for help.",
    );
  }
  return error;
}
