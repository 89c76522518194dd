/** A replica: the real jobs, settings and limits on storage, gateway and chat, with every call as an effect. */
import { commands } from '../../commands/index.ts';
import { pause } from '../../src/core/util/clock.ts';
import { createJobs, type Jobs } from '../../src/jobs/jobs.ts';
import { createDecisionStore, type DecisionStore } from '../../src/settings/decisions.ts';
import { createMeter } from '../../src/settings/limits/meter.ts';
import { createVoices } from '../../src/settings/voices.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { SimulatedChat } from './channel.ts';
import { type RemoteOptions, remote } from './effects.ts';
import type { SimulatedGateway } from './gateway.ts';
import type { Process } from './kernel.ts';
import type { SimulatedMedia } from './media.ts';
import { type Plant, UNHARMED } from './plants.ts';

export interface Replica {
  readonly process: Process;
  readonly jobs: Jobs;
  readonly decisions: DecisionStore;
}

export interface ReplicaEnvironment extends RemoteOptions {
  readonly gateway: SimulatedGateway;
  readonly chat: SimulatedChat;
  readonly media: SimulatedMedia;
  readonly dailyLimit: number | undefined;
  readonly plant: Plant;
}

export function startReplica(process: Process, inner: Storage, environment: ReplicaEnvironment): Replica {
  const { kernel, gateway, chat, media, dailyLimit, plant } = environment;
  const clock = kernel.clockOf(process);
  const {
    storage: harm = UNHARMED,
    gateway: harmGateway = UNHARMED,
    platform: harmPlatform = UNHARMED,
  } = plant;
  const storage = harm(remote(inner, process, environment));
  const { now } = clock;
  const platform = harmPlatform(chat.platformOf(process));
  let ids = 0;
  const newId = () => `${process.name.replace(/\W/g, '')}n${++ids}`;
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (fields: object, sentence: string) =>
      kernel.tell(process.name, `logs: ${sentence} ${'err' in fields ? String(fields.err) : ''}`),
  };
  const jobs = createJobs({
    storage,
    gateway: harmGateway(gateway.clientOf(process)),
    media: media.of(process),
    pictures: {
      fit: () => Promise.reject(new TypeError('images are not scaled in simulations')),
      clean: async (bytes) => bytes,
    },
    voices: createVoices({ settings: storage.settings }),
    meter: createMeter({
      usage: storage.usage,
      ceilings:
        dailyLimit === undefined
          ? []
          : [{ scope: 'personOnPlatform', of: 'requests', per: 'day', most: dailyLimit }],
      costs: {},
      now,
      isPaused: () => false,
      measure: () => {},
    }),
    platform: (name) => (name === platform.name ? platform : undefined),
    command: (name) => commands.find((command) => command.name === name),
    callbackUrl: (job) => `https://bot.example/callbacks/music/${job}/signature`,
    fileUrl: ({ name }) => `https://bot.example/files/${name}`,
    pageUrl: async () => undefined,
    concurrency: { song: 2, image: 2, video: 2, ask: 2 },
    measure: () => {},
    now,
    sleep: (milliseconds, signal) => pause(milliseconds, signal, clock),
    random: kernel.random,
    newId,
    log,
  });
  const decisions = createDecisionStore({ store: storage.settings, now, newId });
  return { process, jobs, decisions };
}
