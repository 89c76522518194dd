/** The name of every key, in one place. All begin with the deployment's prefix. */
import type { Address } from '../command.ts';

type Place = Pick<Address, 'platform' | 'channel'>;

export type RedisKeys = ReturnType<typeof redisKeys>;

export function redisKeys(prefix: string) {
  const key = (...parts: string[]) => [prefix, ...parts.map(encodeURIComponent)].join(':');
  return {
    /** Hash: record, version, what the indexes hold of it. Not encoded, since scripts build it from ids. */
    job: (id: string) => `${key('job')}:${id}`,
    /** String: the id of the job that this invocation made. */
    invocation: (invocation: string) => key('invocation', invocation),
    /** Sorted set of ids, all with score 0: in the order of the ids. */
    open: key('open'),
    /** Sorted sets of ids by creation. */
    running: (where: Place, person: string) => key('running', where.platform, where.channel, person),
    songs: (where: Place) => key('songs', where.platform, where.channel),
    /** Sorted set of a person's jobs that could be shown nowhere, by creation. */
    unplaced: (platform: string, person: string) => key('unplaced', platform, person),
    /** Sorted set of the last delivered ids by delivery. */
    delivered: (route: string) => key('delivered', route),
    /** List: entry n at index n - 1. */
    inbox: (job: string) => key('inbox', job),
    /** Set of digests of what the inbox holds. */
    inboxSeen: (job: string) => key('inbox-seen', job),
    /** Sorted set of jobs by the earliest wish. */
    wishes: key('wishes'),
    /** Hash: job to the token of the handling that is at it. */
    handling: key('handling'),
    /** Hash: job to failures of its handler in a row. */
    handlerFailures: key('handler-failures'),
    /** Sorted sets of jobs by ticket, and the last ticket that was given. */
    placeHolders: (queue: string) => key('place-holders', queue),
    placeQueue: (queue: string) => key('place-queue', queue),
    placeTickets: (queue: string) => key('place-tickets', queue),
    secret: (name: string) => key('secret', name),
    checked: key('checked'),
    /** Channel of publish and subscribe. */
    notices: key('notices'),
    settings: key('settings'),
    usage: key('usage'),
  };
}
