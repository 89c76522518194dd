/** What work is for, and what it costs in the units that the operator set. */
import type { Family } from '../command.ts';
import type { Route, Work } from '../work.ts';

/** Units by `family:model`, by route (as `music.vocalRemoval`) or by family; the first of these that is there counts. */
export type Costs = Readonly<Record<string, number>>;

const FAMILY_OF = {
  'music.generate': 'song',
  'music.extend': 'song',
  'music.generateLyrics': 'song',
  'music.generateCover': 'song',
  'music.uploadCover': 'song',
  'music.uploadExtend': 'song',
  'music.addVocals': 'song',
  'music.addInstrumental': 'song',
  'music.vocalRemoval': 'song',
  'music.wavGenerate': 'song',
  'music.mp4Generate': 'song',
  'music.timestampedLyrics': 'song',
  'music.generatePersona': 'song',
  'media.image': 'image',
  'gen.image': 'image',
  'media.video': 'video',
  answer: 'ask',
} as const satisfies Record<Route, Family>;

export function familyOf({ route }: Pick<Work, 'route'>): Family {
  return FAMILY_OF[route];
}

export function modelOf({ request }: Work): string | undefined {
  return 'model' in request ? request.model : undefined;
}

/** 0 where nothing is known. */
export function unitsOf(work: Work, costs: Costs): number {
  const family = familyOf(work);
  const model = modelOf(work);
  const keys = [...(model === undefined ? [] : [`${family}:${model}`]), work.route, family];
  for (const key of keys) {
    const units = Object.hasOwn(costs, key) ? costs[key] : undefined;
    if (units !== undefined) return units;
  }
  return 0;
}
