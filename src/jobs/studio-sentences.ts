/** What people read when something cannot be made of a song: why, and what still works. */
import type { GatewayErrorCode } from '../gateway/errors.ts';
import type { Route } from '../work.ts';

/** Routes that take the ids of a finished song; the public API keeps songs for about 15 days. */
const ON_SONGS = {
  'music.extend': 'go on from it',
  'music.generateCover': 'paint covers for it',
  'music.vocalRemoval': 'take it apart',
  'music.wavGenerate': 'make its WAV',
  'music.mp4Generate': 'film its music video',
  'music.timestampedLyrics': 'tell when its lines are sung',
  'music.generatePersona': 'learn its voice',
} as const satisfies Partial<Record<Route, string>>;

/** Routes that the gateway answers once for each song (docs.sunoapi.org: 409, "record already exists"). */
const MADE_ONCE = {
  'music.generateCover': 'painted covers for this song',
  'music.wavGenerate': 'made the WAV of this take',
  'music.mp4Generate': 'filmed the music video of this take',
  'music.vocalRemoval': 'taken this take apart',
} as const satisfies Partial<Record<Route, string>>;

const ON_FILES: ReadonlySet<Route> = new Set([
  'music.uploadCover',
  'music.uploadExtend',
  'music.addVocals',
  'music.addInstrumental',
]);

/** Undefined where the general sentence says it all. */
export function studioSentenceFor(code: GatewayErrorCode, route: Route): string | undefined {
  switch (code) {
    case 'not-found': {
      const what = member(ON_SONGS, route);
      return what === undefined
        ? undefined
        : `The gateway no longer has this song, so it cannot ${what}. The files in the channel stay, /remix works with them, and Again under the song makes a new one.`;
    }
    case 'exists': {
      const what = member(MADE_ONCE, route);
      return what === undefined
        ? undefined
        : `The gateway has already ${what}, and does so once. The result stands further up in this channel.`;
    }
    case 'blocked':
      return ON_FILES.has(route)
        ? 'The gateway declined this recording: it sounds like a work that exists, or its content rules forbid it. Please try another recording.'
        : undefined;
    default:
      return undefined;
  }
}

function member(sentences: Partial<Record<Route, string>>, route: Route): string | undefined {
  return sentences[route];
}
