/** What happens in one history: data that fast-check makes, and makes smaller where it fails. */
import fc from 'fast-check';

export interface Request {
  readonly kind: 'song' | 'song with words first' | 'picture' | 'video' | 'question';
  /** Milliseconds after the one before. */
  readonly afterMs: number;
  /** The chat delivers it again, to any replica. */
  readonly twice: boolean;
  /** Milliseconds until its person presses Cancel. */
  readonly cancelAfterMs?: number | undefined;
}

/** A replica dies, stands still or is asked to stop, between any two effects. */
export interface Fault {
  readonly type: 'die' | 'freeze' | 'stop';
  /** Effects after the fault before. */
  readonly afterSteps: number;
  readonly replica: number;
  /** Until it is back: a dead one with its memory gone, a frozen one with its old beliefs. */
  readonly forMs: number;
}

/** What the gateway does with a paid request. */
export type PaidReply =
  | { readonly type: 'taken' }
  /** Taken, and the answer is lost on its way. */
  | { readonly type: 'answer lost' }
  /** Lost on its way: never taken, which the bot cannot know. */
  | { readonly type: 'request lost' }
  | { readonly type: 'busy'; readonly retryAfterMs?: number | undefined }
  | { readonly type: 'refused' };

/** What comes of a task that was taken. */
export interface Outcome {
  /** Milliseconds after it was taken, for each stage; a stage that is left out never comes. */
  readonly stages: Partial<Record<'text' | 'first' | 'complete' | 'failed', number>>;
  /** Each callback comes as often as this. */
  readonly copies: number;
}

export type PollReply = 'answered' | 'unavailable' | 'busy' | 'not found';
export type ChannelReply = 'shown' | 'answer lost' | 'away' | 'limited' | 'refused' | 'gone';
export type StorageReply = 'done' | 'answer lost' | 'away';

export interface History {
  /** Of the order of everything that could happen next; 0: first come, first served. */
  readonly seed: number;
  readonly store: 'memory' | 'sqlite';
  readonly replicas: number;
  readonly requests: readonly Request[];
  readonly faults: readonly Fault[];
  readonly paid: readonly PaidReply[];
  readonly outcomes: readonly Outcome[];
  readonly polls: readonly PollReply[];
  readonly channel: readonly ChannelReply[];
  /** Of every operation of the storage, in order; `done` after the last. */
  readonly storage: readonly { readonly after: number; readonly reply: StorageReply }[];
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** The first value is what things shrink to. */
const mostly = <Value>(usual: Value, ...others: readonly Value[]) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(usual) },
    { weight: 2, arbitrary: fc.constantFrom(...others) },
  );

const request: fc.Arbitrary<Request> = fc.record(
  {
    kind: fc.constantFrom('song', 'picture', 'video', 'question', 'song with words first'),
    afterMs: fc.constantFrom(0, SECOND, 20 * SECOND),
    twice: mostly(false, true),
    cancelAfterMs: fc.constantFrom(0, 500, 5 * SECOND, 40 * SECOND, 10 * MINUTE),
  },
  { requiredKeys: ['kind', 'afterMs', 'twice'] },
);

const fault: fc.Arbitrary<Fault> = fc.record({
  type: fc.constantFrom('die', 'freeze', 'stop'),
  afterSteps: fc.nat(60),
  replica: fc.nat(2),
  forMs: fc.constantFrom(0, 5 * SECOND, 20 * SECOND, MINUTE, 45 * MINUTE),
});

const paid: fc.Arbitrary<PaidReply> = mostly<PaidReply>(
  { type: 'taken' },
  { type: 'answer lost' },
  { type: 'request lost' },
  { type: 'busy', retryAfterMs: 30 * SECOND },
  { type: 'busy' },
  { type: 'refused' },
);

const outcome: fc.Arbitrary<Outcome> = fc.record({
  stages: mostly<Outcome['stages']>(
    { text: 10 * SECOND, first: 20 * SECOND, complete: 60 * SECOND },
    { text: 0, first: 0, complete: 0 },
    { complete: 30 * SECOND, first: 40 * SECOND, text: 50 * SECOND },
    { text: 10 * SECOND, failed: 30 * SECOND },
    { failed: 20 * SECOND, complete: 30 * SECOND },
    { text: 10 * SECOND, complete: 50 * MINUTE },
    { first: 10 * SECOND },
    {},
  ),
  copies: mostly(1, 2, 3),
});

export const histories = (store: fc.Arbitrary<History['store']>): fc.Arbitrary<History> =>
  fc.record({
    seed: fc.nat(),
    store,
    replicas: fc.integer({ min: 1, max: 3 }),
    requests: fc.array(request, { minLength: 1, maxLength: 3 }),
    faults: fc.array(fault, { maxLength: 4 }),
    paid: fc.array(paid, { maxLength: 4 }),
    outcomes: fc.array(outcome, { maxLength: 3 }),
    polls: fc.array(mostly<PollReply>('answered', 'unavailable', 'busy', 'not found'), { maxLength: 4 }),
    channel: fc.array(mostly<ChannelReply>('shown', 'answer lost', 'away', 'limited', 'refused', 'gone'), {
      maxLength: 6,
    }),
    storage: fc.array(
      fc.record({ after: fc.nat(60), reply: fc.constantFrom<StorageReply>('answer lost', 'away') }),
      { maxLength: 2 },
    ),
  });
