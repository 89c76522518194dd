import type { Family } from '../command.ts';

/** What a family makes, in sentences. */
export const FAMILY_WORDS = {
  song: 'songs',
  ask: 'answers',
  image: 'pictures',
  video: 'videos',
} as const satisfies Record<Family, string>;
