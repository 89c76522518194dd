/** The script of a history: plain data, so that it can be printed, stored and replayed. */

export type RequestKind =
  | 'song'
  | 'song with words first'
  | 'song in a rough style'
  | 'lyrics'
  | 'picture'
  | 'painting'
  | 'video'
  | 'question'
  | 'question to msg'
  | 'question for pictures'
  | 'question to think about'
  | 'question with tools';

export interface Request {
  readonly kind: RequestKind;
  /** Milliseconds after the previous request. */
  readonly afterMs: number;
  /** The chat delivers the event again, to any replica. */
  readonly twice: boolean;
  /** The chat reports a timeout: the requester reads that the bot did not respond. */
  readonly late?: boolean | undefined;
}

/** `stop` is the cancel button of an answer. `here`: the requester wants an undelivered result at another address. */
export type Button = 'cancel' | 'again' | 'show' | 'wav' | 'karaoke' | 'voice' | 'here';

/** A person presses a button below the message of a request. */
export interface Press {
  readonly button: Button;
  /** Index of the request; the last one if there is no such request. */
  readonly request: number;
  /** Milliseconds after the request. */
  readonly afterMs: number;
}

/**
 * A replica dies, is suspended or is asked to stop between any two effects, or the timers of all open jobs without a current run are
 * lost. Timers of ended jobs with a late callback are not recovered by a sweep (docs/reliability.md).
 */
export interface Fault {
  readonly type: 'die' | 'freeze' | 'stop' | 'lose timers';
  /** Effects after the previous fault. */
  readonly afterSteps: number;
  readonly replica: number;
  /** Time until it is back: a dead replica without its memory, a suspended one with outdated knowledge. */
  readonly forMs: number;
}

/** The gateway's response to a paid request. */
export type PaidReply =
  | { readonly type: 'taken'; readonly answerAfterMs?: number | undefined }
  /** Accepted, but the response is lost. */
  | { readonly type: 'answer lost' }
  /** Lost on the way and never accepted, which the bot cannot know. */
  | { readonly type: 'request lost' }
  | { readonly type: 'busy'; readonly retryAfterMs?: number | undefined }
  | { readonly type: 'refused' };

export type Stage = 'text' | 'first' | 'complete' | 'failed' | 'unreadable';

/** The outcome of an accepted task. */
export interface Outcome {
  /** Milliseconds after acceptance, for each stage; a missing stage never arrives. */
  readonly stages: Partial<Record<Stage, number>>;
  /** Number of deliveries of each callback. */
  readonly copies: number;
}

/** The stream of an answer. `slow`: seconds between its words. */
export type AnswerReply = 'whole' | 'slow' | 'breaks' | 'breaks at once' | 'silent';
export type PollReply = 'answered' | 'unavailable' | 'busy' | 'not found' | 'unknown' | 'failed';
/** `file missing`: the chat needs the bytes of a file that is no longer stored. */
export type ChannelReply = 'shown' | 'answer lost' | 'away' | 'limited' | 'refused' | 'gone' | 'file missing';
export type MediaReply = 'kept' | 'away' | 'not there' | 'no room';

/** Failing storage operations: a range of indexes. */
export interface StorageTrouble {
  readonly after: number;
  readonly reply: 'answer lost' | 'away';
  readonly times: number;
}

export interface History {
  /** Seed for the order of concurrent events; 0 for first come, first served. */
  readonly seed: number;
  readonly store: 'shared' | 'sqlite';
  readonly replicas: number;
  /** Effects after which all faults stop, and every open job must end in time; if undefined, they happen as listed. */
  readonly calmAfterSteps?: number | undefined;
  /** Daily limit per person; none if undefined. */
  readonly dailyLimit?: number | undefined;
  readonly requests: readonly Request[];
  readonly presses: readonly Press[];
  readonly faults: readonly Fault[];
  readonly paid: readonly PaidReply[];
  readonly outcomes: readonly Outcome[];
  readonly answers: readonly AnswerReply[];
  readonly polls: readonly PollReply[];
  readonly channel: readonly ChannelReply[];
  readonly media: readonly MediaReply[];
  readonly storage: readonly StorageTrouble[];
}

/** Every service works. */
export const CALM = {
  paid: [],
  outcomes: [],
  answers: [],
  polls: [],
  channel: [],
  media: [],
  storage: [],
} satisfies Partial<History>;

/** A history without faults and requests, as the base for tests. */
export const QUIET: History = {
  seed: 0,
  store: 'shared',
  replicas: 1,
  requests: [],
  presses: [],
  faults: [],
  ...CALM,
};
