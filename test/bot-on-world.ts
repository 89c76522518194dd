import { commands } from '../commands/index.ts';
import { createBot } from '../src/bot.ts';
import type { Context } from '../src/command.ts';
import { musicLimits } from '../src/gateway/music.ts';
import type { Bot } from '../src/platforms/platform.ts';
import type { World } from './jobs/world.ts';
import { type Administered, administer } from './settings/administration.ts';

interface BotOnWorldOptions {
  /** How long every attached recording lasts. */
  readonly seconds?: () => number | undefined;
  /** What was decided about this world; without it, models are whatever is named. */
  readonly administered?: Administered;
}

/** The bot's own door on a world. */
export function createBotOn(
  world: World,
  { seconds = () => 60, administered: decided }: BotOnWorldOptions = {},
): Bot {
  const administered = decided ?? administer(world);
  return createBot({
    commands,
    log: world.log,
    newReference: () => 'abc',
    admit: administered.admit,
    context: ({ address, person, invocation, platformPerson }): Context => ({
      now: world.clock.now,
      log: world.log,
      limits: { music: musicLimits },
      jobs: {
        start: (request) => {
          if (!invocation) throw new TypeError('no invocation');
          return world.jobs.start(request, invocation);
        },
        find: world.jobs.find,
        recentSongs: (limit) => world.jobs.recentSongs(address, limit),
        running: () => world.jobs.running(address, person.id),
        cancel: (id) => world.jobs.cancel(id, person.id),
        reveal: world.jobs.reveal,
        unplaced: (limit) => world.jobs.unplaced(address, person.id, limit),
        showHere: (id) => world.jobs.showAt(id, address, person.id),
      },
      models: {
        resolve: decided
          ? (family, named) => decided.models.resolve(family, named, address)
          : async (family, named) => named ?? (family === 'song' ? 'V5' : 'some-model'),
        suggest: decided ? decided.models.suggest : async () => [],
        listedBy: () => [],
      },
      answers: {
        maxTokens: 4096,
        contextTokens: 16_000,
        illustratingModels: [],
        thinkingModels: [],
        thinkingBudget: -1,
      },
      settings: { answers: async () => ({ assistant: false, footer: true }) },
      moderation: administered.moderation(address, platformPerson),
      files: {
        keep: async () => ({ name: 'kept.png', bytes: 1, contentType: 'image/png' }),
        keepPicture: async () => ({ name: 'kept.png', bytes: 1, contentType: 'image/png' }),
        keepDocument: async () => ({ name: 'kept.txt', bytes: 1, contentType: 'text/plain' }),
        made: ({ id }, source, accept) => world.jobs.file(id, source, accept),
        seconds: async () => seconds(),
      },
      voices: {
        list: () => world.voices.list(address),
        remove: (personaId) => world.voices.remove(address, personaId),
      },
    }),
  });
}
