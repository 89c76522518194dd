/** What one address may ask of pages and files, so that no single visitor takes the listener from all others. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { BoundedMap } from '../core/util/bounded-map.ts';
import { isOwnNetwork, type Routes } from './server.ts';

/** The page of a song with many stems asks for some twenty at a time. */
const AT_ONCE = { each: 64, all: 1_000 } as const;
/** In a row, and how many come back each second. A player asks for a part of its file every few seconds. */
const VISITS = { most: 600, perSecond: 20 } as const;
/** Visitors that are remembered. */
const MOST_VISITORS = 1_000;

/**
 * The routes, with bounds for each visitor and for all. More is answered 429. Visitors are told apart by their address: behind
 * a proxy by the one that it adds to `X-Forwarded-For`. Behind a proxy that adds none, only the bound for all holds.
 * @param elapsed milliseconds of a clock that is never set
 */
export function limitVisitors(
  routes: readonly Routes[],
  { elapsed }: { readonly elapsed: () => number },
): Routes {
  const hasVisitsLeft = createVisitLimit(elapsed);
  const present = new Map<string, number>();
  let all = 0;

  function admits(visitor: string | undefined): boolean {
    if (all >= AT_ONCE.all) return false;
    if (visitor === undefined) return true;
    return (present.get(visitor) ?? 0) < AT_ONCE.each && hasVisitsLeft(visitor);
  }

  function enter(visitor: string | undefined, reply: FastifyReply): void {
    const count = (change: number) => {
      all += change;
      if (visitor === undefined) return;
      const left = (present.get(visitor) ?? 0) + change;
      if (left > 0) present.set(visitor, left);
      else present.delete(visitor);
    };
    count(1);
    reply.raw.once('close', () => count(-1));
  }

  return (scope) => {
    scope.addHook('onRequest', async ({ ip }: FastifyRequest, reply) => {
      const visitor = isOwnNetwork(ip) ? undefined : ip;
      if (!admits(visitor)) {
        reply.headers({ 'cache-control': 'no-store', 'retry-after': '5' });
        return reply.code(429).send({ error: 'too many requests' });
      }
      enter(visitor, reply);
      return undefined;
    });
    for (const route of routes) route(scope);
  };
}

/** A token bucket for each visitor. */
function createVisitLimit(elapsed: () => number): (visitor: string) => boolean {
  const buckets = new BoundedMap<string, { left: number; at: number }>(MOST_VISITORS);
  return (visitor) => {
    const now = elapsed();
    const { left, at } = buckets.get(visitor) ?? { left: VISITS.most, at: now };
    const filled = Math.min(VISITS.most, left + ((now - at) / 1000) * VISITS.perSecond);
    const isLeft = filled >= 1;
    buckets.set(visitor, { left: isLeft ? filled - 1 : filled, at: now });
    return isLeft;
  };
}
