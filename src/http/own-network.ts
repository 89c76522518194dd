/** Addresses that no visitor from elsewhere has: https://www.rfc-editor.org/rfc/rfc6890 */
import { BlockList, isIPv6 } from 'node:net';

const OWN = new BlockList();
for (const [network, bits] of [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  OWN.addSubnet(network, bits);
for (const [network, bits] of [
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  OWN.addSubnet(network, bits, 'ipv6');

/** Whether an address is of this machine or its network: what comes from there came through a proxy. */
export const isOwnNetwork = (address: string): boolean =>
  OWN.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
