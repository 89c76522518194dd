/** What a model is chosen for. */
export const FAMILIES = ['song', 'ask', 'image', 'video'] as const;
export type Family = (typeof FAMILIES)[number];

/** What can be limited: what a family makes, and songs that are queued for a voice channel. */
export const LIMITED = [...FAMILIES, 'party'] as const;
export type Limited = (typeof LIMITED)[number];

/** What a family makes. */
export const FAMILY_NOUNS = {
  song: { one: 'song', many: 'songs', title: 'Songs' },
  ask: { one: 'answer', many: 'answers', title: 'Answers' },
  image: { one: 'image', many: 'images', title: 'Images' },
  video: { one: 'video', many: 'videos', title: 'Videos' },
} as const satisfies Record<Family, { one: string; many: string; title: string }>;

export const LIMITED_NOUNS = {
  ...FAMILY_NOUNS,
  party: { one: 'song in a voice channel', many: 'songs in voice channels' },
} as const satisfies Record<Limited, { one: string; many: string }>;
