import type { Family } from '../command.ts';

/** One of what a family makes, in sentences. */
export const FAMILY_WORD = {
  song: 'song',
  ask: 'answer',
  image: 'picture',
  video: 'video',
} as const satisfies Record<Family, string>;

/** What a family makes, in sentences. */
export const FAMILY_WORDS = {
  song: 'songs',
  ask: 'answers',
  image: 'pictures',
  video: 'videos',
} as const satisfies Record<Family, string>;
