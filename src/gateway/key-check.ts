import type { GatewayFamily, RouteName } from './routes.ts';
import { GatewayError } from './transport/errors.ts';
import type { Requester } from './transport/request.ts';

/** Free requests of each family. The first that its service has is sent. */
const FREE = {
  music: ['music/credits'],
  // Services answer queries of unknown tasks with the status UNKNOWN or an error, and check the key first.
  media: ['media/models', 'media/task'],
  chat: ['chat/models'],
  msg: ['msg/models'],
  gen: ['gen/models'],
} as const satisfies Record<GatewayFamily, readonly RouteName[]>;

const UNKNOWN_TASK = '00000000-0000-4000-8000-000000000000';

/** Checks that the service of these families accepts the key. False without a free request. Throws GatewayError if it does not. */
export function createKeyCheck(requester: Requester) {
  return async (...families: readonly GatewayFamily[]): Promise<boolean> => {
    const free: readonly RouteName[] = families.flatMap((family) => FREE[family]);
    const route = free.find((name) => requester.at(name) !== undefined);
    if (route === undefined) return false;
    const isTask = route === 'media/task';
    try {
      await requester.call(route, isTask ? { path: { taskId: UNKNOWN_TASK } } : {});
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      // The error of an existing route has a code.
      const isKnown = isTask && error.gatewayCode !== undefined;
      if (!isKnown || (error.code !== 'not-found' && error.code !== 'invalid')) throw error;
    }
    return true;
  };
}
