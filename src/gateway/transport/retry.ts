/** When a request is tried again, and how long it may take. */
import { backoff } from '../../core/backoff.ts';
import { ROUTES, type RouteName } from '../routes.ts';
import { failed, GatewayError } from './errors.ts';
import type { FinishedRequest, GatewayOptions } from './options.ts';

const MOST_TRIES = 4;
/** Paid work waits for longer in its job, where people see it, can end it, and no crash forgets it. */
const LONGEST_UNSEEN_MS = 5_000;
/** From the first try on; no try starts later than this. Within it a person still waits for an acknowledged command. */
const BUDGET_MS = 20_000;
/** As the vendors' own clients: half a second, doubling to eight (@anthropic-ai/sdk client.ts). */
const FIRST_WAIT_MS = 500;
/** Rates are counted over seconds: 20 requests in 10 s in the public music API. */
const FIRST_RATE_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 8_000;

/** Tries again what failed with a retryable error, within the budget; Retry-After is obeyed, or the error is thrown. */
async function withRetries<T>(
  { now, elapsed = now, random, sleep }: Pick<GatewayOptions, 'now' | 'elapsed' | 'random' | 'sleep'>,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  const deadline = elapsed() + BUDGET_MS;
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof GatewayError) || !worthAnotherTry(error) || tries >= MOST_TRIES) throw error;
      const firstMs = error.code === 'rate' ? FIRST_RATE_WAIT_MS : FIRST_WAIT_MS;
      const own = backoff({ attempt: tries, firstMs, longestMs: LONGEST_WAIT_MS, random });
      const wait = Math.ceil(Math.max(own, error.retryAfterMs ?? 0));
      if (elapsed() + wait > deadline) throw error;
      await sleep(wait, signal).catch(() => undefined);
      if (signal?.aborted === true) {
        throw failed(error.route, {
          code: 'aborted',
          neverSent: error.taken === 'no',
          explanation: 'aborted while waiting to try again',
          cause: error,
        });
      }
    }
  }
}

/** Tries again as {@link withRetries} does, and tells of each request. */
export function watchedTries(options: GatewayOptions) {
  const { saw, elapsed = options.now } = options;
  return <R extends { readonly status: number }>(
    route: RouteName,
    signal: AbortSignal | undefined,
    attempt: () => Promise<R>,
  ): Promise<R> => {
    let tries = 0;
    return withRetries(options, signal, async () => {
      tries += 1;
      const began = elapsed();
      const tell = (status: number | undefined, code: FinishedRequest['code']) =>
        saw?.({ route, status, code, milliseconds: elapsed() - began, tries });
      try {
        const reply = await attempt();
        tell(reply.status, 'ok');
        return reply;
      } catch (error) {
        if (error instanceof GatewayError) tell(error.status, error.code);
        throw error;
      }
    });
  };
}

function worthAnotherTry(error: GatewayError): boolean {
  if (!error.retryable) return false;
  if (error.retryAfterMs !== undefined)
    return ROUTES[error.route].kind === 'read' || error.retryAfterMs <= LONGEST_UNSEEN_MS;
  if (error.code === 'maintenance') return false;
  // A 429 of the messages dialect without Retry-After is a spend limit:
  // https://learn.microsoft.com/en-us/microsoft-cloud/dev/dev-proxy (anthropic-529).
  return !(error.code === 'rate' && ROUTES[error.route].family === 'msg');
}

/**
 * One request's end: its caller's signal, or a time limit that can be set anew while it runs. `race` rejects at once
 * when either comes, even if the promise it watches ignores the signal. Must be released, however the request went.
 */
export function startDeadline(ms: number, outer: AbortSignal | undefined) {
  type Ended = 'aborted' | 'timeout';
  const controller = new AbortController();
  let ended: Ended | undefined;
  let timer: NodeJS.Timeout | undefined;

  const end = (why: Ended) => {
    if (ended !== undefined) return;
    ended = why;
    controller.abort(new DOMException(why, 'AbortError'));
  };
  const onOuterAbort = () => end('aborted');
  const arm = (next: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => end('timeout'), next);
  };

  arm(ms);
  if (outer?.aborted === true) end('aborted');
  else outer?.addEventListener('abort', onOuterAbort, { once: true });

  return {
    signal: controller.signal,
    /** Why it ended, once it has. */
    get ended() {
      return ended;
    },
    arm,
    /** No time limit until the next `arm`. */
    disarm: () => clearTimeout(timer),
    race: <T>(promise: Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        const { signal } = controller;
        const onAbort = () => reject(signal.reason);
        if (signal.aborted) onAbort();
        else signal.addEventListener('abort', onAbort, { once: true });
        promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
      }),
    release: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', onOuterAbort);
    },
  };
}

export type Deadline = ReturnType<typeof startDeadline>;

/** The error for a request whose deadline came, if it did. */
export function endedBy(name: RouteName, { ended }: Deadline): GatewayError | undefined {
  switch (ended) {
    case undefined:
      return undefined;
    case 'aborted':
      return failed(name, { code: 'aborted', explanation: 'aborted by the caller' });
    case 'timeout':
      return failed(name, { code: 'timeout', explanation: 'no whole answer in time' });
    default:
      return ended satisfies never;
  }
}
