/** Arbitrary histories for fast-check, which shrinks towards the first value of each choice. */
import fc from 'fast-check';
import type {
  AnswerReply,
  ChannelReply,
  Fault,
  History,
  MediaReply,
  Outcome,
  PaidReply,
  PollReply,
  Press,
  Request,
  StorageTrouble,
} from './history.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const weighted = <Value>(common: Value, ...rareValues: readonly Value[]) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(common) },
    { weight: 2, arbitrary: fc.constantFrom(...rareValues) },
  );

const request: fc.Arbitrary<Request> = fc.record(
  {
    kind: fc.constantFrom(
      'song',
      'picture',
      'video',
      'question',
      'lyrics',
      'painting',
      'question with tools',
      'question to msg',
      'question for pictures',
      'question to think about',
      'song with words first',
      'song in a rough style',
    ),
    afterMs: fc.constantFrom(0, SECOND, 20 * SECOND),
    twice: weighted(false, true),
    late: fc.constantFrom(false, false, false, true),
  },
  { requiredKeys: ['kind', 'afterMs', 'twice'] },
);

const press: fc.Arbitrary<Press> = fc.record({
  button: fc.constantFrom(
    'cancel',
    'cancel',
    'cancel',
    'again',
    'show',
    'here',
    'wav',
    'wav',
    'karaoke',
    'voice',
  ),
  request: fc.nat(2),
  afterMs: fc.constantFrom(0, 500, 5 * SECOND, 40 * SECOND, 2 * MINUTE, 10 * MINUTE, 50 * MINUTE),
});

const fault: fc.Arbitrary<Fault> = fc.record({
  type: fc.constantFrom('die', 'freeze', 'stop', 'die', 'freeze', 'lose timers'),
  afterSteps: fc.nat(60),
  replica: fc.nat(2),
  forMs: fc.constantFrom(0, 5 * SECOND, 20 * SECOND, MINUTE, 45 * MINUTE),
});

const paid: fc.Arbitrary<PaidReply> = weighted<PaidReply>(
  { type: 'taken' },
  { type: 'taken', answerAfterMs: 8 * SECOND },
  { type: 'answer lost' },
  { type: 'request lost' },
  { type: 'busy', retryAfterMs: 30 * SECOND },
  { type: 'busy', retryAfterMs: 10 * MINUTE },
  { type: 'busy' },
  { type: 'refused' },
);

const outcome: fc.Arbitrary<Outcome> = fc.record({
  stages: weighted<Outcome['stages']>(
    { text: 10 * SECOND, first: 20 * SECOND, complete: 60 * SECOND },
    { text: 0, first: 0, complete: 0 },
    { complete: 30 * SECOND, first: 40 * SECOND, text: 50 * SECOND },
    { text: 10 * SECOND, failed: 30 * SECOND },
    { failed: 20 * SECOND, complete: 30 * SECOND },
    { text: 10 * SECOND, complete: 50 * MINUTE },
    { unreadable: 5 * SECOND, complete: 40 * SECOND },
    { unreadable: 5 * SECOND },
    { first: 10 * SECOND },
    {},
  ),
  copies: weighted(1, 2, 3),
});

const channel = weighted<ChannelReply>(
  'shown',
  'answer lost',
  'away',
  'limited',
  'refused',
  'gone',
  'file missing',
);

const storage: fc.Arbitrary<StorageTrouble> = fc.record({
  after: fc.nat(80),
  reply: fc.constantFrom('away', 'answer lost'),
  times: fc.constantFrom(1, 1, 5, 25),
});

/** @param liveness all faults stop at some point */
export const histories = (store: fc.Arbitrary<History['store']>, liveness: boolean): fc.Arbitrary<History> =>
  fc.record(
    {
      seed: fc.nat(),
      store,
      replicas: fc.integer({ min: 1, max: 3 }),
      ...(liveness && { calmAfterSteps: fc.integer({ min: 10, max: 400 }) }),
      dailyLimit: fc.constantFrom(3, 2, 1),
      requests: fc.array(request, { minLength: 1, maxLength: 3 }),
      presses: fc.array(press, { maxLength: 3 }),
      faults: fc.array(fault, { maxLength: 4 }),
      paid: fc.array(paid, { maxLength: 4 }),
      outcomes: fc.array(outcome, { maxLength: 3 }),
      answers: fc.array(
        weighted<AnswerReply>('whole', 'slow', 'slow', 'breaks', 'breaks at once', 'silent'),
        {
          maxLength: 3,
        },
      ),
      polls: fc.array(
        weighted<PollReply>('answered', 'unavailable', 'busy', 'not found', 'unknown', 'failed'),
        { maxLength: 4 },
      ),
      channel: fc
        .array(fc.tuple(channel, fc.constantFrom(1, 1, 1, 8)), { maxLength: 6 })
        .map((streaks) => streaks.flatMap(([reply, times]) => new Array<ChannelReply>(times).fill(reply))),
      media: fc.array(weighted<MediaReply>('kept', 'away', 'not there', 'no room'), { maxLength: 4 }),
      storage: fc.array(storage, { maxLength: 2 }),
    },
    {
      requiredKeys: [
        'seed',
        'store',
        'replicas',
        ...(liveness ? (['calmAfterSteps'] as const) : []),
        'requests',
        'presses',
        'faults',
        'paid',
        'outcomes',
        'answers',
        'polls',
        'channel',
        'media',
        'storage',
      ],
    },
  );
