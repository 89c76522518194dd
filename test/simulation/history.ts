/** What happens in one history: plain data, so that it can be printed, kept and played again. */

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
  /** Milliseconds after the one before. */
  readonly afterMs: number;
  /** The chat delivers it again, to any replica. */
  readonly twice: boolean;
  /** The chat says that the bot answered too late: its person read that it did not respond. */
  readonly late?: boolean | undefined;
}

/** `stop` is under an answer what `cancel` is elsewhere. `here`: what could be shown nowhere is wanted at another address. */
export type Button = 'cancel' | 'again' | 'show' | 'wav' | 'karaoke' | 'voice' | 'here';

/** Somebody presses a button under the message of a request. */
export interface Press {
  readonly button: Button;
  /** The request, by its number; one that does not exist is the last. */
  readonly request: number;
  /** Milliseconds after the request. */
  readonly afterMs: number;
}

/**
 * A replica dies, is suspended or is asked to stop, between any two effects; or the timer of every open job that nothing runs
 * under is lost. Those of jobs that ended, with a late callback to read, no sweep would find again: docs/reliability.md says so.
 */
export interface Fault {
  readonly type: 'die' | 'freeze' | 'stop' | 'lose timers';
  /** Effects after the fault before. */
  readonly afterSteps: number;
  readonly replica: number;
  /** Until it is back: a dead one with its memory gone, a frozen one with its old beliefs. */
  readonly forMs: number;
}

/** What the gateway does with a paid request. */
export type PaidReply =
  | { readonly type: 'taken'; readonly answerAfterMs?: number | undefined }
  /** Taken, and the answer is lost on its way. */
  | { readonly type: 'answer lost' }
  /** Lost on its way: never taken, which the bot cannot know. */
  | { readonly type: 'request lost' }
  | { readonly type: 'busy'; readonly retryAfterMs?: number | undefined }
  | { readonly type: 'refused' };

export type Stage = 'text' | 'first' | 'complete' | 'failed' | 'unreadable';

/** What comes of a task that was taken. */
export interface Outcome {
  /** Milliseconds after it was taken, for each stage; a stage that is left out never comes. */
  readonly stages: Partial<Record<Stage, number>>;
  /** Each callback comes as often as this. */
  readonly copies: number;
}

/** How an answer comes word by word. `slow`: seconds lie between its words. */
export type AnswerReply = 'whole' | 'slow' | 'breaks' | 'breaks at once' | 'silent';
export type PollReply = 'answered' | 'unavailable' | 'busy' | 'not found' | 'unknown' | 'failed';
/** `file missing`: the chat wants the bytes of a file that is not kept any more. */
export type ChannelReply = 'shown' | 'answer lost' | 'away' | 'limited' | 'refused' | 'gone' | 'file missing';
export type MediaReply = 'kept' | 'away' | 'not there' | 'no room';

/** Operations of the storage that fail: so many from one on. */
export interface StorageTrouble {
  readonly after: number;
  readonly reply: 'answer lost' | 'away';
  readonly times: number;
}

export interface History {
  /** Of the order of everything that could happen next; 0: first come, first served. */
  readonly seed: number;
  readonly store: 'shared' | 'sqlite';
  readonly replicas: number;
  /** How much a person may ask for in a day; undefined: any number. */
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

/** Nothing goes wrong, and nothing is asked for: what histories of tests begin with. */
export const QUIET: History = {
  seed: 0,
  store: 'shared',
  replicas: 1,
  requests: [],
  presses: [],
  faults: [],
  paid: [],
  outcomes: [],
  answers: [],
  polls: [],
  channel: [],
  media: [],
  storage: [],
};
