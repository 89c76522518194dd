import ipaddr from 'ipaddr.js';

/**
 * Public by number, yet answered by the machine's own host: Azure's WireServer.
 * https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
 */
const hostServices: ReadonlySet<string> = new Set(['168.63.129.16']);

/** The only IPv6 space that IANA gives out for global unicast: https://www.iana.org/assignments/ipv6-address-space */
const globalUnicast = [ipaddr.IPv6.parse('2000::'), 3] satisfies [ipaddr.IPv6, number];

/**
 * Whether an IP address (text, without brackets) is one of the public internet: global unicast, and no form of
 * IPv6 that carries an IPv4 address (mapped, 6to4, Teredo, NAT64, ISATAP), private, shared, link-local (cloud metadata lives there),
 * loopback, multicast, documentation or otherwise reserved range. What cannot be read is not public.
 */
export function isPublicAddress(ip: string): boolean {
  // isValid alone would take the inet_aton forms too (`127.1`, `0x7f000001`, `017700000001`).
  if (ipaddr.IPv4.isValidFourPartDecimal(ip)) {
    return ipaddr.IPv4.parse(ip).range() === 'unicast' && !hostServices.has(ip);
  }
  if (!ipaddr.IPv6.isValid(ip)) return false;
  const address = ipaddr.IPv6.parse(ip);
  return address.range() === 'unicast' && address.match(globalUnicast) && !isIsatap(address);
}

/** RFC 5214: an interface identifier of 0000:5efe or 0200:5efe is followed by an IPv4 address to tunnel to. */
function isIsatap(address: ipaddr.IPv6): boolean {
  return ((address.parts[4] ?? 0) & 0xfdff) === 0 && address.parts[5] === 0x5efe;
}
