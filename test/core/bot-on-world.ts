import { assembleBot, type BotParts } from '../../src/app/bot.ts';
import { type ContestRunner, createContests } from '../../src/app/contests/contests.ts';
import type { ContestParts } from '../../src/app/contests/parts.ts';
import type { ReadOrigin } from '../../src/app/origins.ts';
import { createSchedules, type ScheduleRunner } from '../../src/app/schedules.ts';
import type { Bot } from '../../src/core/bot/create-bot.ts';
import { FULL_OFFER } from '../../src/core/models/family.ts';
import { createContestStore } from '../../src/settings/contests/contests.ts';
import { createScheduleStore } from '../../src/settings/schedules/schedules.ts';
import type { World } from '../jobs/world.ts';
import { type Administered, administer } from '../settings/administration.ts';

interface BotOnWorldOptions {
  /** Settings of this world. By default every model name is valid. */
  readonly administered?: Administered;
  /** The operator's tool model. */
  readonly toolModel?: string;
  readonly schedules?: ScheduleRunner;
  readonly contests?: ContestRunner;
  readonly partiesOn?: BotParts['partiesOn'];
  readonly readOrigin?: ReadOrigin;
}

/** Creates a bot on a world. */
export function createBotOn(
  world: World,
  { administered: decided, toolModel, schedules, contests, partiesOn, readOrigin }: BotOnWorldOptions = {},
): Bot {
  const administered = decided ?? administer(world);
  const { models } = administered;
  return assembleBot({
    now: world.clock.now,
    log: world.log,
    newReference: () => 'abc',
    storage: world.storage,
    jobs: world.jobs,
    voices: world.voices,
    gateway: {
      models: { cached: () => [], readsImages: () => false, dialects: ['chat', 'msg', 'gen'] },
    },
    ...FULL_OFFER,
    administration: {
      ...administered,
      models: decided
        ? models
        : {
            ...models,
            resolve: async (family, named) => named ?? (family === 'song' ? 'V5' : 'some-model'),
            imageEditor: async ({ named, previous } = {}) => named ?? previous ?? 'gen:some-model',
          },
    },
    decisions: administered.decisions,
    pages: { urlOf: async ({ id }) => `https://bot.example/songs/${id}/signed` },
    schedules: schedules ?? createSchedulesOn(world, administered),
    contests: contests ?? createContestsOn(world),
    answerOffer: {
      maxTokens: 4096,
      contextTokens: 16_000,
      illustratingModels: [],
      thinkingModels: [],
      ...(toolModel === undefined ? {} : { toolModel }),
    },
    partiesOn: partiesOn ?? (() => undefined),
    canRead: () => true,
    readOrigin: readOrigin ?? (() => Promise.reject(new TypeError('no file can be read in this test'))),
    mentionsOnlyNotice: () => undefined,
  });
}

/** Schedules in UTC. */
export function createSchedulesOn(
  { storage, dependencies, log, clock }: World,
  { admit }: Pick<Administered, 'admit'>,
): ScheduleRunner {
  return createSchedules({
    store: createScheduleStore(storage),
    storage,
    admit,
    platform: dependencies.platform,
    timeZone: 'UTC',
    now: clock.now,
    newId: dependencies.newId,
    log,
  });
}

/** Contests in UTC. */
export function createContestsOn(
  { storage, dependencies, jobs, log, clock }: World,
  more: Partial<ContestParts> = {},
): ContestRunner {
  return createContests({
    store: createContestStore(storage),
    schedules: createScheduleStore(storage),
    storage,
    jobs,
    media: dependencies.media,
    platform: dependencies.platform,
    pageUrl: dependencies.pageUrl,
    albumUrl: (_address, id) => `https://bot.example/albums/${id}`,
    timeZone: 'UTC',
    now: clock.now,
    newId: dependencies.newId,
    log,
    ...more,
  });
}
