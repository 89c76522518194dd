import { lookup as resolve } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { isPublicAddress } from './addresses.ts';
import { MediaError } from './errors.ts';

interface ResolvedAddress {
  address: string;
  family: number;
}

/** Resolves a host name to all its addresses; replaced in tests. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface GuardedDispatcherOptions {
  /** `host` or `host:port` whose addresses need not be public. IPv6 hosts stand in brackets. */
  allowedHosts: readonly string[];
  connectTimeoutMs: number;
  lookup?: Lookup;
}

/**
 * An undici dispatcher that connects to public addresses only. A name is resolved once per connection, every
 * address it resolves to is checked, and the socket connects to those very addresses: nothing can change
 * between the check and the connection. Requests to other addresses fail with MediaError `address`.
 */
export function createGuardedDispatcher(options: GuardedDispatcherOptions): Dispatcher {
  const lookup = options.lookup ?? ((hostname) => resolve(hostname, { all: true }));
  const shared = { timeout: options.connectTimeoutMs, allowH2: false };
  const toAnyAddress = buildConnector({ ...shared, lookup: lookupWith(lookup, () => true) });
  const toPublicAddress = buildConnector({ ...shared, lookup: lookupWith(lookup, isPublicAddress) });
  const allowed = new Set(options.allowedHosts.map(normaliseHost));

  return new Agent({
    connect: (target, callback) => {
      const host = normaliseHost(target.hostname);
      const port = target.port || (target.protocol === 'https:' ? '443' : '80');
      if (allowed.has(host) || allowed.has(`${host}:${port}`)) return toAnyAddress(target, callback);
      // Node never calls lookup for a literal address, so that is checked here.
      const literal = host.replace(/^\[|\]$/g, '');
      if (isIP(literal) !== 0 && !isPublicAddress(literal)) return callback(notPublic(host), null);
      return toPublicAddress(target, callback);
    },
  });
}

function lookupWith(lookup: Lookup, isAcceptable: (address: string) => boolean): LookupFunction {
  return (hostname, { all }, callback) => {
    lookup(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (
          first === undefined ||
          !addresses.every(({ address }) => isIP(address) !== 0 && isAcceptable(address))
        ) {
          callback(notPublic(hostname), []);
        } else if (all) {
          callback(null, [...addresses]);
        } else {
          callback(null, first.address, first.family);
        }
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

function notPublic(host: string): MediaError {
  return new MediaError('address', `${host} is not a public address, and not among the allowed hosts`);
}

function normaliseHost(host: string): string {
  const lower = host.toLowerCase();
  if (isIP(lower) === 6) return `[${lower}]`;
  return lower.replace(/\.(?=$|:\d+$)/, '');
}
