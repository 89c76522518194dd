/** How long a request may take. */
import type { RouteName } from '../routes.ts';
import { failed, type GatewayError } from './errors.ts';

/** One request's end: its caller's signal, or a time limit that can be set anew while it runs. Must be released. */
export function startDeadline(ms: number, outer: AbortSignal | undefined) {
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
  if (outer?.aborted) end();
  outer?.addEventListener('abort', end, { once: true });
  return {
    signal: controller.signal,
    /** Why it ended, once it has. */
    ended: () => (controller.signal.aborted ? (hasTimedOut ? 'timeout' : 'aborted') : undefined),
    arm,
    /** No time limit until the next `arm`. */
    disarm: () => clearTimeout(timer),
    release: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', end);
    },
  } as const;
}

export type Deadline = ReturnType<typeof startDeadline>;

export const ABORTED = 'aborted by the caller';

/** The error for a request whose deadline came, if it did. */
export function endedBy(name: RouteName, deadline: Deadline): GatewayError | undefined {
  const ended = deadline.ended();
  if (ended === undefined) return undefined;
  return ended === 'aborted'
    ? failed(name, { code: 'aborted', explanation: ABORTED })
    : failed(name, { code: 'timeout', explanation: 'the response did not finish in time' });
}
