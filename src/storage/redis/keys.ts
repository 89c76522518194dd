/** The names of all keys. Each begins with the deployment's prefix. */
import type { Address } from '../../core/invocation.ts';
import type { Alike } from '../storage.ts';

type Channel = Pick<Address, 'platform' | 'channel'>;

export type RedisKeys = ReturnType<typeof redisKeys>;

export function redisKeys(prefix: string) {
  const key = (...parts: string[]) => [prefix, ...parts.map(encodeURIComponent)].join(':');
  return {
    /** Hash: record, version, and the indexes it is in. Not encoded, because scripts build it from ids. */
    job: (id: string) => `${key('job')}:${id}`,
    /** String: the id of the invocation's job. */
    invocation: (invocation: string) => key('invocation', invocation),
    /** Sorted set of ids, all with score 0, so they are ordered by id. */
    open: key('open'),
    /** Sorted set of a person's open jobs by creation. */
    running: (platform: string, person: string) => key('running', platform, person),
    /** Sorted set of the songs of a channel by creation. */
    songs: (where: Channel) => key('songs', where.platform, where.channel),
    /** Like {@link songs}, for all channels of a server. */
    serverSongs: (where: Pick<Address, 'platform'> & { guild: string }) =>
      key('server-songs', where.platform, where.guild),
    /** Sorted set of a person's jobs that could not be shown anywhere, by creation. */
    undelivered: (platform: string, person: string) => key('undelivered', platform, person),
    /** Sorted set of the last delivered ids by delivery. */
    delivered: ({ route, model }: Alike) => key('delivered', route, ...(model === undefined ? [] : [model])),
    /** List: entry n at index n - 1. */
    inbox: (job: string) => key('inbox', job),
    /** Set of the digests of inbox entries. */
    inboxDigests: (job: string) => key('inbox-digests', job),
    /** Sorted sets of jobs by ticket, and the last ticket. */
    semaphoreHolders: (queue: string) => key('semaphore-holders', queue),
    semaphoreQueue: (queue: string) => key('semaphore-queue', queue),
    semaphoreTickets: (queue: string) => key('semaphore-tickets', queue),
    /** String: the holder; it expires with the lease. */
    lease: (name: string) => key('lease', name),
    /** Hash: woken jobs, by the time of the first wake. */
    woken: key('woken'),
    secret: (name: string) => key('secret', name),
    checked: key('checked'),
    /** Pub/sub channel. */
    notifications: key('notifications'),
    settings: key('settings'),
    usage: key('usage'),
  };
}
