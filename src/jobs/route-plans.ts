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
  'music.extend': { ...SONG, stage: 'Extending', withSong: 'extend it' },
  'music.generateLyrics': { ...SONG, deadlineMs: 10 * MINUTE, stage: 'Writing lyrics' },
  'music.generateCover': {
    ...SONG,
    deadlineMs: 15 * MINUTE,
    stage: 'Creating cover art',
    withSong: 'create cover art for it',
    doneOnce: 'created cover art for this song',
  },
  'music.uploadCover': { ...SONG, stage: 'Creating a cover', takesRecording: true },
  'music.uploadExtend': { ...SONG, stage: 'Extending', takesRecording: true },
  'music.addVocals': { ...SONG, stage: 'Adding vocals', takesRecording: true },
  'music.addInstrumental': { ...SONG, stage: 'Adding a band', takesRecording: true },
  'music.vocalRemoval': {
    ...SONG,
    deadlineMs: 20 * MINUTE,
    stage: 'Splitting into stems',
    withSong: 'split it into stems',
    doneOnce: 'split this take into stems',
    reusesResult: true,
  },
  'music.wavGenerate': {
    ...SONG,
    deadlineMs: 15 * MINUTE,
    stage: 'Converting to WAV',
    withSong: 'convert it to WAV',
    doneOnce: 'converted this take to WAV',
    reusesResult: true,
  },
  'music.mp4Generate': {
    ...SONG,
    deadlineMs: 20 * MINUTE,
    stage: 'Creating a music video',
    withSong: 'create its music video',
    doneOnce: 'created a music video for this take',
    reusesResult: true,
  },
  'music.timestampedLyrics': {
    ...DIRECT,
    stage: 'Syncing lyrics',
    withSong: 'sync its lyrics',
    reusesResult: true,
  },
  'music.generatePersona': { ...DIRECT, stage: 'Saving the voice', withSong: 'save its voice' },
  'media.image': { ...DIRECT, stage: 'Creating an image' },
  'gen.image': { ...DIRECT, stage: 'Creating an image' },
  'media.video': { comesBack: 'poll', deadlineMs: 30 * MINUTE, stage: 'Creating a video' },
  answer: { comesBack: 'stream', deadlineMs: 10 * MINUTE, stage: 'Answering' },
};
