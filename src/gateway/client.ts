import { type Chat, createChat } from './chat.ts';
import { createGen, type Gen } from './gen.ts';
import { createMedia, type MediaRoutes } from './media.ts';
import { createModels, type Models } from './models.ts';
import { createMsg, type Msg } from './msg.ts';
import { createMusic, type Music } from './music.ts';
import type { GatewayOptions } from './options.ts';
import { createRequester } from './request.ts';

export type { GatewayOptions } from './options.ts';

/** Everything that the gateway offers, one member a route family, and the list of models. */
export interface Gateway {
  music: Music;
  media: MediaRoutes;
  chat: Chat;
  msg: Msg;
  gen: Gen;
  models: Models;
}

/** Builds the client; nothing is sent yet. Throws TypeError when the base URL or the key cannot be used at all. */
export function createGateway(options: GatewayOptions): Gateway {
  const requester = createRequester(options);
  return {
    music: createMusic(requester),
    media: createMedia(requester),
    chat: createChat(requester),
    msg: createMsg(requester),
    gen: createGen(requester),
    models: createModels(requester, options),
  };
}
