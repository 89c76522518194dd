/** Rate limits for pages and files, so that no single visitor can block the listener. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { BoundedMap } from '../core/util/bounded-map.ts';
import { isOwnNetwork, type Routes, readAddress } from './server.ts';

/** Concurrent requests. The page of a song with many stems makes about twenty. */
const CONCURRENT = { each: 64, total: 1_000 } as const;
/** Token bucket per visitor. A player requests part of its file every few seconds. */
const BUCKET = { size: 600, perSecond: 20 } as const;
const MAX_VISITORS = 1_000;

/**
 * Limits requests per visitor and in total; excess requests get a 429. Visitors are identified by IP address, from
 * `X-Forwarded-For` behind a proxy. If a proxy sets no address there, only the total limit applies.
 * @param elapsed milliseconds of a monotonic clock
 */
export function limitVisitors(
  routes: readonly Routes[],
  { elapsed }: { readonly elapsed: () => number },
): Routes {
  const takeToken = createTokenBuckets(elapsed);
  const active = new Map<string, number>();
  let total = 0;

  function admits(visitor: string | undefined): boolean {
    if (total >= CONCURRENT.total) return false;
    if (visitor === undefined) return true;
    return (active.get(visitor) ?? 0) < CONCURRENT.each && takeToken(visitor);
  }

  function enter(visitor: string | undefined, reply: FastifyReply): void {
    const adjust = (change: number) => {
      total += change;
      if (visitor === undefined) return;
      const count = (active.get(visitor) ?? 0) + change;
      if (count > 0) active.set(visitor, count);
      else active.delete(visitor);
    };
    adjust(1);
    reply.raw.once('close', () => adjust(-1));
  }

  return (scope) => {
    scope.addHook('onRequest', async ({ ip }: FastifyRequest, reply) => {
      const visitor = visitorOf(ip);
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

/** The address of a visitor, or its network of IPv6, because a visitor there has all of a /64. */
function visitorOf(ip: string): string | undefined {
  const address = readAddress(ip);
  if (address === undefined || isOwnNetwork(ip)) return undefined;
  return 'parts' in address ? address.parts.slice(0, 4).join(':') : address.toString();
}

/** A token bucket for each visitor. */
function createTokenBuckets(elapsed: () => number): (visitor: string) => boolean {
  const buckets = new BoundedMap<string, { tokens: number; at: number }>(MAX_VISITORS);
  return (visitor) => {
    const now = elapsed();
    const { tokens, at } = buckets.get(visitor) ?? { tokens: BUCKET.size, at: now };
    const available = Math.min(BUCKET.size, tokens + ((now - at) / 1000) * BUCKET.perSecond);
    const isAllowed = available >= 1;
    buckets.set(visitor, { tokens: isAllowed ? available - 1 : available, at: now });
    return isAllowed;
  };
}
