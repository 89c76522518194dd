/** What the listener serves. */

import { systemClock } from '../../core/clock.ts';
import { fileRoutes } from '../../http/files.ts';
import { healthRoutes } from '../../http/health.ts';
import { musicCallbackRoutes } from '../../http/music-callback.ts';
import { platformRoutes } from '../../http/platform-routes.ts';
import { playgroundRoutes, playgroundUrl } from '../../http/playground/routes.ts';
import type { Routes } from '../../http/server.ts';
import { limitVisitors } from '../../http/visitors.ts';
import type { Application, ApplicationOptions, Platforms } from '../application.ts';
import type { Services } from '../services.ts';
import { healthParts } from './health-parts.ts';
import { songPageRoutes } from './song-pages.ts';

const { elapsed } = systemClock;

export function routesOf(
  services: Services,
  platforms: Platforms,
  { jobs, decisions }: Application,
  { log, now, measure }: ApplicationOptions,
): Routes[] {
  const { storage, secrets, media } = services;
  return [
    musicCallbackRoutes({ secrets, log, measure, receive: jobs.receive }),
    healthRoutes({ parts: healthParts(storage, [...platforms.values()]), elapsed, log }),
    limitVisitors(
      [fileRoutes({ log, now, media }), ...songPageRoutes(services, decisions, { log, elapsed })],
      { elapsed },
    ),
    ...[...platforms.values()].flatMap(({ listener }) => (listener ? [platformRoutes(listener)] : [])),
  ];
}

/** Where the chat in the browser is on. */
export function playgroundOf(
  { listener: { url } }: Services,
  platforms: Platforms,
): { readonly routes: Routes[]; readonly url: string } | undefined {
  const chat = platforms.values().find(({ browserChat }) => browserChat)?.browserChat;
  if (!chat) return undefined;
  return { routes: [playgroundRoutes({ chat, url })], url: playgroundUrl({ chat, url }) };
}
