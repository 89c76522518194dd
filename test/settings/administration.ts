import { commands } from '../../commands/index.ts';
import { type Administration, createAdministration } from '../../src/app/administration.ts';
import type { Address, Person } from '../../src/core/invocation.ts';
import type { Message } from '../../src/core/message.ts';
import { FAMILIES, type Family } from '../../src/core/models/family.ts';
import type { Limit, LimitInForce, ModelInForce } from '../../src/core/moderation.ts';
import type { Clock } from '../../src/core/util/clock.ts';
import { createContestStore } from '../../src/settings/contests/contests.ts';
import { createDecisionStore, type DecisionStore } from '../../src/settings/decisions.ts';
import { createFeedback } from '../../src/settings/feedback.ts';
import type { MeteredJob } from '../../src/settings/limits/meter.ts';
import type { ModelDefaults } from '../../src/settings/models.ts';
import { createScheduleStore } from '../../src/settings/schedules/schedules.ts';
import { createVoices } from '../../src/settings/voices.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { songJob } from '../storage/jobs.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { ModelList } from './model-list.ts';

export interface Administered extends Administration {
  /** Recorded metrics. */
  readonly measured: readonly (readonly unknown[])[];
  readonly decisions: DecisionStore;
  /** The models of the account, which tests change. */
  readonly list: ModelList;
  /** Messages sent to moderators, with their addresses. */
  readonly notifications: { address: Address; message: Message }[];
  readonly log: RecordingLog;
  /** Runs as one invocation, with the current settings. */
  resolve(family: Family, named: string | undefined, where: Address): Promise<string>;
  modelsInForce(where: Address): Promise<ModelInForce[]>;
  /** Accepts a job. Throws UserError if a limit is reached. */
  accept(job: MeteredJob): Promise<void>;
  limitsInForce(where: Address, person: Person): Promise<LimitInForce[]>;
}

export interface AdministeredOptions {
  readonly isPaused?: () => boolean;
  readonly storage: Storage;
  readonly clock: Pick<Clock, 'now'>;
  readonly ceilings?: readonly Limit[];
  readonly costs?: Readonly<Record<string, number>>;
  readonly served?: readonly string[];
  readonly defaults?: ModelDefaults;
  readonly configured?: readonly string[];
  readonly illustrating?: readonly string[];
}

/** Settings of moderators and operators, on real storage. */
export function administer(options: AdministeredOptions): Administered {
  const { storage, clock, ceilings = [], costs = {}, served = [] } = options;
  const log = new RecordingLog();
  const list = new ModelList(['chat-small', 'canvas-plus', 'reel-standard']);
  const notifications: Administered['notifications'] = [];
  const measured: (readonly unknown[])[] = [];
  let ids = 0;
  const decisions = createDecisionStore({
    store: storage.settings,
    now: clock.now,
    newId: () => `change${++ids}-${Math.random()}`,
  });
  let keys = 0;
  const administration = createAdministration({
    storage,
    decisions,
    feedback: createFeedback(storage),
    voices: createVoices({ settings: storage.settings }),
    schedules: createScheduleStore(storage),
    contests: createContestStore(storage),
    pages: { urlAt: (_where, kind, id) => `https://bot.example/${kind}/${id}` },
    commands,
    models: list,
    families: FAMILIES,
    configured: options.configured ?? [],
    illustrating: options.illustrating ?? [],
    defaults: options.defaults ?? { song: 'V5', ask: 'chat:chat-small' },
    served,
    ceilings,
    costs,
    isPaused: () => options.isPaused?.() ?? false,
    notify: async (address, message) => void notifications.push({ address, message }),
    chart: async () => ({ name: 'chart.png', bytes: 1, contentType: 'image/png' }),
    removeFile: async () => undefined,
    forgetParties: async () => {},
    measure: (...measurement) => void measured.push(measurement),
    now: clock.now,
    newId: () => `key${++keys}`,
    log,
  });
  const { meter, models } = administration;
  return {
    ...administration,
    measured,
    decisions,
    list,
    notifications,
    log,
    resolve: async (family, named, where) =>
      models.resolve(family, named, where, await decisions.read(where)),
    modelsInForce: async (where) => models.inForce(await decisions.read(where)),
    limitsInForce: async (where, person) => meter.inForce(where, person, await decisions.read(where)),
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
