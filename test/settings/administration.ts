import { commands } from '../../commands/index.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { Family } from '../../src/core/family.ts';
import type { Address, Person } from '../../src/core/invocation.ts';
import type { Message } from '../../src/core/message.ts';
import type { Limit, LimitInForce, ModelInForce, Moderation } from '../../src/core/moderation.ts';
import { forgetPerson } from '../../src/jobs/forget.ts';
import { type Admit, createAccess } from '../../src/settings/access/admission.ts';
import { createDecisionStore, type DecisionStore, type Decisions } from '../../src/settings/decisions.ts';
import { createFeedback } from '../../src/settings/feedback.ts';
import { createMeter, type Meter, type MeteredJob } from '../../src/settings/limits/meter.ts';
import { createModelSettings, type ModelDefaults, type ModelSettings } from '../../src/settings/models.ts';
import { moderationFor } from '../../src/settings/moderation.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { songJob } from '../storage/jobs.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { ModelList } from './model-list.ts';

export interface Administered {
  /** What was counted for operators. */
  readonly measured: readonly (readonly unknown[])[];
  readonly admit: Admit;
  readonly decisions: DecisionStore;
  readonly meter: Meter;
  readonly models: ModelSettings;
  /** What the account may use; tests change it. */
  readonly list: ModelList;
  /** What moderators were told, and where. */
  readonly told: { address: Address; message: Message }[];
  readonly log: RecordingLog;
  /** As one invocation does: with the settings as they are now. */
  resolve(family: Family, named: string | undefined, where: Address): Promise<string>;
  modelsInForce(where: Address): Promise<ModelInForce[]>;
  /** Accepts a job into the storage. Throws the UserError of a limit. */
  accept(job: MeteredJob): Promise<void>;
  limitsInForce(where: Address, person: Person): Promise<LimitInForce[]>;
  /** Without settings, they are read for each question. */
  moderation(where: Address, person: Person, settings?: Decisions): Moderation;
}

export interface AdministeredOptions {
  readonly isPaused?: () => boolean;
  readonly storage: Storage;
  readonly clock: Pick<Clock, 'now'>;
  readonly ceilings?: readonly Limit[];
  readonly costs?: Readonly<Record<string, number>>;
  readonly served?: readonly string[];
  readonly defaults?: ModelDefaults;
}

/** What moderators and operators decide, on real storage. */
export function administer(options: AdministeredOptions): Administered {
  const { storage, clock, ceilings = [], costs = {}, served = [] } = options;
  const log = new RecordingLog();
  const list = new ModelList(['chat-small', 'canvas-plus', 'reel-standard']);
  const told: Administered['told'] = [];
  const measured: (readonly unknown[])[] = [];
  let ids = 0;
  const decisions = createDecisionStore({
    store: storage.settings,
    now: clock.now,
    newId: () => `change${++ids}-${Math.random()}`,
  });
  const models = createModelSettings({
    defaults: options.defaults ?? { song: 'V5', ask: 'chat:chat-small' },
    models: list,
    decisions,
    now: clock.now,
    log,
    tell: async (address, message) => void told.push({ address, message }),
  });
  const meter = createMeter({
    usage: storage.usage,
    ceilings,
    costs,
    now: clock.now,
    isPaused: () => options.isPaused?.() ?? false,
    measure: (...measurement) => void measured.push(measurement),
  });
  let keys = 0;
  const tools = {
    decisions,
    models,
    gatewayModels: list,
    meter,
    usage: storage.usage,
    feedback: createFeedback(storage),
    commands,
    hasUnits: Object.keys(costs).length > 0,
    chart: async () => ({ name: 'chart.png', bytes: 1, contentType: 'image/png' }),
    forget: async (who: { platform: string; person: string }) => {
      const erased = await forgetPerson(who, { storage, removeFile: async () => undefined });
      await storage.usage.forget(who.platform, who.person);
      await decisions.forget(who.platform, who.person);
      return erased;
    },
    albumUrl: (_where: Address, key: string) => `https://bot.example/albums/${key}`,
    newId: () => `key${++keys}`,
    now: clock.now,
  };
  return {
    measured,
    admit: createAccess({ decisions, served, commands }),
    decisions,
    meter,
    models,
    list,
    told,
    log,
    resolve: async (family, named, where) =>
      models.resolve(family, named, where, await decisions.read(where)),
    modelsInForce: async (where) => models.inForce(await decisions.read(where)),
    limitsInForce: async (where, person) => meter.inForce(where, person, await decisions.read(where)),
    moderation: (where, person, settings) => moderationFor(tools, where, person, settings),
    async accept({ person: { roles, ...person }, ...metered }) {
      const { reservation, ceilings, refusal } = meter.claim(
        { ...metered, person: { ...person, roles } },
        await decisions.read(metered.address),
      );
      const job = songJob({
        ...metered,
        id: metered.invocation.replace(':', '-'),
        person: { ...person, roles: [...roles] },
      });
      const now = clock.now();
      const answer = await storage.accept({ job, reservation, ceilings, at: now, now });
      if (answer.type === 'refused') throw refusal(answer);
    },
  };
}
