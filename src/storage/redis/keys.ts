/**
 * The name of every key. All begin with the deployment's prefix.
 */
import type { Address } from '../../core/invocation.ts';
import type { Alike } from '../storage.ts';

type Channel = Pick<Address, 'platform' | 'channel'>;

export type RedisKeys = ReturnType<typeof redisKeys>;

export function redisKeys(prefix: string) {
  const key = (...parts: string[]) => [prefix, ...parts.map(encodeURIComponent)].join(':');
  return {
    /** Hash: record, version, what the indexes hold of it. Not encoded, since scripts build it from ids. */
    job: (id: string) => `${key('job')}:${id}`,
    /** String: the id of the invocation's job. */
    invocation: (invocation: string) => key('invocation', invocation),
    /** Sorted set of ids, all with score 0: in the order of the ids. */
    open: key('open'),
    /** Sorted set of a person's open jobs by creation. */
    running: (platform: string, person: string) => key('running', platform, person),
    /** Sorted set of the songs of a channel by creation. */
    songs: (where: Channel) => key('songs', where.platform, where.channel),
    /** As {@link songs}, of all channels of a server. */
    serverSongs: (where: Pick<Address, 'platform'> & { guild: string }) =>
      key('server-songs', where.platform, where.guild),
    /** Sorted set of a person's jobs that could be shown nowhere, by creation. */
    undelivered: (platform: string, person: string) => key('undelivered', platform, person),
    /** Sorted set of the last delivered ids by delivery. */
    delivered: ({ route, model }: Alike) => key('delivered', route, ...(model === undefined ? [] : [model])),
    /** List: entry n at index n - 1. */
    inbox: (job: string) => key('inbox', job),
    /** Set of digests of what the inbox holds. */
    inboxDigests: (job: string) => key('inbox-digests', job),
    /** Sorted sets of jobs by ticket, and the last ticket. */
    semaphoreHolders: (queue: string) => key('semaphore-holders', queue),
    semaphoreQueue: (queue: string) => key('semaphore-queue', queue),
    semaphoreTickets: (queue: string) => key('semaphore-tickets', queue),
    /** String: the holder; it expires with the lease. */
    lease: (name: string) => key('lease', name),
    /** Hash: since when jobs are to run that were woken, maybe while they ran. */
    woken: key('woken'),
    secret: (name: string) => key('secret', name),
    checked: key('checked'),
    /** Channel of publish and subscribe. */
    notifications: key('notifications'),
    settings: key('settings'),
    usage: key('usage'),
  };
}
