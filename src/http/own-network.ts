import ipaddr from 'ipaddr.js';

/** https://www.rfc-editor.org/rfc/rfc6890, in the words of ipaddr.js. */
const OWN: ReadonlySet<string> = new Set(['private', 'loopback', 'linkLocal', 'uniqueLocal']);

/** Whether an address is of this machine or its network: what comes from there came through a proxy. False for other text. */
export const isOwnNetwork = (address: string): boolean =>
  ipaddr.isValid(address) && OWN.has(ipaddr.process(address).range());
