/** Builds everything from the settings, starts it, and drains it. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { home } from '../commands/home.ts';
import { commands } from '../commands/index.ts';
import { startAdministration } from './administration.ts';
import { createBot } from './bot.ts';
import type { Address, FileReference, Log } from './command.ts';
import type { Config } from './config.ts';
import { fileRoutes } from './http/files.ts';
import { healthRoutes } from './http/health.ts';
import { callbackUrl, musicCallbackRoutes } from './http/music-callback.ts';
import { pageRoutes } from './http/pages.ts';
import { createHttpServer, type Routes } from './http/server.ts';
import { webhookRoutes } from './http/webhook.ts';
import { contextOf } from './invocation-context.ts';
import { createJobs } from './jobs/jobs.ts';
import { createPace } from './jobs/pace.ts';
import { createPromises } from './jobs/promises.ts';
import { runningEverywhere } from './jobs/running.ts';
import { createPictureFitter } from './media/pictures.ts';
import { startPruning } from './media/pruning.ts';
import { answerOffer, defaultModels, openEmulator, openGateway } from './open-gateway.ts';
import { openMedia, readerOf } from './open-media.ts';
import { openStorage } from './open-storage.ts';
import type { Bot, MediaReader, Platform } from './platforms/platform.ts';
import { familyOf } from './settings/costs.ts';
import { createVoices } from './settings/voices.ts';
import type { SettingsStore, Storage } from './storage/storage.ts';
import { createTurns } from './storage/turns.ts';
import type { JobView } from './work.ts';

export interface PlatformTools {
  readonly media: MediaReader;
  readonly log: Log;
  readonly now: () => number;
  /** Runs the work while no other replica runs a task of this name. */
  readonly inTurn: (task: string, work: () => Promise<void>) => Promise<void>;
  readonly settings: SettingsStore;
}

export interface AssembleOptions {
  readonly config: Config;
  readonly platforms: (tools: PlatformTools) => readonly Platform[];
  readonly log: Log;
  readonly now: () => number;
  readonly random: () => number;
  /** How fast the emulator works: 1 is a person's patience, 0 at once. */
  readonly emulatorSpeed?: number;
}

export interface Minstrel {
  /** Where this machine reaches the listener. */
  readonly url: string;
  /** Where the gateway is; the emulator's address when that is the gateway. */
  readonly gatewayUrl: string;
  /** Where operators read metrics; undefined where they did not ask for it. */
  readonly metricsUrl: string | undefined;
  readonly bot: Bot;
  readonly job: (id: string) => Promise<JobView | undefined>;
  /** Takes no new work, hands over what runs, closes everything. */
  stop(): Promise<void>;
}

/** The public relative allows 20 a second for each account; other replicas poll too. */
const POLLS_PER_SECOND = 5;

/** SIGTERM has 10 s in all (the platform's and Docker's default): running steps get this much of it. */
const DRAIN_MS = 7_000;

/** Builds and starts everything. Throws StorageError or ListenError with a sentence for the operator. */
export async function assemble(options: AssembleOptions): Promise<Minstrel> {
  const { config, log, now, random } = options;
  const closers: (() => Promise<unknown>)[] = [];
  try {
    return await build(options, closers);
  } catch (error) {
    await closeAll(closers, log);
    throw error;
  }

  async function build({ platforms }: AssembleOptions, opened: typeof closers): Promise<Minstrel> {
    const storage = await openStorage(config, { log, random });
    opened.push(() => storage.close());
    const secrets = await signingSecrets(config, storage);
    const [secret = ''] = secrets;

    let running: readonly Platform[] = [];
    const byName = new Map<string, Platform>();
    const newId = () => randomBytes(10).toString('hex');
    const server = await createHttpServer({
      host: config.listener.host,
      port: config.listener.port,
      log,
      routes: [
        musicCallbackRoutes({ secrets, log, receive: (job, body) => jobs.receive(job, body) }),
        ...(config.discord?.publicKey === undefined
          ? []
          : [
              webhookRoutes({
                path: '/discord/interactions',
                receive: async (request) => await byName.get('discord')?.receive?.(request),
              }),
            ]),
        ...slackRoutes(config, () => byName.get('slack')),
        healthRoutes({ parts: parts(storage, () => running), now, log }),
        fileRoutes({
          log,
          now,
          media: {
            verifyLink: (name, query) => media.verifyLink(name, query),
            stat: (name) => media.stat(name),
            open: (name, range) => media.open(name, range),
          },
        }),
      ],
    });
    opened.push(() => server.close());
    const publicUrl = config.listener.publicUrl ?? server.url;

    const emulator = config.gateway ? undefined : await openEmulator(options.emulatorSpeed);
    if (emulator) opened.push(() => emulator.close());
    const gateway = openGateway(
      config.gateway ?? { baseUrl: emulator?.url ?? '', apiKey: emulator?.apiKey ?? '' },
      options,
    );
    opened.push(() => gateway.close());

    const media = openMedia(config, { publicUrl, secrets, now, emulator, log });
    const pruning = startPruning({
      media,
      log,
      random,
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    });
    opened.push(async () => {
      // A round that hangs ends with the connections it hangs on.
      const stopped = pruning.stop();
      await media.close();
      await stopped;
    });

    const turns = createTurns({ settings: storage.settings, now, newId });
    running = platforms({
      media: readerOf(media),
      log,
      now,
      inTurn: (task, work) => turns.run(task, work),
      settings: storage.settings,
    });
    for (const platform of running) byName.set(platform.name, platform);
    const byCommand = new Map(commands.map((command) => [command.name, command]));
    const { link: fileUrl } = readerOf(media);

    const voices = createVoices({ settings: storage.settings });
    const administration = await startAdministration({
      config,
      storage,
      gateway,
      media,
      voices,
      commands,
      defaults: await defaultModels(config, emulator),
      platforms: () => running,
      now,
      newId,
      log,
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    });
    opened.push(() => administration.stop());
    const { meter } = administration;
    const jobs = createJobs({
      storage,
      gateway,
      meter,
      media,
      voices,
      platform: (name) => byName.get(name),
      command: (name) => byCommand.get(name),
      invoke: (invocation) => bot.run(invocation),
      callbackUrl: (job) => callbackUrl(publicUrl, job, secret),
      fileUrl,
      concurrency: config.concurrency,
      familyOf,
      pollPace: createPace({ perSecond: POLLS_PER_SECOND, now }),
      now,
      sleep: (ms, signal) => sleep(ms, undefined, signal ? { signal } : {}).catch(() => undefined),
      random,
      newId,
      log,
    });

    const headersOf = async (address: Address, { url }: FileReference) =>
      (await byName.get(address.platform)?.attachmentHeaders(url, address)) ?? {};
    const answers = await answerOffer(config, emulator);
    const fitPicture = createPictureFitter();
    const promises = createPromises({
      settings: storage.settings,
      platform: (name) => byName.get(name),
      alone: config.storage.type === 'sqlite',
      now,
      sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
      newId,
      log,
    });
    const bot: Bot = createBot({
      commands,
      log,
      promises,
      newReference: newId,
      admit: administration.admit,
      home: async ({ address, person }, context) =>
        home({
          person,
          context,
          commands,
          running: await runningEverywhere(storage.jobs, { ...address, person: person.id }),
        }),
      context: (occasion) =>
        contextOf(occasion, {
          now,
          log,
          jobs,
          gateway,
          media,
          voices,
          administration,
          answers,
          fitPicture,
          headersOf,
        }),
    });

    gateway.models.startRefreshing();
    await jobs.run();
    opened.push(() => drain(jobs.stop(), log));
    for (const platform of running) {
      opened.push(() => platform.close());
      await platform.start(bot);
    }
    const closing = new AbortController();
    const watching = promises.watch(closing.signal);
    opened.push(async () => {
      closing.abort();
      await watching;
    });
    opened.push(() => Promise.all(running.map((platform) => platform.stop())));
    return {
      url: server.url,
      gatewayUrl: emulator?.url ?? config.gateway?.baseUrl ?? '',
      metricsUrl: administration.metricsUrl,
      bot,
      job: (id) => jobs.find(id),
      stop: () => closeAll(opened, log),
    };
  }
}

/** What Slack sends to the listener, and the pages by which workspaces install the app. */
function slackRoutes({ slack }: Config, platform: () => Platform | undefined): Routes[] {
  return [
    ...(slack?.connection.type === 'http'
      ? [
          webhookRoutes({
            path: '/slack/events',
            receive: async (request) => await platform()?.receive?.(request),
          }),
        ]
      : []),
    ...(slack?.account.type === 'oauth'
      ? [pageRoutes({ paths: ['/slack/install', '/slack/oauth_redirect'], visit: () => platform()?.visit })]
      : []),
  ];
}

/** In the opposite order of opening; one that fails keeps none of the others from closing. */
async function closeAll(closers: (() => Promise<unknown>)[], log: Log): Promise<void> {
  for (let close = closers.pop(); close; close = closers.pop()) {
    await close().catch((error: unknown) => log.error({ err: error }, 'Something did not close well'));
  }
}

/** Waits for the steps that run; what is longer than that goes on from its record at the next start. */
async function drain(stopped: Promise<void>, log: Log): Promise<void> {
  const patience = new AbortController();
  const late = sleep(DRAIN_MS, 'late' as const, { signal: patience.signal }).catch(() => 'ended' as const);
  const outcome = await Promise.race([stopped, late]);
  patience.abort();
  if (outcome === 'late') log.warn({}, 'Some work is cut short; it goes on at the next start');
}

async function signingSecrets(
  { signingSecrets: given }: Config,
  storage: Storage,
): Promise<readonly string[]> {
  const stored = await storage.secret('signing', () => randomBytes(32).toString('base64url'));
  // What was signed before a secret was set goes on being accepted.
  return [...given, stored];
}

function parts(storage: Storage, platforms: () => readonly Platform[]) {
  return [
    {
      name: 'storage',
      check: async () => {
        await storage.check();
        return { ready: true as const };
      },
    },
    {
      name: 'platforms',
      check: () => {
        const away = platforms().flatMap((platform) => {
          const status = platform.status();
          return status.ready ? [] : [`${platform.name}: ${status.reason}`];
        });
        return away.length === 0
          ? { ready: true as const }
          : { ready: false as const, reason: away.join('; ') };
      },
    },
  ];
}
