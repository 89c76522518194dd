/** How Slack's events come: over connections that the bot opens, or as requests to the listener. */
import type { Receiver } from '@slack/bolt';
import type { Log } from '../../command.ts';
import type { WebhookAnswer, WebhookRequest } from '../platform.ts';
import type { ClientOptions } from './app.ts';
import { refusedSetting } from './errors.ts';
import { createSockets } from './sockets.ts';
import { createWebhook } from './webhook.ts';

export type Connection =
  | {
      readonly type: 'socket';
      readonly appToken: string;
      /** Held at once, so that Slack's refreshing of one leaves another. Two when left out. */
      readonly connections?: number;
    }
  | { readonly type: 'http'; readonly signingSecret: string };

export interface ConnectionOptions {
  readonly client: ClientOptions;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
  readonly log: Log;
}

export interface OpenConnection {
  readonly receiver: Receiver;
  /** Why nothing comes; undefined while events come. */
  readonly trouble: string | undefined;
  /** Throws PlatformError when Slack does not accept the token. */
  start(): Promise<void>;
  /** Takes nothing new, and still acknowledges what was taken. */
  refuse(): void;
  stop(): Promise<void>;
  readonly receive?: (request: WebhookRequest) => Promise<WebhookAnswer>;
}

export function openConnection(connection: Connection, options: ConnectionOptions): OpenConnection {
  switch (connection.type) {
    case 'socket':
      return socketConnection(connection, options);
    case 'http':
      return httpConnection(connection, options);
    default:
      return connection satisfies never;
  }
}

function socketConnection(
  { appToken, connections = 2 }: Extract<Connection, { type: 'socket' }>,
  { client, ...options }: ConnectionOptions,
): OpenConnection {
  const sockets = createSockets({ appToken, connections, ...client, ...options });
  return {
    receiver: sockets,
    get trouble() {
      return sockets.trouble;
    },
    async start() {
      try {
        await sockets.start();
      } catch (error) {
        throw refusedSetting('SLACK_APP_TOKEN', error);
      }
    },
    refuse() {},
    async stop() {
      await sockets.stop();
    },
  };
}

function httpConnection(
  { signingSecret }: Extract<Connection, { type: 'http' }>,
  { now, log }: ConnectionOptions,
): OpenConnection {
  const webhook = createWebhook({ signingSecret, now, log });
  return {
    receiver: webhook,
    get trouble() {
      return webhook.trouble;
    },
    async start() {
      await webhook.start();
    },
    refuse: () => webhook.refuse(),
    async stop() {
      await webhook.stop();
    },
    receive: (request) => webhook.receive(request),
  };
}
