/** What the listener serves. */
import { fileRoutes } from '../../http/files.ts';
import { healthRoutes } from '../../http/health.ts';
import { musicCallbackRoutes } from '../../http/music-callback.ts';
import { pageRoutes, webhookRoutes } from '../../http/platform-routes.ts';
import { playgroundRoutes, playgroundUrl } from '../../http/playground/routes.ts';
import type { Routes } from '../../http/server.ts';
import { limitVisitors } from '../../http/visitors.ts';
import { systemClock } from '../../storage/schedule.ts';
import type { Inside, InsideOptions, Platforms } from '../inside/inside.ts';
import type { Outside } from '../outside.ts';
import { healthParts } from './health-parts.ts';
import { songPageRoutes } from './song-pages.ts';

const { elapsed } = systemClock;

export function routesOf(
  outside: Outside,
  platforms: Platforms,
  { jobs, administration }: Inside,
  { config, log, now, measure }: InsideOptions,
): Routes[] {
  const { storage, secrets, media } = outside;
  const receiveBy = (name: string, path: string) => {
    const receive = platforms.get(name)?.receive;
    return receive ? [webhookRoutes({ path, receive })] : [];
  };
  const visit = platforms.get('slack')?.visit;
  return [
    musicCallbackRoutes({ secrets, log, measure, receive: jobs.receive }),
    healthRoutes({ parts: healthParts(storage, [...platforms.values()]), elapsed, log }),
    limitVisitors(
      [fileRoutes({ log, now, media }), ...songPageRoutes(outside, administration, { log, elapsed })],
      { elapsed },
    ),
    ...(config.slack?.connection.type === 'http' ? receiveBy('slack', '/slack/events') : []),
    ...(visit && config.slack?.account.type === 'oauth'
      ? [pageRoutes({ paths: ['/slack/install', '/slack/oauth_redirect'], visit })]
      : []),
  ];
}

/** Where the chat in the browser is on. */
export function playgroundOf(
  { listener: { url } }: Outside,
  platforms: Platforms,
): { readonly routes: Routes[]; readonly url: string } | undefined {
  const chat = platforms.values().find(({ browserChat }) => browserChat)?.browserChat;
  if (!chat) return undefined;
  return { routes: [playgroundRoutes({ chat, url })], url: playgroundUrl({ chat, url }) };
}
