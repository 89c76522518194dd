import { commands } from '../../commands/index.ts';
import type { Context } from '../../src/core/bot/context.ts';
import { type Bot, createBot } from '../../src/core/bot/create-bot.ts';
import { musicLimits } from '../../src/gateway/music/requests.ts';
import { answerSettings } from '../../src/settings/answers.ts';
import { songModel } from '../../src/settings/models.ts';
import type { World } from '../jobs/world.ts';
import { type Administered, administer } from '../settings/administration.ts';

interface BotOnWorldOptions {
  /** What was decided about this world; without it, models are whatever is named. */
  readonly administered?: Administered;
  /** The model that uses commands, as the operator set it. */
  readonly toolModel?: string;
}

/** The bot on a world. */
export function createBotOn(world: World, { administered: decided, toolModel }: BotOnWorldOptions = {}): Bot {
  const administered = decided ?? administer(world);
  return createBot({
    commands,
    log: world.log,
    newReference: () => 'abc',
    admit: administered.admit,
    context: ({ address, person, invocation, platformPerson, settings }): Context => ({
      now: world.clock.now,
      log: world.log,
      party: async () => undefined,
      limits: { music: musicLimits },
      jobs: {
        start: (request) => {
          if (!invocation) throw new TypeError('no invocation');
          return world.jobs.start(request, invocation, settings);
        },
        find: world.jobs.find,
        recentSongs: (limit) => world.storage.jobs.recentSongs(address, limit),
        serverSongs: (limit) =>
          world.storage.jobs.recentServerSongs(
            { platform: address.platform, guild: address.guild ?? '' },
            limit,
          ),
        running: ({ everywhere } = { everywhere: false }) =>
          world.storage.jobs.running(everywhere ? { platform: address.platform } : address, person.id),
        cancel: (id) => world.jobs.cancel(id, person.id),
        reveal: world.jobs.reveal,
        undelivered: (limit) => world.storage.jobs.undelivered(address.platform, person.id, limit),
        showHere: (id) => world.jobs.showAt(id, address, person.id),
      },
      pages: {
        of: async ({ id }) => `https://bot.example/songs/${id}/signed`,
        setWithdrawn: ({ id }, withdrawn) => world.jobs.setPage(id, withdrawn),
      },
      models: {
        song: async (named) =>
          songModel(
            decided ? await decided.models.resolve('song', named, address, settings) : (named ?? 'V5'),
          ),
        resolve: decided
          ? (family, named) => decided.models.resolve(family, named, address, settings)
          : async (_family, named) => named ?? 'some-model',
        suggest: async (family, typed) => decided?.models.suggest(family, typed) ?? [],
        listedBy: () => [],
      },
      answers: {
        maxTokens: 4096,
        contextTokens: 16_000,
        illustratingModels: [],
        thinkingModels: [],
        ...(toolModel === undefined ? {} : { toolModel }),
      },
      settings: {
        get answers() {
          return decided ? answerSettings(settings) : { assistant: false, footer: true };
        },
      },
      judge: async () => {},
      hearsOnlyItsName: undefined,
      moderation: administered.moderation(address, platformPerson, settings),
      files: {
        made: ({ id }, source, accept) => world.jobs.file(id, source, accept),
      },
      voices: {
        list: () => world.voices.list(address),
        remove: (personaId) => world.voices.remove(address, personaId),
        removed: () => world.voices.removed(address),
        keep: (voice) => world.voices.keep(address, voice),
      },
    }),
  });
}
