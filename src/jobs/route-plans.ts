/** What jobs know of each kind of work: how it comes back, how long Minstrel waits for it, and what people read of it. */
import type { Route } from '../core/work.ts';

const MINUTE = 60_000;

export interface RoutePlan {
  /**
   * `callback`: the gateway calls the listener. `poll`: the task is asked about. `direct`: the answer to the request is
   * the result. `stream`: it comes word by word.
   */
  readonly comesBack: 'callback' | 'poll' | 'direct' | 'stream';
  /** After this long without a result the person is told; a result that comes later is still delivered. */
  readonly deadlineMs: number;
  /** What people read while the gateway works. */
  readonly stage: string;
  /** What it does with a finished song, which the public API keeps for about 15 days: “it cannot …”. */
  readonly withSong?: string;
  /** What the gateway did before, where it does it once for each song (docs.sunoapi.org: 409): “has already …”. */
  readonly doneOnce?: string;
  /** Asked for again, it points to the result that is there. */
  readonly reusesResult?: true;
  /** It works on a recording of the person's. */
  readonly takesRecording?: true;
}

/** Deadlines: songs give up upstream after 10 minutes and videos take 1 to 5; each gets three times that, at least. */
const SONG = { comesBack: 'callback', deadlineMs: 30 * MINUTE } as const;
const DIRECT = { comesBack: 'direct', deadlineMs: 5 * MINUTE } as const;

export const PLANS: Readonly<Record<Route, RoutePlan>> = {
  'music.generate': { ...SONG, stage: 'Composing' },
  'music.extend': { ...SONG, stage: 'Composing what comes next', withSong: 'go on from it' },
  'music.generateLyrics': { ...SONG, deadlineMs: 10 * MINUTE, stage: 'Writing lyrics' },
  'music.generateCover': {
    ...SONG,
    deadlineMs: 15 * MINUTE,
    stage: 'Painting covers',
    withSong: 'paint covers for it',
    doneOnce: 'painted covers for this song',
  },
  'music.uploadCover': { ...SONG, stage: 'Playing it in a new style', takesRecording: true },
  'music.uploadExtend': { ...SONG, stage: 'Composing what comes next', takesRecording: true },
  'music.addVocals': { ...SONG, stage: 'Singing', takesRecording: true },
  'music.addInstrumental': { ...SONG, stage: 'Gathering the band', takesRecording: true },
  'music.vocalRemoval': {
    ...SONG,
    deadlineMs: 20 * MINUTE,
    stage: 'Taking the song apart',
    withSong: 'take it apart',
    doneOnce: 'taken this take apart',
    reusesResult: true,
  },
  'music.wavGenerate': {
    ...SONG,
    deadlineMs: 15 * MINUTE,
    stage: 'Making the WAV',
    withSong: 'make its WAV',
    doneOnce: 'made the WAV of this take',
    reusesResult: true,
  },
  'music.mp4Generate': {
    ...SONG,
    deadlineMs: 20 * MINUTE,
    stage: 'Filming the music video',
    withSong: 'film its music video',
    doneOnce: 'filmed the music video of this take',
    reusesResult: true,
  },
  'music.timestampedLyrics': {
    ...DIRECT,
    stage: 'Listening to when each line is sung',
    withSong: 'tell when its lines are sung',
    reusesResult: true,
  },
  'music.generatePersona': { ...DIRECT, stage: 'Learning the voice', withSong: 'learn its voice' },
  'media.image': { ...DIRECT, stage: 'Painting' },
  'gen.image': { ...DIRECT, stage: 'Painting' },
  'media.video': { comesBack: 'poll', deadlineMs: 30 * MINUTE, stage: 'Filming' },
  answer: { comesBack: 'stream', deadlineMs: 10 * MINUTE, stage: 'Thinking' },
};
