/** An app that workspaces install through OAuth, with a real HTTP listener. */
import { sleep, systemClock } from '../../../../src/core/util/clock.ts';
import { platformRoutes } from '../../../../src/http/platform-routes.ts';
import { createHttpServer, type HttpServer } from '../../../../src/http/server.ts';
import type { Platform } from '../../../../src/platforms/platform.ts';
import { createSlack, type SlackOptions } from '../../../../src/platforms/slack/adapter.ts';
import type { SlackServer } from '../../../servers/slack/server.ts';
import { RecordingLog } from '../../../storage/recording-log.ts';
import { media } from '../harness.ts';

interface Replica {
  readonly server: SlackServer;
  /** Storage that all replicas share. */
  readonly stored: Map<string, unknown>;
  readonly log?: RecordingLog;
  readonly secret?: string;
  readonly previousSecret?: string;
  readonly withLock?: SlackOptions['withLock'];
}

/** Creates a replica of the bot without starting it. */
export function oauthReplica({
  server,
  stored,
  log = new RecordingLog(),
  secret = server.clientSecret,
  previousSecret,
  withLock = (_task, work) => work(),
}: Replica): Platform {
  return createSlack({
    connection: { type: 'http', signingSecret: server.signingSecret },
    account: {
      type: 'oauth',
      clientId: server.clientId,
      clientSecret: secret,
      publicUrl: 'https://bot.example',
      ...(previousSecret === undefined ? {} : { previousClientSecret: previousSecret }),
    },
    threads: false,
    apiUrl: server.apiUrl,
    media,
    settings: {
      get: async (key) => stored.get(key),
      set: async (key, value) => void stored.set(key, JSON.parse(JSON.stringify(value))),
      delete: async (key) => void stored.delete(key),
    },
    withLock,
    log,
    now: Date.now,
    elapsed: systemClock.elapsed,
    random: Math.random,
    sleep,
    measure: () => {},
  });
}

/** Starts the listener for installations and events. `first` returns the replica that answers. */
export async function listenForSlack(
  server: SlackServer,
  first: () => Platform | undefined,
  log = new RecordingLog(),
): Promise<HttpServer> {
  const listener = await createHttpServer({
    host: '127.0.0.1',
    port: 0,
    log,
    routes: [
      platformRoutes({
        routes: first()?.listener?.routes ?? [],
        handle: (...request) => first()?.listener?.handle(...request),
      }),
    ],
  });
  server.deliverTo(`${listener.url}/slack/events`);
  return listener;
}
