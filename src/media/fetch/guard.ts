import { lookup as resolve } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { MediaError } from '../errors.ts';

interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves a host name to all its addresses; replaced in tests. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface GuardedDispatcherOptions {
  /** Hosts whose addresses may be private, as `host:port` in lower case. IPv6 hosts are in brackets. */
  readonly allowedHosts: ReadonlySet<string>;
  readonly connectTimeoutMs: number;
  readonly lookup?: Lookup;
}

/**
 * Creates an undici dispatcher that connects only to public addresses. A name is resolved once for each connection, and the
 * socket connects to the checked addresses, so nothing can change in between. Other requests fail with MediaError `address`.
 */
export function createGuardedDispatcher(options: GuardedDispatcherOptions): Dispatcher {
  const lookup = options.lookup ?? ((hostname) => resolve(hostname, { all: true }));
  const shared = { timeout: options.connectTimeoutMs, allowH2: false };
  const toAnyAddress = buildConnector({ ...shared, lookup: lookupWith(lookup, () => true) });
  const toPublicAddress = buildConnector({ ...shared, lookup: lookupWith(lookup, isPublicAddress) });

  return new Agent({
    // With HTTP/2, undici waits for the first connection before it opens another.
    allowH2: false,
    connect: (target, callback) => {
      const host = normaliseHost(target.hostname);
      const port = target.port || (target.protocol === 'https:' ? '443' : '80');
      if (options.allowedHosts.has(`${host}:${port}`)) return toAnyAddress(target, callback);
      // Node doesn't call lookup for IP literals.
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
  return new MediaError('address', `${host} is neither a public address nor an allowed host`);
}

function normaliseHost(host: string): string {
  const lower = host.toLowerCase();
  if (isIP(lower) === 6) return `[${lower}]`;
  return lower.replace(/\.$/, '');
}

/**
 * A public address that reaches the local host: Azure's WireServer.
 * https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
 */
const HOST_SERVICES: ReadonlySet<string> = new Set(['168.63.129.16']);

/** The only IPv6 range that IANA assigns for global unicast: https://www.iana.org/assignments/ipv6-address-space */
const GLOBAL_UNICAST = [ipaddr.IPv6.parse('2000::'), 3] satisfies [ipaddr.IPv6, number];

/**
 * True if an IP address (without brackets) is public: global unicast, and not an IPv6 form of an IPv4 address (mapped, 6to4,
 * Teredo, NAT64, ISATAP) or a private, shared, link-local (cloud metadata), loopback, multicast, documentation or reserved
 * range. Invalid addresses are not public.
 */
export function isPublicAddress(ip: string): boolean {
  // isValid also accepts inet_aton forms (`127.1`, `0x7f000001`, `017700000001`).
  if (ipaddr.IPv4.isValidFourPartDecimal(ip)) {
    return ipaddr.IPv4.parse(ip).range() === 'unicast' && !HOST_SERVICES.has(ip);
  }
  if (!ipaddr.IPv6.isValid(ip)) return false;
  const address = ipaddr.IPv6.parse(ip);
  return address.range() === 'unicast' && address.match(GLOBAL_UNICAST) && !isIsatap(address);
}

/** RFC 5214: an interface identifier of 0000:5efe or 0200:5efe precedes an IPv4 address of a tunnel. */
function isIsatap(address: ipaddr.IPv6): boolean {
  return ((address.parts[4] ?? 0) & 0xfdff) === 0 && address.parts[5] === 0x5efe;
}
