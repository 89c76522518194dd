/** What a model is chosen for. */
export const FAMILIES = ['song', 'ask', 'image', 'video'] as const;
export type Family = (typeof FAMILIES)[number];

/** What a family makes. */
export const FAMILY_NOUNS = {
  song: { one: 'song', many: 'songs', title: 'Songs' },
  ask: { one: 'answer', many: 'answers', title: 'Answers' },
  image: { one: 'picture', many: 'pictures', title: 'Pictures' },
  video: { one: 'video', many: 'videos', title: 'Videos' },
} as const satisfies Record<Family, { one: string; many: string; title: string }>;
