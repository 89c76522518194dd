import type { RouteName } from '../routes.ts';
import { failed, type GatewayError } from './errors.ts';

/** Combines the caller's signal with a timeout that can be restarted. Must be released. */
export function startDeadline(ms: number, callerSignal: AbortSignal | undefined) {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let hasTimedOut = false;
  const end = () => controller.abort();
  const arm = (next: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      hasTimedOut = !controller.signal.aborted;
      end();
    }, next);
  };
  arm(ms);
  if (callerSignal?.aborted) end();
  callerSignal?.addEventListener('abort', end, { once: true });
  return {
    signal: controller.signal,
    /** The reason why the request ended, if it did. */
    ended: () => (controller.signal.aborted ? (hasTimedOut ? 'timeout' : 'aborted') : undefined),
    arm,
    /** Stops the timeout until the next `arm`. */
    disarm: () => clearTimeout(timer),
    release: () => {
      clearTimeout(timer);
      callerSignal?.removeEventListener('abort', end);
    },
  } as const;
}

export type Deadline = ReturnType<typeof startDeadline>;

export const ABORTED = 'aborted by the caller';

/** Returns an error if the deadline has ended the request. */
export function deadlineError(name: RouteName, deadline: Deadline): GatewayError | undefined {
  const ended = deadline.ended();
  if (ended === undefined) return undefined;
  return ended === 'aborted'
    ? failed(name, { code: 'aborted', explanation: ABORTED })
    : failed(name, { code: 'timeout', explanation: 'the response did not finish in time' });
}
