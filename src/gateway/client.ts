import type { Chat } from './chat.ts';
import type { Gen } from './gen.ts';
import type { MediaRoutes } from './media.ts';
import type { Models } from './models.ts';
import type { Msg } from './msg.ts';
import type { Music } from './music.ts';
import type { GatewayOptions } from './options.ts';

export type { Fetch, GatewayOptions, Timeouts } from './options.ts';

export interface Gateway {
  music: Music;
  media: MediaRoutes;
  chat: Chat;
  msg: Msg;
  gen: Gen;
  models: Models;
}

export function createGateway(_options: GatewayOptions): Gateway {
  throw new Error('the gateway client is being built');
}
