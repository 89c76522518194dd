/** Options of the connection that receives Slack's events: Socket Mode or HTTP. */
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
  /** Decrypts tokens that were encrypted before the secret was replaced. */
  readonly previousClientSecret?: string;
  /** The listener's public address, without a trailing slash. */
  readonly publicUrl: string;
}

export interface ConnectionOptions extends Pick<System, 'now' | 'elapsed' | 'random' | 'log'> {
  readonly client: ClientOptions;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly measure: Measure;
}

/** A Bolt receiver. */
export interface Connection extends Receiver {
  /** Why no events are received. Undefined if the connection works. */
  readonly problem: string | undefined;
  /** The number of open sockets. Absent with HTTP. */
  readonly connections?: number;
  /** Starts receiving events. May be called again. */
  start(): Promise<void>;
  /** Accepts no new events, but still acknowledges earlier ones. */
  drain(): void;
}
