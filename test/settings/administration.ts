import { commands } from '../../commands/index.ts';
import type { Address, Person } from '../../src/command.ts';
import { forgetPerson } from '../../src/jobs/forget.ts';
import type { Message } from '../../src/message.ts';
import type { Limit, Moderation } from '../../src/moderation.ts';
import { type Admit, createAccess } from '../../src/settings/access.ts';
import { createDecisionStore, type DecisionStore } from '../../src/settings/decisions.ts';
import { createMeter, type Meter, type UsageListener } from '../../src/settings/limits.ts';
import { createModelSettings, type ModelDefaults, type ModelSettings } from '../../src/settings/models.ts';
import { moderationFor } from '../../src/settings/moderation.ts';
import type { Clock } from '../../src/storage/clock.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { ModelList } from './model-list.ts';

export interface Administered {
  readonly admit: Admit;
  readonly decisions: DecisionStore;
  readonly meter: Meter;
  readonly models: ModelSettings;
  /** What the account may use; tests change it. */
  readonly list: ModelList;
  /** What moderators were told, and where. */
  readonly told: { address: Address; message: Message }[];
  readonly log: RecordingLog;
  moderation(where: Address, person: Person): Moderation;
}

export interface AdministeredOptions {
  readonly storage: Storage;
  readonly clock: Pick<Clock, 'now'>;
  readonly ceilings?: readonly Limit[];
  readonly costs?: Readonly<Record<string, number>>;
  readonly served?: readonly string[];
  readonly defaults?: ModelDefaults;
  readonly listener?: UsageListener;
}

const NOBODY_LISTENS: UsageListener = { settled: () => undefined, refused: () => undefined };

/** What moderators and operators decide, on real storage. */
export function administer(options: AdministeredOptions): Administered {
  const { storage, clock, ceilings = [], costs = {}, served = [], listener = NOBODY_LISTENS } = options;
  const log = new RecordingLog();
  const list = new ModelList(['chat-small', 'canvas-plus', 'reel-standard']);
  const told: Administered['told'] = [];
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
  const meter = createMeter({ usage: storage.usage, decisions, ceilings, costs, now: clock.now, listener });
  const tools = {
    decisions,
    models,
    gatewayModels: list,
    meter,
    usage: storage.usage,
    commands: ['song', 'lyrics', 'stems', 'image', 'video', 'ask', 'jobs'],
    hasUnits: Object.keys(costs).length > 0,
    chart: async () => ({ name: 'chart.png', bytes: 1, contentType: 'image/png' }),
    forget: async (who: { platform: string; person: string }) => {
      const erased = await forgetPerson(who, { storage, removeFile: async () => undefined });
      await storage.usage.forget(who.platform, who.person);
      await decisions.forget(who.platform, who.person);
      return erased;
    },
    now: clock.now,
  };
  return {
    admit: createAccess({ decisions, served, commands }),
    decisions,
    meter,
    models,
    list,
    told,
    log,
    moderation: (where, person) => moderationFor(tools, where, person),
  };
}
