/** Where settings are kept: under `platform:guild` and `platform:guild:channel`. */
import type { Address } from '../command.ts';

/** Stands for the guild where there is none: nobody moderates direct messages, so nothing is ever written there. */
const NO_GUILD = 'direct';

export function serverKey({ platform, guild }: Pick<Address, 'platform' | 'guild'>): string {
  return [platform, guild ?? NO_GUILD].map(encodeURIComponent).join(':');
}

export function channelKey(address: Pick<Address, 'platform' | 'guild' | 'channel' | 'parent'>): string {
  return `${serverKey(address)}:${encodeURIComponent(channelOf(address))}`;
}

/** A thread's channel, or the channel itself. */
export function channelOf({ channel, parent }: Pick<Address, 'channel' | 'parent'>): string {
  return parent ?? channel;
}
