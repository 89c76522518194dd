import { createChat } from './chat.ts';
import { createGen } from './gen.ts';
import { createMediaCalls } from './media/client.ts';
import { createModels } from './models/catalog.ts';
import { createMsg } from './msg.ts';
import { createMusic } from './music/client.ts';
import { createRequester, type GatewayOptions } from './transport/request.ts';

/** Everything that the gateway offers, one member a route family, and the list of models. */
export type Gateway = ReturnType<typeof createGateway>;

/** Builds the client; nothing is sent yet. Throws TypeError when the base URL or the key cannot be used at all. */
export function createGateway(options: GatewayOptions) {
  const requester = createRequester(options);
  return {
    music: createMusic(requester),
    media: createMediaCalls(requester),
    chat: createChat(requester),
    msg: createMsg(requester),
    gen: createGen(requester),
    models: createModels(requester, options),
  };
}
