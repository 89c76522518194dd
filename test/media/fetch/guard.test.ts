import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPublicAddress } from '../../../src/media/fetch/guard.ts';

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '93.184.216.34',
  '172.15.255.255',
  '172.32.0.1',
  '2606:4700::1111',
  '2a00:1450::8a',
  // Resembles ISATAP only from its fifth part on.
  '2001:4860::1234:5efe:a00:1',
])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

test.each([
  ['this machine', '127.0.0.1'],
  ['this machine, too', '127.255.255.254'],
  ['this machine in IPv6', '::1'],
  ['no address', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['no address in IPv6', '::'],
  ['a private network', '10.0.0.1'],
  ['a private network', '172.16.0.1'],
  ['a private network', '172.31.255.255'],
  ['a private network', '192.168.1.1'],
  ["a carrier's shared space", '100.64.0.1'],
  ['cloud metadata', '169.254.169.254'],
  ['cloud metadata of Alibaba', '100.100.100.200'],
  ['cloud metadata in IPv6', 'fd00:ec2::254'],
  ['the host of an Azure machine', '168.63.129.16'],
  ['cloud metadata of Oracle', '192.0.0.192'],
  ['link-local', 'fe80::1'],
  ['link-local with a zone', 'fe80::1%eth0'],
  ['unique local', 'fc00::1'],
  ['site-local of old', 'fec0::1'],
  ['multicast', '224.0.0.1'],
  ['multicast in IPv6', 'ff02::1'],
  ['broadcast', '255.255.255.255'],
  ['reserved', '240.0.0.1'],
  ['documentation', '192.0.2.1'],
  ['documentation', '198.51.100.7'],
  ['documentation', '203.0.113.7'],
  ['documentation in IPv6', '2001:db8::1'],
  ['benchmarking', '198.18.0.1'],
  ['IPv4-mapped', '::ffff:127.0.0.1'],
  ['IPv4-mapped in hex', '::ffff:7f00:1'],
  ['IPv4-mapped of a public address', '::ffff:8.8.8.8'],
  ['IPv4-compatible', '::127.0.0.1'],
  ['IPv4-translated', '::ffff:0:127.0.0.1'],
  ['6to4', '2002:7f00:1::'],
  ['NAT64', '64:ff9b::7f00:1'],
  ['NAT64 of a local prefix', '64:ff9b:1::7f00:1'],
  ['Teredo', '2001:0:7f00:1::'],
  ['ISATAP', '2a00:1450::5efe:7f00:1'],
  ['ISATAP', '2a00:1450::200:5efe:7f00:1'],
  ['discarded', '100::1'],
  ['decimal', '2130706433'],
  ['octal', '0177.0.0.1'],
  ['hex', '0x7f.0.0.1'],
  ['short', '127.1'],
  ['a name', 'localhost'],
  ['nothing', ''],
])('%s (%s) is not public', (_name, address) => expect(isPublicAddress(address)).toBe(false));

test('private IPv4 addresses are not public in any IPv6 form', () => {
  const octet = fc.integer({ min: 0, max: 255 });
  const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
  fc.assert(
    fc.property(octet, octet, octet, (b, c, d) => {
      const dotted = `10.${b}.${c}.${d}`;
      const words = `${hex(10, b)}:${hex(c, d)}`;
      const coats = [dotted, `::ffff:${dotted}`, `::${words}`, `64:ff9b::${words}`, `2002:${words}::1`];
      return coats.every((address) => !isPublicAddress(address));
    }),
  );
});

test('invalid addresses are not public', () => {
  fc.assert(fc.property(fc.string(), (text) => !isPublicAddress(text) || isIP(text) !== 0));
});
