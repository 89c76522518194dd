import type { GatewayFamily, RouteName } from './routes.ts';
import { GatewayError } from './transport/errors.ts';
import type { Requester } from './transport/request.ts';

/** A free request of each family's public service. */
const FREE = {
  music: 'music/credits',
  // Services answer queries of unknown tasks with the status UNKNOWN or an error, and check the key first.
  media: 'media/task',
  chat: 'chat/models',
  msg: 'msg/models',
  gen: 'gen/models',
} as const satisfies Record<GatewayFamily, RouteName>;

const UNKNOWN_TASK = '00000000-0000-4000-8000-000000000000';

/** Checks that the service of a family accepts the key. Throws GatewayError if it does not. */
export function createKeyCheck(requester: Requester) {
  return async (family: GatewayFamily): Promise<void> => {
    try {
      await requester.call(FREE[family], family === 'media' ? { path: { taskId: UNKNOWN_TASK } } : {});
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      // The error of an existing route has a code.
      const isKnownTo = family === 'media' && error.gatewayCode !== undefined;
      if (isKnownTo && (error.code === 'not-found' || error.code === 'invalid')) return;
      throw error;
    }
  };
}
