/** Checks for the operator whether Redis keeps data reliably. */
import { type Finding, good, warning, wrong } from '../../core/finding.ts';
import type { RedisConnection } from './connection.ts';

const SUBJECT = 'Redis';

/** Reads https://redis.io/docs/latest/commands/info. Throws StorageError if Redis cannot be reached. */
export async function inspectRedis(connection: RedisConnection): Promise<Finding[]> {
  const text = await connection.run((redis) => redis.info());
  const facts = new Map(text.split(/\r?\n/).map((line) => [line.split(':')[0], line.split(':')[1]]));
  const policy = facts.get('maxmemory_policy');
  const isBounded = facts.get('maxmemory') !== '0';
  return [
    facts.get('role') === 'slave'
      ? wrong(SUBJECT, 'This Redis is a read-only replica.', 'set REDIS_URL to its master')
      : good(SUBJECT, `Redis ${facts.get('redis_version') ?? ''} is reachable`),
    ...(facts.get('aof_enabled') === '0'
      ? [warning(SUBJECT, 'If Redis crashes, accepted jobs are lost', 'set `appendonly yes`')]
      : [good(SUBJECT, 'Redis saves every write to disk (appendonly yes)')]),
    ...(facts.get('aof_last_write_status') === 'err' || facts.get('rdb_last_bgsave_status') === 'err'
      ? [
          warning(
            SUBJECT,
            'Redis could not write to its disk',
            'check the log of Redis; its disk may be full',
          ),
        ]
      : []),
    ...(policy !== undefined && policy !== 'noeviction'
      ? [
          warning(
            SUBJECT,
            `Redis may evict jobs when its memory is full (${policy}${isBounded ? '' : ', no maxmemory set yet'})`,
            'set `maxmemory-policy noeviction`',
          ),
        ]
      : []),
  ];
}
