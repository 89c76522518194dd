/** How each kind of work comes back, and how long Minstrel waits for it. */
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
}

/** Deadlines: songs give up upstream after 10 minutes and videos take 1 to 5; each gets three times that, at least. */
export const PLANS = {
  'music.generate': { comesBack: 'callback', deadlineMs: 30 * MINUTE, stage: 'Composing' },
  'music.extend': {
    comesBack: 'callback',
    deadlineMs: 30 * MINUTE,
    stage: 'Composing what comes next',
  },
  'music.generateLyrics': {
    comesBack: 'callback',
    deadlineMs: 10 * MINUTE,
    stage: 'Writing lyrics',
  },
  'music.generateCover': {
    comesBack: 'callback',
    deadlineMs: 15 * MINUTE,
    stage: 'Painting covers',
  },
  'music.uploadCover': {
    comesBack: 'callback',
    deadlineMs: 30 * MINUTE,
    stage: 'Playing it in a new style',
  },
  'music.uploadExtend': {
    comesBack: 'callback',
    deadlineMs: 30 * MINUTE,
    stage: 'Composing what comes next',
  },
  'music.addVocals': { comesBack: 'callback', deadlineMs: 30 * MINUTE, stage: 'Singing' },
  'music.addInstrumental': {
    comesBack: 'callback',
    deadlineMs: 30 * MINUTE,
    stage: 'Gathering the band',
  },
  'music.vocalRemoval': {
    comesBack: 'callback',
    deadlineMs: 20 * MINUTE,
    stage: 'Taking the song apart',
  },
  'music.wavGenerate': {
    comesBack: 'callback',
    deadlineMs: 15 * MINUTE,
    stage: 'Making the WAV',
  },
  'music.mp4Generate': {
    comesBack: 'callback',
    deadlineMs: 20 * MINUTE,
    stage: 'Filming the music video',
  },
  'music.timestampedLyrics': {
    comesBack: 'direct',
    deadlineMs: 5 * MINUTE,
    stage: 'Listening to when each line is sung',
  },
  'music.generatePersona': { comesBack: 'direct', deadlineMs: 5 * MINUTE, stage: 'Learning the voice' },
  'media.image': { comesBack: 'direct', deadlineMs: 5 * MINUTE, stage: 'Painting' },
  'gen.image': { comesBack: 'direct', deadlineMs: 5 * MINUTE, stage: 'Painting' },
  'media.video': { comesBack: 'poll', deadlineMs: 30 * MINUTE, stage: 'Filming' },
  answer: { comesBack: 'stream', deadlineMs: 10 * MINUTE, stage: 'Thinking' },
} as const satisfies Record<Route, RoutePlan>;
