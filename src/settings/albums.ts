/** The link to all songs of a channel. Its key makes old links invalid. */
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

/** The content of an album link: the channel, and the key stored in its settings. */
export interface AlbumReference {
  readonly address: Pick<Address, 'platform' | 'guild' | 'channel'>;
  readonly key: string;
}

export function albumId(address: Address, key: string): string {
  const { platform } = address;
  const guild = serverOf(address) ?? null;
  return Buffer.from(JSON.stringify([platform, guild, channelOf(address), key])).toString('base64url');
}

/** Returns undefined for an id that {@link albumId} did not create. */
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

const contestAlbumSchema = z.strictObject({ contest: z.string(), key: z.string() });

/** The content of an album link of a contest: its id, and the key of its channel's record. */
export type ContestAlbum = z.infer<typeof contestAlbumSchema>;

export function contestAlbumId(album: ContestAlbum): string {
  return Buffer.from(JSON.stringify(album)).toString('base64url');
}

/** Returns undefined for an id that {@link contestAlbumId} did not create. */
export function readContestAlbumId(id: string): ContestAlbum | undefined {
  try {
    return contestAlbumSchema.safeParse(JSON.parse(Buffer.from(id, 'base64url').toString())).data;
  } catch {
    return undefined;
  }
}
