/** The HTTP routes of the listener. */
import { pagePath } from '../../core/web/page-url.ts';
import { fileRoutes } from '../../http/files.ts';
import { type HealthPart, healthRoutes } from '../../http/health.ts';
import { musicCallbackRoutes } from '../../http/music-callback.ts';
import { songRoutes } from '../../http/pages/routes.ts';
import { platformRoutes } from '../../http/platform-routes.ts';
import { playgroundRoutes, playgroundUrl } from '../../http/playground/routes.ts';
import type { Routes } from '../../http/server.ts';
import { limitVisitors } from '../../http/visitors.ts';
import type { Platform } from '../../platforms/platform.ts';
import { createContestStore } from '../../settings/contests/contests.ts';
import { type Storage, StorageError } from '../../storage/storage.ts';
import type { Application, ApplicationOptions, Platforms } from '../application.ts';
import type { Services } from '../services.ts';
import { createPageSource } from './page-source.ts';

export function routesOf(
  services: Services,
  platforms: Platforms,
  { jobs, decisions }: Application,
  { log, now, elapsed, measure }: ApplicationOptions,
): Routes[] {
  const { storage, secrets, media, publicUrl } = services;
  const source = createPageSource({
    storage,
    media,
    decisions,
    contests: createContestStore(storage),
    pathOf: ({ id }) => pagePath('songs', id, secrets[0]),
  });
  return [
    musicCallbackRoutes({ secrets, log, measure, receive: jobs.receive }),
    healthRoutes({ parts: healthParts(storage, [...platforms.values()]), elapsed, log }),
    limitVisitors(
      [
        fileRoutes({ log, now, media, isPageOpen: source.isOpen }),
        songRoutes({ source, secrets, publicUrl, log, now }),
      ],
      {
        elapsed,
      },
    ),
    ...[...platforms.values()].flatMap(({ listener }) => (listener ? [platformRoutes(listener)] : [])),
  ];
}

/** Undefined if the playground is off. */
export function playgroundOf(
  { listener: { url } }: Services,
  platforms: Platforms,
): { readonly routes: Routes[]; readonly url: string } | undefined {
  const chat = platforms.values().find(({ browserChat }) => browserChat)?.browserChat;
  if (!chat) return undefined;
  return { routes: [playgroundRoutes({ chat, url })], url: playgroundUrl({ chat, url }) };
}

/** The checks behind `/readyz`. */
export function healthParts(storage: Pick<Storage, 'check'>, platforms: readonly Platform[]): HealthPart[] {
  return [
    {
      name: 'storage',
      check: async () => {
        try {
          await storage.check();
          return { ready: true };
        } catch (error) {
          if (!(error instanceof StorageError) || error.code !== 'schema') throw error;
          // Only an operator can fix this, so the reason is shown. The endpoint is public, so it has no path.
          return { ready: false, reason: 'The database file is damaged; its path is in the log' };
        }
      },
    },
    {
      name: 'platforms',
      check: () => {
        const unready = platforms.flatMap((platform) => {
          const status = platform.status();
          return status.ready ? [] : [`${platform.name}: ${status.reason}`];
        });
        return unready.length === 0 ? { ready: true } : { ready: false, reason: unready.join('; ') };
      },
    },
  ];
}
