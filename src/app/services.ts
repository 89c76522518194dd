/** Services that Minstrel uses: storage, the listener, the gateway or its emulator, stored files. */

import { randomBytes } from 'node:crypto';
import { extname } from 'node:path';
import { Agent, fetch } from 'undici';
import type { AnswerOffer } from '../core/bot/context.ts';
import { systemClock } from '../core/clock.ts';
import type { System } from '../core/system.ts';
import type { Measure } from '../core/telemetry/series.ts';
import { present } from '../core/util/present.ts';
import { defaultModels as emulatedDefaults, specialModels } from '../emulator/models.ts';
import type { EmulatorOptions } from '../emulator/options.ts';
import type { Emulator } from '../emulator/server.ts';
import { createGateway, type Gateway } from '../gateway/client.ts';
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
  /** For operators' numbers. */
  readonly measure: Measure;
  /** For operators' traces; left out, there are none. */
  readonly traces?: Traces | undefined;
  /** Of the emulator, where that is the gateway. */
  readonly emulatorOptions?: Pick<EmulatorOptions, 'speed' | 'songSeconds' | 'longestVideoSeconds'>;
}

/** The services that Minstrel uses. */
export interface Services {
  readonly storage: Storage;
  /** Callbacks and links are signed with the first; what any of them signed is accepted. */
  readonly secrets: readonly [string, ...string[]];
  readonly listener: Listener;
  readonly publicUrl: string;
  readonly gateway: Gateway;
  readonly gatewayUrl: string;
  readonly emulator: Emulator | undefined;
  readonly media: Media;
}

export async function openServices(options: ServiceOptions, opened: AsyncDisposableStack): Promise<Services> {
  const { config, log, measure } = options;
  const storage = measuredStorage(await openStorage(config, options), measure, options.elapsed);
  opened.defer(() => storage.close());
  const stored = await storage.secret('signing', newSecret);
  // Links signed before a secret was set stay valid.
  const [first = stored, ...others] = [...config.signingSecrets, stored];
  const secrets = [first, ...others] as const;

  const listener = await listenAt({ host: config.listener.host, port: config.listener.port, log });
  opened.defer(() => listener.close());
  const publicUrl = config.listener.publicUrl ?? listener.url;

  const emulator = config.gateway ? undefined : await openEmulator(options.emulatorOptions);
  if (emulator) opened.defer(() => emulator.close());
  const account = config.gateway ?? { baseUrl: emulator?.url ?? '', apiKey: emulator?.apiKey ?? '' };
  const gateway = openGateway(account, options);
  opened.defer(() => gateway.close());

  const reached = { publicUrl, listenerUrl: listener.url, secrets, emulator };
  const media = await openMedia(config, { ...options, ...reached });
  const pruning = startPruning({ ...options, media });
  opened.defer(async () => {
    // A round that hangs ends with the connections it hangs on.
    const stopped = pruning.stop();
    await media.close();
    await stopped;
  });
  const gatewayUrl = account.baseUrl;
  return { storage, secrets, listener, publicUrl, gateway, gatewayUrl, emulator, media };
}

/** The storage of the settings: Redis where one is named, else a file in the data directory. Throws StorageError. */
export async function openStorage(
  { storage }: Pick<Config, 'storage'>,
  { log, random, measure = unmeasured }: Pick<System, 'random' | 'log'> & { measure?: Measure },
): Promise<Storage> {
  const tools = { clock: systemClock, random, log, measure };
  switch (storage.type) {
    case 'sqlite':
      return openSqliteStorage({ path: databaseFile(storage.directory), ...tools });
    case 'redis': {
      // Loaded only when it is needed: Redis and BullMQ are a third of all modules.
      const { openRedisStorage } = await import('../storage/redis/open.ts');
      return openRedisStorage({ url: storage.url, ...tools });
    }
    default:
      return storage satisfies never;
  }
}

/** As {@link openStorage}, for programs that work on what a bot has stored: no database is made. Throws StorageError. */
export async function openExistingStorage(
  ...[config, tools]: Parameters<typeof openStorage>
): Promise<Storage> {
  if (config.storage.type === 'sqlite') assertDatabase(databaseFile(config.storage.directory));
  return openStorage(config, tools);
}

/** The client, over connections of its own. */
export function openGateway(
  account: { readonly baseUrl: string; readonly apiKey: string },
  tools: System & Pick<ServiceOptions, 'measure' | 'traces'>,
): Gateway & { close(): Promise<void> } {
  const { measure, traces } = tools;
  // Over HTTP/2 all requests share a connection. One that died silently is replaced only after a timeout of undici's
  // own, and there is none here: the client has its own.
  const dispatcher = new Agent({
    connect: { timeout: 10_000 },
    allowH2: false,
    bodyTimeout: 0,
    headersTimeout: 0,
  });
  const gateway = createGateway({
    ...account,
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

/** The built-in emulator, if no gateway is set. */
async function openEmulator(options: ServiceOptions['emulatorOptions']): Promise<Emulator> {
  // Loaded only when it is needed: with a real gateway its synthesisers never enter memory.
  const { startEmulator } = await import('../emulator/server.ts');
  return startEmulator(options);
}

/** What the operator decided, and the emulator's own special models where it is the gateway. */
export function answerOffer({ answers }: Config, emulator: Emulator | undefined): AnswerOffer {
  if (!emulator) return answers;
  return {
    ...specialModels,
    ...answers,
    illustratingModels: [...specialModels.illustratingModels, ...answers.illustratingModels],
    thinkingModels: [...specialModels.thinkingModels, ...answers.thinkingModels],
  };
}

/** The deployment's models; the emulator's own where it is the gateway and the operator chose none. */
export function modelDefaults({ models }: Config, emulator: Emulator | undefined): ModelDefaults {
  if (!emulator) return models;
  return { ...emulatedDefaults, ...models };
}

/** Of links to files that were too large for the chat. */
const LINK_TTL_SECONDS = 30 * 86_400;

/** A song is a few MB and a video rarely more than 100; anything past this is not a result. */
const FETCHING = {
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

/** Fetching, checking and keeping of files, as the settings say. */
async function openMedia({ media, discord, slack, playground }: Config, deps: MediaTools): Promise<Media> {
  const { listenerUrl, measure, emulator } = deps;
  // The emulator on loopback is the one address that is not public and yet allowed, only while it is the gateway.
  const emulatorHost = emulator ? [new URL(emulator.url).host] : [];
  // What people attach in the playground is at the listener itself.
  const platformUrls = [discord?.apiUrl, slack?.apiUrl, ...(playground ? [listenerUrl] : [])];
  const platformHosts = platformUrls.flatMap((url) => (url ? [new URL(url).host] : []));
  const store = await openMediaStore(media, deps);
  return createMedia({
    ...deps,
    store: measuredStore(store, measure),
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

/** How platforms read stored files. */
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

/** Where nothing is measured. */
export const unmeasured: Measure = () => {};

/** 256 bits, as text for URLs. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}
