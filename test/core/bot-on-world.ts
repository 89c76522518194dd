import { assembleBot } from '../../src/app/bot.ts';
import type { Bot } from '../../src/core/bot/create-bot.ts';
import type { World } from '../jobs/world.ts';
import { type Administered, administer } from '../settings/administration.ts';

interface BotOnWorldOptions {
  /** Settings of this world. By default every model name is valid. */
  readonly administered?: Administered;
  /** The operator's tool model. */
  readonly toolModel?: string;
}

/** Creates a bot on a world. */
export function createBotOn(world: World, { administered: decided, toolModel }: BotOnWorldOptions = {}): Bot {
  const administered = decided ?? administer(world);
  const { models } = administered;
  return assembleBot({
    now: world.clock.now,
    log: world.log,
    newReference: () => 'abc',
    storage: world.storage,
    jobs: world.jobs,
    voices: world.voices,
    gateway: { models: { cached: () => [] } },
    administration: {
      ...administered,
      models: decided
        ? models
        : { ...models, resolve: async (family, named) => named ?? (family === 'song' ? 'V5' : 'some-model') },
    },
    decisions: administered.decisions,
    pages: { urlOf: async ({ id }) => `https://bot.example/songs/${id}/signed` },
    answerOffer: {
      maxTokens: 4096,
      contextTokens: 16_000,
      illustratingModels: [],
      thinkingModels: [],
      ...(toolModel === undefined ? {} : { toolModel }),
    },
    partiesOn: () => undefined,
    canRead: () => true,
    mentionsOnlyNotice: () => undefined,
  });
}
