/** Leases by the clock of Redis, because the clocks of replicas differ. */
import type { Leases } from '../storage.ts';
import type { RedisTools } from './connection.ts';

// KEYS: the lease. ARGV: holder, milliseconds.
const TAKE = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`;

const RELEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
`;

export const redisLeases = ({ connection, keys }: RedisTools): Leases => ({
  take: async (name, holder, milliseconds) =>
    (await connection.evaluate(TAKE, [keys.lease(name)], [holder, milliseconds])) === 1,
  release: async (name, holder) => {
    await connection.evaluate(RELEASE, [keys.lease(name)], [holder]);
  },
});
