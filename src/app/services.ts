/** Opens the services that Minstrel uses: storage, the listener, the gateway or its emulator, and media. */

import { randomBytes } from 'node:crypto';
import { extname } from 'node:path';
import { Agent, fetch } from 'undici';
import type { AnswerOffer } from '../core/bot/context.ts';
import type { System } from '../core/system.ts';
import type { Measure } from '../core/telemetry/series.ts';
import { systemClock } from '../core/util/clock.ts';
import { present } from '../core/util/present.ts';
import { defaultModels as emulatedDefaults, specialModels } from '../emulator/models.ts';
import type { EmulatorOptions } from '../emulator/options.ts';
import type { Emulator } from '../emulator/server.ts';
import { createGateway, type Gateway } from '../gateway/client.ts';
import { type Accounts, gatewayAccounts } from '../gateway/routes.ts';
import { type Listener, listenAt } from '../http/server.ts';
import { safeFileName } from '../media/content/file-names.ts';
import { MediaError } from '../media/errors.ts';
import { createMediaFetcher } from '../media/fetch/fetcher.ts';
import { createMedia, type Media } from '../media/media.ts';
import { createFolderStore } from '../media/store/folder.ts';
import type { MediaStore } from '../media/store/media-store.ts';
import { startPruning } from '../media/store/pruning.ts';
import type { MediaReader } from '../platforms/platform.ts';
import type { WebFiles } from '../platforms/web/adapter.ts';
import type { ModelDefaults } from '../settings/models.ts';
import { assertDatabase } from '../storage/sqlite/copy.ts';
import { databaseFile } from '../storage/sqlite/database-file.ts';
import { openSqliteStorage } from '../storage/sqlite/open.ts';
import type { Storage } from '../storage/storage.ts';
import type { Config } from './config/read.ts';
import { measuredStorage, measuredStore } from './telemetry/measured-stores.ts';
import type { Traces } from './telemetry/traces.ts';

export interface ServiceOptions extends System {
  readonly config: Config;
  readonly measure: Measure;
  /** Undefined if traces are off. */
  readonly traces?: Traces | undefined;
  /** Options for the emulator if there is no gateway. */
  readonly emulatorOptions?: Pick<EmulatorOptions, 'speed' | 'songSeconds' | 'longestVideoSeconds'>;
}

export interface Services {
  readonly storage: Storage;
  /** The first signs callbacks and links. Signatures of all of them are accepted. */
  readonly secrets: readonly [string, ...string[]];
  readonly listener: Listener;
  readonly publicUrl: string;
  readonly gateway: Gateway;
  readonly emulator: Emulator | undefined;
  readonly media: Media;
}

export async function openServices(options: ServiceOptions, opened: AsyncDisposableStack): Promise<Services> {
  const { config, log, measure } = options;
  const storage = measuredStorage(await openStorage(config, options), measure, options.elapsed);
  opened.defer(() => storage.close());
  const stored = await storage.secret('signing', newSecret);
  // Links signed before a secret was set stay valid.
  const [first = stored, ...rest] = [...config.signingSecrets, stored];
  const secrets = [first, ...rest] as const;

  const listener = await listenAt({ host: config.listener.host, port: config.listener.port, log });
  opened.defer(() => listener.close());
  const publicUrl = config.listener.publicUrl ?? listener.url;

  const emulator = config.emulated.length > 0 ? await openEmulator(options.emulatorOptions) : undefined;
  if (emulator) opened.defer(() => emulator.close());
  const emulated =
    emulator && gatewayAccounts({ baseUrl: emulator.url, apiKey: emulator.apiKey }, config.emulated);
  const gateway = openGateway({ ...config.accounts, ...emulated }, options);
  opened.defer(() => gateway.close());

  const addresses = { publicUrl, listenerUrl: listener.url, secrets, emulator };
  const media = await openMedia(config, { ...options, ...addresses });
  const pruning = startPruning({ ...options, media });
  opened.defer(async () => {
    // Closing the connections ends a prune that hangs.
    const stopped = pruning.stop();
    await media.close();
    await stopped;
  });
  return { storage, secrets, listener, publicUrl, gateway, emulator, media };
}

/** Opens Redis if it is configured, otherwise a database file in the data directory. Throws StorageError. */
export async function openStorage(
  { storage }: Pick<Config, 'storage'>,
  { log, random, measure = unmeasured }: Pick<System, 'random' | 'log'> & { measure?: Measure },
): Promise<Storage> {
  const tools = { clock: systemClock, random, log, measure };
  switch (storage.type) {
    case 'sqlite':
      return openSqliteStorage({ path: databaseFile(storage.directory), ...tools });
    case 'redis': {
      // Imported on demand: Redis and BullMQ are a third of all modules.
      const { openRedisStorage } = await import('../storage/redis/open.ts');
      return openRedisStorage({ url: storage.url, ...tools });
    }
    default:
      return storage satisfies never;
  }
}

/** As {@link openStorage}, but throws StorageError if there is no database, instead of creating one. */
export async function openExistingStorage(
  ...[config, tools]: Parameters<typeof openStorage>
): Promise<Storage> {
  if (config.storage.type === 'sqlite') assertDatabase(databaseFile(config.storage.directory));
  return openStorage(config, tools);
}

/** Creates a client with its own connections. */
export function openGateway(
  accounts: Accounts,
  tools: System & Pick<ServiceOptions, 'measure' | 'traces'>,
): Gateway & { close(): Promise<void> } {
  const { measure, traces } = tools;
  // HTTP/2 shares one connection, and undici replaces a dead one only after its own timeouts. These are off, because
  // the client has timeouts.
  const dispatcher = new Agent({
    connect: { timeout: 10_000 },
    allowH2: false,
    bodyTimeout: 0,
    headersTimeout: 0,
  });
  const gateway = createGateway({
    accounts,
    fetch: (url, init) => fetch(url, { ...init, dispatcher }),
    ...tools,
    onRequest: (request) => {
      traces?.tracer.recordRequest(request);
      const { route, status, code, milliseconds, tries } = request;
      const labels = { route, status: String(status ?? 'none'), code };
      measure('minstrel_gateway_request_seconds', labels, milliseconds / 1000);
      if (tries > 1) measure('minstrel_gateway_retries_total', { route });
      if (code === 'rate') measure('minstrel_rate_limits_total', { by: 'gateway' });
    },
  });
  return {
    ...gateway,
    async close() {
      await gateway.models.stop();
      await dispatcher.destroy();
    },
  };
}

async function openEmulator(options: ServiceOptions['emulatorOptions']): Promise<Emulator> {
  // Imported on demand: with a real gateway, the synthesisers are never loaded.
  const { startEmulator } = await import('../emulator/server.ts');
  return startEmulator(options);
}

/** The operator's settings for answers, plus the special models of the families that the emulator plays. */
export function answerOffer({ answers, emulated }: Pick<Config, 'answers' | 'emulated'>): AnswerOffer {
  const { visionModel, toolModel, illustratingModels, thinkingModels } = specialModels;
  const isGen = emulated.includes('gen');
  return {
    ...(emulated.includes('msg') && { visionModel }),
    ...(isGen && { toolModel }),
    ...answers,
    illustratingModels: [...(isGen ? illustratingModels : []), ...answers.illustratingModels],
    thinkingModels: [...(isGen ? thinkingModels : []), ...answers.thinkingModels],
  };
}

/** Gen models of special routes, which the gateway may not list. */
export function configuredModels(config: Pick<Config, 'answers' | 'emulated'>): string[] {
  const { toolModel, illustratingModels, thinkingModels } = answerOffer(config);
  return [...(toolModel === undefined ? [] : [toolModel]), ...illustratingModels, ...thinkingModels];
}

/** The default models of the deployment. The emulator's fill the gaps in the families that it plays. */
export function modelDefaults({ models, emulated }: Pick<Config, 'models' | 'emulated'>): ModelDefaults {
  const { ask, image, video } = emulatedDefaults;
  return {
    ...(emulated.includes('chat') && { ask }),
    ...(emulated.includes('media') && { image, video }),
    ...models,
  };
}

/** How long links to files too large for the chat stay valid. */
const LINK_TTL_SECONDS = 30 * 86_400;

/** A song has a few MB and a video rarely more than 100. */
export const FETCHING = {
  maximumBytes: 512 * 1024 * 1024,
  timeoutMs: { gateway: 10 * 60_000, platform: 10 * 60_000, person: 2 * 60_000 },
  idleTimeoutMs: 30_000,
  maximumRedirects: 5,
  concurrency: 8,
} as const;

interface MediaTools extends System {
  readonly publicUrl: string;
  readonly listenerUrl: string;
  readonly secrets: readonly string[];
  readonly measure: Measure;
  readonly emulator: Emulator | undefined;
}

/** Opens the store and the fetcher for media. */
async function openMedia({ media, discord, slack, playground }: Config, deps: MediaTools): Promise<Media> {
  const { listenerUrl, measure, emulator } = deps;
  // The emulator is the only loopback address that may be fetched from, and only while it is in use.
  const emulatorHost = emulator ? [new URL(emulator.url).host] : [];
  // The listener itself serves files attached in the playground.
  const platformUrls = [discord?.apiUrl, slack?.apiUrl, ...(playground ? [listenerUrl] : [])];
  const platformHosts = platformUrls.flatMap((url) => (url ? [new URL(url).host] : []));
  const store = await openMediaStore(media, deps);
  return createMedia({
    ...deps,
    store: measuredStore(store, media.quotaBytes, measure),
    fetcher: createMediaFetcher({
      ...deps,
      ...FETCHING,
      allowedHosts: {
        gateway: new Set([...media.allowedHosts, ...emulatorHost]),
        platform: new Set(platformHosts),
      },
    }),
    linkTtlSeconds: LINK_TTL_SECONDS,
  });
}

export async function openMediaStore(
  { store, quotaBytes, retentionMs }: Config['media'],
  { now, random, sleep }: Pick<System, 'now' | 'random' | 'sleep'>,
): Promise<MediaStore> {
  const bounds = { quotaBytes, ...present({ retentionMs }), now };
  switch (store.type) {
    case 'folder':
      return createFolderStore({ directory: store.directory, ...bounds });
    case 's3': {
      const { createS3Store } = await import('../media/store/s3.ts');
      const { type: _, ...address } = store;
      return createS3Store({ ...address, ...bounds, random, sleep });
    }
    default:
      return store satisfies never;
  }
}

/** Gives platforms access to stored files. */
export function readerOf(media: Media): MediaReader & WebFiles {
  const named = (title: string, name: string) => ({
    downloadName: safeFileName(title, extname(name).slice(1)),
  });
  return {
    async open({ name }) {
      const opened = await media.open(name);
      if (!opened) throw new MediaError('missing', 'The file is no longer available');
      return opened.stream;
    },
    link: ({ name }, title) => media.link(name, named(title, name)),
    path: ({ name }, title) => media.path(name, named(title, name)),
  };
}

/** Discards measurements. */
export const unmeasured: Measure = () => {};

/** Returns 256 random bits, encoded for URLs. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}
