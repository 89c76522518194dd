import { createChat } from './chat.ts';
import { createGen } from './gen.ts';
import { createKeyCheck } from './key-check.ts';
import { createMediaCalls } from './media/client.ts';
import { createModels } from './models/catalog.ts';
import { createMsg } from './msg.ts';
import { createMusic } from './music/client.ts';
import { createRequester, type GatewayOptions } from './transport/request.ts';

/** The gateway client: one member per route family, and the model list. */
export type Gateway = ReturnType<typeof createGateway>;

/** Builds the client without sending a request. Throws TypeError if the base URL or the key is invalid. */
export function createGateway(options: GatewayOptions) {
  const requester = createRequester(options);
  return {
    music: createMusic(requester),
    media: createMediaCalls(requester),
    chat: createChat(requester),
    msg: createMsg(requester),
    gen: createGen(requester),
    models: createModels(requester, options),
    checkKey: createKeyCheck(requester),
  };
}
