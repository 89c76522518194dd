/** Creates the chat platforms that are turned on in the settings. */

import type { System } from '../core/system.ts';
import type { Measure } from '../core/telemetry/series.ts';
import { sleep, systemClock } from '../core/util/clock.ts';
import type { WithLock } from '../core/util/lock.ts';
import type { MediaReader, Platform } from '../platforms/platform.ts';
import { createWeb, type WebFiles } from '../platforms/web/adapter.ts';
import { createLocks } from '../storage/locks.ts';
import type { SettingsStore } from '../storage/storage.ts';
import type { ApplicationOptions, Platforms } from './application.ts';
import type { Config } from './config/read.ts';
import { newSecret, readerOf, type Services } from './services.ts';

export interface PlatformTools extends Pick<System, 'now' | 'elapsed' | 'random' | 'newId' | 'log'> {
  readonly sleep: typeof sleep;
  readonly measure: Measure;
  readonly media: MediaReader & WebFiles;
  readonly withLock: WithLock;
  readonly settings: SettingsStore;
  /** Returns the secret with this name, generated once and stored. */
  readonly secret: (name: string) => Promise<string>;
  /** The listener's URL on this machine. */
  readonly listenerUrl: string;
}

export type MakePlatforms = (tools: PlatformTools) => readonly Platform[] | Promise<readonly Platform[]>;

export async function createPlatforms(
  { storage, media, listener }: Services,
  make: MakePlatforms,
  options: ApplicationOptions,
): Promise<Platforms> {
  const { log, now, elapsed, random, newId, measure } = options;
  const platforms = await make({
    media: readerOf(media),
    measure,
    log,
    now,
    random,
    elapsed,
    newId,
    sleep,
    withLock: createLocks({ ...storage, clock: systemClock, newId }),
    settings: storage.settings,
    secret: (name) => storage.secret(name, newSecret),
    listenerUrl: listener.url,
  });
  return new Map(platforms.map((platform) => [platform.name, platform] as const));
}

/** Imports only the platforms in use: each client library takes longer to load than all of Minstrel. */
export async function platformsFor(
  { discord, slack, playground }: Config,
  tools: PlatformTools,
): Promise<Platform[]> {
  const platforms: Platform[] = [];
  if (discord) {
    const { createDiscord } = await import('../platforms/discord/adapter.ts');
    platforms.push(createDiscord({ ...discord, ...tools }));
  }
  if (slack) {
    const { createSlack } = await import('../platforms/slack/adapter.ts');
    platforms.push(createSlack({ ...slack, ...tools }));
  }
  if (playground) {
    const token = await tools.secret('playground');
    platforms.push(createWeb({ ...tools, token, url: tools.listenerUrl }));
  }
  return platforms;
}
