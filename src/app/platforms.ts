/** The chat platforms that the settings switch on. */

import { sleep, systemClock } from '../core/clock.ts';
import type { System } from '../core/system.ts';
import type { Measure } from '../core/telemetry/series.ts';
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
  /** The secret of this name, made once and kept in storage. */
  readonly secret: (name: string) => Promise<string>;
  /** Where this machine reaches the listener. */
  readonly listenerUrl: string;
}

export type MakePlatforms = (tools: PlatformTools) => readonly Platform[] | Promise<readonly Platform[]>;

/** Creates the platforms that `make` names. */
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

/** Loads what is switched on alone: the client of a platform takes longer to load than all of this project. */
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
