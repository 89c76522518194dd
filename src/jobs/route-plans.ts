/** The properties of each kind of work: how its result arrives, its deadline, and its texts. */
import type { ResultKind } from '../core/message.ts';
import type { Route } from '../core/work.ts';

const MINUTE = 60_000;

/** Shown while a job waits in the queue. */
export const QUEUED_STAGE = 'Waiting for its turn';

export interface RoutePlan {
  /**
   * How the result arrives. `callback`: the gateway calls our HTTP listener. `poll`: we poll the task. `direct`: the response is the
   * result. `stream`: the response is a stream.
   */
  readonly resultMode: 'callback' | 'poll' | 'direct' | 'stream';
  /** Time after which the job expires. A result that arrives later is still delivered. */
  readonly deadlineMs: number;
  /** Shown while the gateway works. */
  readonly stage: string;
  /** The kind of result; absent for files and for changes of earlier results. */
  readonly result?: ResultKind;
  /** The action on a finished song, which the public API stores for about 15 days: “it can't …”. */
  readonly withSong?: string;
  /** The action that the gateway does only once per song (docs.sunoapi.org: 409): “has already …”. */
  readonly doneOnce?: string;
  /** A repeated request links to the existing result. */
  readonly reusesResult?: true;
  /** The gateway downloads these from the bot: a recording of the requester, or files of any kind. */
  readonly downloads?: 'recording' | 'files';
  /** The request has nothing that people could change. */
  readonly fixed?: true;
}

/** At least three times as long as the work takes: songs time out upstream after 10 minutes, videos take 1 to 5. */
const SONG = { resultMode: 'callback', deadlineMs: 30 * MINUTE } as const;
const DIRECT = { resultMode: 'direct', deadlineMs: 5 * MINUTE } as const;

export const PLANS: Readonly<Record<Route, RoutePlan>> = {
  'music.generate': { ...SONG, stage: 'Composing', result: 'song' },
  'music.extend': { ...SONG, stage: 'Extending', result: 'song', withSong: 'extend it' },
  'music.generateLyrics': { ...SONG, deadlineMs: 10 * MINUTE, stage: 'Writing lyrics', result: 'lyrics' },
  'music.generateCover': {
    ...SONG,
    deadlineMs: 15 * MINUTE,
    stage: 'Creating cover art',
    fixed: true,
    withSong: 'create cover art for it',
    doneOnce: 'created cover art for this song',
  },
  'music.uploadCover': { ...SONG, stage: 'Creating a cover', result: 'song', downloads: 'recording' },
  'music.uploadExtend': { ...SONG, stage: 'Extending', result: 'song', downloads: 'recording' },
  'music.addVocals': { ...SONG, stage: 'Adding vocals', result: 'song', downloads: 'recording' },
  'music.addInstrumental': { ...SONG, stage: 'Adding a band', result: 'song', downloads: 'recording' },
  'music.vocalRemoval': {
    ...SONG,
    deadlineMs: 20 * MINUTE,
    stage: 'Splitting into stems',
    result: 'stems',
    fixed: true,
    withSong: 'split it into stems',
    doneOnce: 'split this take into stems',
    reusesResult: true,
  },
  'music.wavGenerate': {
    ...SONG,
    deadlineMs: 15 * MINUTE,
    stage: 'Converting to WAV',
    fixed: true,
    withSong: 'convert it to WAV',
    doneOnce: 'converted this take to WAV',
    reusesResult: true,
  },
  'music.mp4Generate': {
    ...SONG,
    deadlineMs: 20 * MINUTE,
    stage: 'Creating a music video',
    fixed: true,
    withSong: 'create its music video',
    doneOnce: 'created a music video for this take',
    reusesResult: true,
  },
  'music.timestampedLyrics': {
    ...DIRECT,
    stage: 'Syncing lyrics',
    fixed: true,
    withSong: 'sync its lyrics',
    reusesResult: true,
  },
  'music.generatePersona': { ...DIRECT, stage: 'Saving the voice', withSong: 'save its voice' },
  'media.image': { ...DIRECT, stage: 'Creating an image', result: 'image' },
  'gen.image': { ...DIRECT, stage: 'Creating an image', result: 'image' },
  'media.video': {
    resultMode: 'poll',
    deadlineMs: 30 * MINUTE,
    stage: 'Creating a video',
    result: 'video',
    downloads: 'files',
  },
  answer: { resultMode: 'stream', deadlineMs: 10 * MINUTE, stage: 'Answering', result: 'answer' },
};
