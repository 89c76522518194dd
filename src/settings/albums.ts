/** The link to all songs of a channel: whose it is, and what makes an old one useless. */
import { z } from 'zod';
import { type Address, channelOf, serverOf } from '../core/invocation.ts';
import { present } from '../core/util/present.ts';
import type { Edit } from './decisions.ts';

const WHAT = 'album link';

export function openAlbum(key: string): Edit {
  return (settings) =>
    settings.album === undefined
      ? { settings: { ...settings, album: key }, trace: { what: WHAT, from: 'none', to: 'created' } }
      : undefined;
}

export const closeAlbum: Edit = ({ album, ...settings }) =>
  album === undefined ? undefined : { settings, trace: { what: WHAT, from: 'created', to: 'removed' } };

const albumSchema = z.tuple([z.string(), z.string().nullable(), z.string(), z.string()]);

/** What the address of an album's page says: the channel, and the key that its settings hold. */
export interface AlbumReference {
  readonly address: Pick<Address, 'platform' | 'guild' | 'channel'>;
  readonly key: string;
}

export function albumId(address: Address, key: string): string {
  const { platform } = address;
  const guild = serverOf(address) ?? null;
  return Buffer.from(JSON.stringify([platform, guild, channelOf(address), key])).toString('base64url');
}

/** Undefined for what {@link albumId} did not make. */
export function readAlbumId(id: string): AlbumReference | undefined {
  try {
    const { data } = albumSchema.safeParse(JSON.parse(Buffer.from(id, 'base64url').toString()));
    if (!data) return undefined;
    const [platform, guild, channel, key] = data;
    return { address: present({ platform, guild: guild ?? undefined, channel }), key };
  } catch {
    return undefined;
  }
}
