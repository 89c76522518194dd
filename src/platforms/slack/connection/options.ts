/** The connection that brings Slack's events: sockets that the bot opens, or requests to the listener. */
import type { Receiver } from '@slack/bolt';
import type { System } from '../../../core/system.ts';
import type { Measure } from '../../../core/telemetry/series.ts';
import type { ClientOptions } from './client.ts';

export interface SocketConnection {
  readonly type: 'socket';
  readonly appToken: string;
}

export interface HttpConnection {
  readonly type: 'http';
  readonly signingSecret: string;
}

export interface TokenAccount {
  readonly type: 'token';
  readonly botToken: string;
}

export interface OAuthAccount {
  readonly type: 'oauth';
  readonly clientId: string;
  readonly clientSecret: string;
  /** Opens what it sealed before it was replaced. */
  readonly previousClientSecret?: string;
  /** The listener's address for browsers; no slash at its end. */
  readonly publicUrl: string;
}

export interface ConnectionOptions extends Pick<System, 'now' | 'elapsed' | 'random' | 'log'> {
  readonly client: ClientOptions;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly measure: Measure;
}

/** A Bolt receiver. */
export interface Connection extends Receiver {
  /** Why no events come; undefined while they come. */
  readonly trouble: string | undefined;
  /** Open sockets; absent where requests come to the listener. */
  readonly connections?: number;
  /** Begins to bring events. May be called again. */
  start(): Promise<void>;
  /** Takes nothing new, and still acknowledges what was taken. */
  refuse(): void;
}
