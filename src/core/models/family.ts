import { capitalised } from '../util/words.ts';

/** Kinds of output, each with its own model. */
export const FAMILIES = ['song', 'ask', 'image', 'video'] as const;
export type Family = (typeof FAMILIES)[number];

/** The abilities of a deployment's services. */
export interface Offer {
  /** The families whose commands people get. */
  readonly offered: readonly Family[];
  /** Images can be made from other images. Only gen models take them. */
  readonly changesImages: boolean;
}

export const FULL_OFFER: Offer = { offered: FAMILIES, changesImages: true };

/** Limits apply to these: the families, and songs queued for a voice channel. */
export const LIMITED = [...FAMILIES, 'party'] as const;
export type Limited = (typeof LIMITED)[number];

/** Names for the output of each family. */
export const FAMILY_NOUNS = {
  song: { one: 'song', many: 'songs', title: 'Songs' },
  ask: { one: 'answer', many: 'answers', title: 'Answers' },
  image: { one: 'image', many: 'images', title: 'Images' },
  video: { one: 'video', many: 'videos', title: 'Videos' },
} as const satisfies Record<Family, { one: string; many: string; title: string }>;

/** The operator's settings that add each family, for a bot without a gateway. */
export const FAMILY_SETTINGS = {
  song: 'MUSIC_API_KEY and PUBLIC_URL',
  ask: 'CHAT_API_KEY, CHAT_BASE_URL, MSG_API_KEY or GEN_API_KEY',
  image: 'MEDIA_API_KEY or GEN_API_KEY',
  video: 'MEDIA_API_KEY',
} as const satisfies Record<Family, string>;

export const LIMITED_NOUNS = {
  ...FAMILY_NOUNS,
  party: { one: 'song in a voice channel', many: 'songs in voice channels' },
} as const satisfies Record<Limited, { one: string; many: string }>;

/** Such as `Songs`, for lists and charts. An unknown name stays as it is. */
export function familyTitle(name: string): string {
  const known = LIMITED.find((family) => family === name);
  return known === undefined ? name : capitalised(LIMITED_NOUNS[known].many);
}
