import type { System } from '../core/system.ts';
import type { Log } from '../core/telemetry/log.ts';
import type { Readiness } from '../core/web/platform-routes.ts';
import type { Routes } from './server.ts';

/** A dependency that must work before the process is ready, such as `storage` or `discord`. */
export interface HealthPart {
  readonly name: string;
  /** `reason` is public. If it rejects, the part is not ready and the cause is logged. */
  readonly check: () => Readiness | Promise<Readiness>;
}

export interface HealthOptions extends Pick<System, 'elapsed' | 'log'> {
  readonly parts: readonly HealthPart[];
}

/** Results are cached this long, so that outside requests cannot overload the parts. */
const FRESH_MS = 1000;
/** Maximum time per part. */
const TIMEOUT_MS = 2000;

/** `GET /healthz`: the process is alive. `GET /readyz`: 200 if every part works, otherwise 503 with the reasons. */
export function healthRoutes({ parts, elapsed, log }: HealthOptions): Routes {
  let last: { readonly at: number; readonly results: Promise<Record<string, string>> } | undefined;

  const checkAll = async (): Promise<Record<string, string>> => {
    const results = await Promise.all(
      parts.map(async (part) => [part.name, await check(part, log)] as const),
    );
    return Object.fromEntries(results);
  };

  return (scope) => {
    scope.get('/healthz', (_request, reply) =>
      reply.header('cache-control', 'no-store').send({ alive: true }),
    );
    scope.get('/readyz', async (_request, reply) => {
      if (!last || elapsed() - last.at >= FRESH_MS) last = { at: elapsed(), results: checkAll() };
      const results = await last.results;
      const ready = Object.values(results).every((result) => result === READY);
      return reply
        .code(ready ? 200 : 503)
        .header('cache-control', 'no-store')
        .send({ ready, parts: results });
    });
  };
}

const READY = 'ready';

async function check(part: HealthPart, log: Log): Promise<string> {
  const { promise: deadline, resolve } = Promise.withResolvers<Readiness>();
  const timer = setTimeout(() => resolve({ ready: false, reason: 'no response' }), TIMEOUT_MS);
  try {
    const status = await Promise.race([(async () => part.check())(), deadline]);
    return status.ready ? READY : status.reason;
  } catch (error) {
    log.warn({ err: error, part: part.name }, 'Readiness check failed');
    return "check failed; see the bot's log for details";
  } finally {
    clearTimeout(timer);
  }
}
