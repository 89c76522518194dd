import { describe, expect, it } from 'vitest';
import { EMPTY_RESULT, type Job } from '../../src/core/job.ts';
import type { Result } from '../../src/core/work.ts';
import type { JobEvent } from '../../src/jobs/events.ts';
import { acceptedJob, fromMusic, transition } from '../../src/jobs/transitions.ts';
import { SONG } from './world.ts';

/** Tests the exact effect of each event on the record. */
const JOB: Job = acceptedJob({
  id: 'job',
  command: 'song',
  title: 'Composing “rain”',
  address: { platform: 'discord', channel: 'channel', person: 'ada' },
  person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
  invocation: 'discord:event',
  work: SONG.work,
  createdAt: 0,
});
const applyAll = (job: Job, ...events: readonly JobEvent[]): Job => events.reduce(transition, job);
const results = (more: Partial<Result>): Result => ({ ...EMPTY_RESULT, ...more });
const sound = (file: string) => `https://gateway.example/${file}.mp3`;
const picture = (file: string) => ({ type: 'remote', url: `https://gateway.example/${file}.png` }) as const;

const SUBMITTING = applyAll(JOB, { type: 'submitting', work: SONG.work, at: 1 });
const WAITING = applyAll(SUBMITTING, { type: 'submitted', taskId: 'task', deadlineAt: 9, at: 2 });
const RAIN = results({ songs: [{ audioId: 'a', audioUrl: sound('a') }] });
const DELIVERED = applyAll(
  WAITING,
  { type: 'completed', taskId: 'task', result: RAIN, at: 3 },
  { type: 'closed', end: 'delivered', at: 4, charge: 'yes' },
);
const PICTURE = results({ images: [picture('cover')] });

describe('submission', () => {
  it('keeps a partial result and waits for the rest', () => {
    expect(WAITING).toStrictEqual({ ...SUBMITTING, taskId: 'task', state: 'waiting', deadlineAt: 9 });
    expect(applyAll(SUBMITTING, { type: 'submitted', result: PICTURE, deadlineAt: 9, at: 2 })).toStrictEqual({
      ...SUBMITTING,
      result: PICTURE,
      complete: false,
      state: 'waiting',
      deadlineAt: 9,
    });
  });

  it('records that lyrics were requested first', () => {
    expect(applyAll(JOB, { type: 'submitting', work: SONG.work, at: 1, lyrics: true })).toStrictEqual({
      ...SUBMITTING,
      lyrics: 'sent',
    });
  });

  it('becomes ready for an immediate result, or cancelled on request', () => {
    const answered: JobEvent = { type: 'submitted', result: PICTURE, at: 2 };
    const ready = { state: 'ready', result: PICTURE, complete: true, endedAt: 2 } as const;
    expect(applyAll(SUBMITTING, answered)).toStrictEqual({ ...SUBMITTING, ...ready, end: 'delivered' });
    const requested = applyAll(SUBMITTING, { type: 'cancelRequested', by: 'ada' });
    expect(applyAll(requested, answered)).toStrictEqual({ ...requested, ...ready, end: 'cancelled' });
  });

  it('restarts with a counter and a pause after a refusal', () => {
    const { submittedAt: _, ...accepted } = SUBMITTING;
    expect(applyAll(SUBMITTING, { type: 'notTaken' })).toStrictEqual({
      ...accepted,
      state: 'accepted',
      refusals: 1,
    });
    const withRetryAfter = { ...SUBMITTING, refusals: 1, held: { showing: 3 } };
    expect(applyAll(withRetryAfter, { type: 'notTaken', until: 7 })).toStrictEqual({
      ...accepted,
      state: 'accepted',
      refusals: 2,
      held: { showing: 3, asking: 7 },
    });
  });

  it('restarts without a counter for another model, and not at all once it is cancelled', () => {
    const { submittedAt: _, ...accepted } = SUBMITTING;
    const work = { route: 'answer', dialect: 'msg', request: { model: 'next', turns: [] } } as const;
    expect(applyAll({ ...SUBMITTING, refusals: 1 }, { type: 'notTaken', work })).toStrictEqual({
      ...accepted,
      work,
      state: 'accepted',
    });
    const cancelled = applyAll(SUBMITTING, { type: 'cancelRequested', by: 'ada' }, { type: 'cancelled' });
    const { submittedAt: __, ...free } = cancelled;
    expect(applyAll(cancelled, { type: 'notTaken', work })).toStrictEqual(free);
  });

  it('drops requested lyrics after a refusal, but keeps paid ones', () => {
    const requested = applyAll(JOB, { type: 'submitting', work: SONG.work, at: 1, lyrics: true });
    expect(requested.lyrics).toBe('sent');
    expect(applyAll(requested, { type: 'notTaken' })).toStrictEqual({ ...JOB, refusals: 1 });
    const written = applyAll(requested, { type: 'lyricsWritten', work: SONG.work });
    expect(written).toStrictEqual({ ...JOB, submittedAt: 1, lyrics: 'done' });
    const again = applyAll(written, { type: 'submitting', work: SONG.work, at: 5 }, { type: 'notTaken' });
    expect(again).toStrictEqual({ ...written, submittedAt: 5, refusals: 1 });
  });
});

describe('waiting', () => {
  it('counts polls, and records when the task became unknown', () => {
    expect(applyAll(WAITING, { type: 'retried' }, { type: 'polled' })).toStrictEqual({
      ...WAITING,
      polls: 1,
    });
    const unknown = applyAll(WAITING, { type: 'polled', unknownSince: 4 });
    expect(unknown).toStrictEqual({ ...WAITING, polls: 1, unknownSince: 4 });
    expect(applyAll(unknown, { type: 'polled' })).toStrictEqual({ ...WAITING, polls: 2 });
  });

  it('keeps a partial result as partial, and records unreadable callbacks', () => {
    const part: JobEvent = { type: 'progressed', taskId: 'task', result: PICTURE };
    expect(applyAll(WAITING, part)).toStrictEqual({ ...WAITING, result: PICTURE, complete: false });
    const unreadable: JobEvent = { type: 'progressed', taskId: undefined, isUnreadable: true };
    expect(applyAll(WAITING, unreadable)).toStrictEqual({ ...WAITING, unreadable: true });
    expect(applyAll(WAITING, { type: 'completed', result: PICTURE, at: 3 })).toMatchObject({
      complete: true,
    });
    // Nothing has changed.
    const expired: Job = { ...WAITING, state: 'expired', end: 'expired' };
    expect(applyAll(expired, { type: 'completed', result: EMPTY_RESULT, at: 3 }).state).toBe('ready');
  });

  it('accepts lyrics once, and only while waiting for them', () => {
    const words: JobEvent = { type: 'lyricsWritten', work: { ...SONG.work } };
    expect(applyAll(WAITING, words)).toBe(WAITING);
    expect(applyAll({ ...WAITING, lyrics: 'done' }, words).state).toBe('waiting');
  });

  it('counts failures, and stores each Retry-After separately', () => {
    expect(applyAll(WAITING, { type: 'retried' })).toStrictEqual({ ...WAITING, attempts: 1 });
    const withRetryAfter = { ...WAITING, held: { asking: 3 } };
    expect(applyAll(withRetryAfter, { type: 'retried', held: { showing: 8 } })).toStrictEqual({
      ...WAITING,
      attempts: 1,
      held: { asking: 3, showing: 8 },
    });
    expect(applyAll(withRetryAfter, { type: 'retried' })).toStrictEqual({ ...withRetryAfter, attempts: 1 });
  });

  it('keeps the first task id', () => {
    const withoutTaskId = applyAll(SUBMITTING, { type: 'uncertain', deadlineAt: 9 });
    expect(withoutTaskId).toStrictEqual({ ...SUBMITTING, state: 'waiting', deadlineAt: 9, uncertain: true });
    expect(applyAll(withoutTaskId, { type: 'progressed' })).toStrictEqual({
      ...withoutTaskId,
      uncertain: false,
    });
    const named = applyAll(withoutTaskId, { type: 'progressed', taskId: 'first' });
    expect(named).toStrictEqual({ ...withoutTaskId, uncertain: false, taskId: 'first' });
    expect(applyAll(named, { type: 'progressed', taskId: 'second' })).toStrictEqual(named);
  });
});

describe('cancellation', () => {
  it('keeps the first request', () => {
    expect(applyAll(WAITING, { type: 'cancelled' })).toBe(WAITING);
    const requested = applyAll(WAITING, { type: 'cancelRequested', by: 'ada' });
    expect(applyAll(requested, { type: 'cancelRequested', by: 'eve' })).toBe(requested);
    expect(applyAll(requested, { type: 'cancelled' })).toStrictEqual({
      ...requested,
      state: 'ready',
      end: 'cancelled',
    });
  });

  it('persists if a result arrives before or after delivery, even in old records', () => {
    const completed: JobEvent = { type: 'completed', result: RAIN, at: 6 };
    expect(applyAll({ ...JOB, state: 'ready', end: 'cancelled' }, completed).end).toBe('cancelled');
    expect(applyAll({ ...JOB, state: 'cancelled' }, completed).end).toBe('cancelled');
    expect(applyAll({ ...JOB, state: 'expired', end: 'expired' }, completed).end).toBe('delivered');
  });

  it('leaves a task for polling if its id arrives late, and accepts a late result', () => {
    const cancelled: Job = { ...SUBMITTING, state: 'cancelled', end: 'cancelled' };
    const named: JobEvent = { type: 'submitted', taskId: 'task', deadlineAt: 9, at: 6 };
    expect(applyAll(cancelled, named)).toStrictEqual({ ...cancelled, taskId: 'task' });
    const answered: JobEvent = { type: 'submitted', result: PICTURE, at: 6 };
    expect(applyAll(cancelled, answered)).toMatchObject({
      state: 'ready',
      end: 'cancelled',
      result: PICTURE,
    });
    expect(applyAll(cancelled, answered).complete).toBe(true);
    expect(
      applyAll(
        cancelled,
        answered,
        { type: 'closed', end: 'cancelled', at: 7, charge: 'yes' },
        { type: 'revealed' },
      ),
    ).toMatchObject({ state: 'ready', end: 'delivered' });
    // The task id is kept.
    expect(applyAll({ ...cancelled, taskId: 'task' }, answered).taskId).toBe('task');
    const failed: Job = { ...SUBMITTING, state: 'ready', end: 'failed' };
    expect(applyAll(failed, answered)).toBe(failed);
  });
});

describe('a delivered job', () => {
  const more: JobEvent = { type: 'completed', taskId: 'task', result: PICTURE, at: 9 };

  it('ignores repeated or partial results, and those of other tasks', () => {
    expect(applyAll(DELIVERED, { type: 'completed', taskId: 'task', result: RAIN, at: 9 })).toBe(DELIVERED);
    expect(applyAll(DELIVERED, { type: 'progressed', taskId: 'task', result: PICTURE })).toBe(DELIVERED);
    expect(applyAll(DELIVERED, { ...more, taskId: 'another' })).toBe(DELIVERED);
  });

  it('still records its task id', () => {
    const { taskId: _, ...withoutTaskId } = DELIVERED;
    expect(applyAll(withoutTaskId, { type: 'completed', taskId: 'task', result: RAIN, at: 9 })).toStrictEqual(
      DELIVERED,
    );
    expect(applyAll(withoutTaskId, { type: 'progressed', taskId: 'task' })).toStrictEqual(DELIVERED);
  });

  it('shows a late result with more files', () => {
    const { taskId: _, ...withoutTaskId } = DELIVERED;
    const { taskId: _task, ...eventWithoutTaskId } = more;
    for (const [job, event] of [
      [DELIVERED, more],
      [DELIVERED, eventWithoutTaskId],
      [withoutTaskId, more],
    ] as const)
      expect(applyAll(job, event)).toMatchObject({
        state: 'ready',
        end: 'delivered',
        endedAt: 3,
        result: { ...RAIN, ...PICTURE, songs: RAIN.songs },
      });
  });

  it.each<[string, Partial<Result>]>([
    ['another audio', { songs: [{ audioId: 'b', audioUrl: sound('b') }] }],
    ['an image', { images: [picture('b')] }],
    ['a stem', { stems: [{ name: 'Vocals', url: sound('v') }] }],
    ['a WAV', { wavUrl: 'https://gateway.example/a.wav' }],
    ['a video', { videoUrl: 'https://gateway.example/a.mp4' }],
  ])('considers %s as more, but not a repetition of it', (_name, part) => {
    const event: JobEvent = { type: 'completed', result: results(part), at: 9 };
    const extended = applyAll(DELIVERED, event);
    expect(extended.state).toBe('ready');
    const closed = applyAll(extended, { type: 'closed', end: 'delivered', at: 10, charge: 'yes' });
    expect(applyAll(closed, event)).toBe(closed);
    // Everything is new to an empty result.
    const { result: _, ...empty } = DELIVERED;
    expect(applyAll(empty, event).state).toBe('ready');
  });

  it('does not consider a take without audio or other lyrics as more', () => {
    const silent = results({ songs: [{ audioId: 'b', title: 'Rain' }], lyrics: [{ text: 'Snow' }] });
    expect(applyAll(DELIVERED, { type: 'completed', result: silent, at: 9 })).toBe(DELIVERED);
    const { result: _, ...empty } = DELIVERED;
    expect(applyAll(empty, { type: 'completed', result: EMPTY_RESULT, at: 9 })).toBe(empty);
  });
});

describe('the end', () => {
  const ready: Job = { ...WAITING, state: 'ready', end: 'expired', attempts: 2 };

  it.each([
    ['yes', true, false],
    ['uncertain', true, true],
    ['no', false, false],
  ] as const)('records the charge: %s', (charge, charged, chargeUncertain) => {
    expect(applyAll(ready, { type: 'closed', end: 'expired', at: 5, charge })).toStrictEqual({
      ...ready,
      state: 'expired',
      finishedAt: 5,
      attempts: 0,
      charged,
      chargeUncertain,
    });
  });

  it('is not reopened by a failure, refusal or deadline', () => {
    const failure = { code: 'rate', sentence: 'Busy.', reference: 'id', taken: 'no' } as const;
    for (const state of ['ready', 'delivered', 'failed', 'expired', 'cancelled'] as const) {
      const ended: Job = { ...DELIVERED, state };
      for (const event of [{ type: 'failed', failure }, { type: 'notTaken' }, { type: 'expired' }] as const)
        expect(applyAll(ended, event)).toBe(ended);
    }
  });

  it('is reopened by a response to a lost request, but not by others', () => {
    const failure = { code: 'interrupted', sentence: 'Lost.', reference: 'id', taken: 'unknown' } as const;
    const lostJob: Job = { ...SUBMITTING, state: 'failed', end: 'failed', failure };
    const answer = { type: 'submitted', result: results(PICTURE), at: 9 } as const;
    const { failure: _, ...known } = lostJob;
    expect(applyAll(lostJob, answer)).toStrictEqual({
      ...known,
      state: 'ready',
      end: 'delivered',
      result: results(PICTURE),
      complete: true,
      endedAt: 9,
    });
    expect(applyAll(lostJob, { type: 'submitted', taskId: 'task', deadlineAt: 9, at: 9 })).toStrictEqual({
      ...lostJob,
      taskId: 'task',
    });
    const refused: Job = { ...lostJob, failure: { ...failure, taken: 'no' } };
    expect(applyAll(refused, answer)).toBe(refused);
  });

  it('is not reported as lost if the gateway definitely did not accept it', () => {
    const failure = { code: 'interrupted', sentence: 'Lost.', reference: 'id', taken: 'unknown' } as const;
    const again = applyAll(SUBMITTING, { type: 'notTaken' });
    expect(applyAll(again, { type: 'failed', failure })).toBe(again);
    expect(applyAll(again, { type: 'failed', failure: { ...failure, taken: 'no' } }).state).toBe('ready');
  });

  it('is not closed if the outcome changed meanwhile', () => {
    expect(applyAll(ready, { type: 'closed', end: 'cancelled', at: 5, charge: 'yes' })).toBe(ready);
    const { end: _, ...endless } = ready;
    expect(applyAll(endless, { type: 'closed', end: undefined, at: 5, charge: 'no' }).state).toBe('failed');
  });
});

describe('two runs that posted', () => {
  it('leave the second message for deletion if the first is known', () => {
    const shown = applyAll(WAITING, { type: 'recorded', fields: { posted: { id: 'one' }, shown: 'digest' } });
    const { shown: _, ...stale } = { ...shown, mayHavePosted: true };
    const twice = applyAll(shown, { type: 'overtaken', posted: { id: 'two' } });
    expect(twice).toStrictEqual({ ...stale, overtaken: [{ id: 'two' }] });
    expect(applyAll(twice, { type: 'overtaken', posted: { id: 'three' } }).overtaken).toStrictEqual([
      { id: 'two' },
      { id: 'three' },
    ]);
    expect(applyAll(twice, { type: 'repaired' })).toStrictEqual(stale);
    expect(applyAll(WAITING, { type: 'repaired' })).toBe(WAITING);
  });

  it('keep the only known message', () => {
    expect(applyAll(WAITING, { type: 'overtaken', posted: { id: 'two' } })).toStrictEqual({
      ...WAITING,
      mayHavePosted: true,
      posted: { id: 'two' },
      overtaken: [],
    });
  });
});

describe('partial results', () => {
  const merged = (...parts: readonly Partial<Result>[]) =>
    applyAll(WAITING, ...parts.map((part): JobEvent => ({ type: 'progressed', result: results(part) })))
      .result;

  it('replace earlier ones, but never with nothing', () => {
    const first = {
      songs: [{ audioId: 'a' }],
      lyrics: [{ text: 'Rain' }],
      images: [picture('a')],
      stems: [{ name: 'Vocals', url: sound('v') }],
      wavUrl: 'https://gateway.example/a.wav',
    };
    const second = {
      songs: [{ audioId: 'a', title: 'Rain' }],
      lyrics: [{ text: 'Snow' }],
      images: [picture('b')],
      stems: [{ name: 'Drums', url: sound('d') }],
      videoUrl: 'https://gateway.example/a.mp4',
    };
    expect(merged(first, {})).toStrictEqual(first);
    expect(merged({}, first)).toStrictEqual(first);
    expect(merged(first, second)).toStrictEqual({ ...first, ...second });
  });

  it('match takes by id, or by position if one has no id', () => {
    expect(
      merged({ songs: [{ audioUrl: sound('a') }] }, { songs: [{ audioId: 'a', title: 'Rain' }] })?.songs,
    ).toStrictEqual([{ audioId: 'a', title: 'Rain', audioUrl: sound('a') }]);
    expect(
      merged({ songs: [{ audioId: 'a', audioUrl: sound('a') }] }, { songs: [{ title: 'Rain' }] })?.songs,
    ).toStrictEqual([{ audioId: 'a', title: 'Rain', audioUrl: sound('a') }]);
    expect(
      merged({ songs: [{ title: 'Rain' }] }, { songs: [{ audioUrl: sound('a') }] })?.songs,
    ).toStrictEqual([{ title: 'Rain', audioUrl: sound('a') }]);
    expect(
      merged({ songs: [{ title: 'one' }] }, { songs: [{ title: 'one' }, { title: 'two' }] })?.songs,
    ).toStrictEqual([{ title: 'one' }, { title: 'two' }]);
  });

  it('never assign files of one take to another', () => {
    const sounds = [{ audioUrl: sound('a') }, { audioUrl: sound('b') }];
    expect(merged({ songs: sounds }, { songs: [{ title: 'one' }, { title: 'two' }] })?.songs).toStrictEqual([
      { title: 'one', audioUrl: sound('a') },
      { title: 'two', audioUrl: sound('b') },
    ]);
  });

  it('keep a take missing in the newer result only if it has audio', () => {
    const known = [{ audioId: 'a', audioUrl: sound('a') }, { audioId: 'b' }];
    expect(merged({ songs: known }, { songs: [{ audioId: 'c' }] })?.songs).toStrictEqual([
      { audioId: 'c' },
      { audioId: 'a', audioUrl: sound('a') },
    ]);
    // A take matched by id is not matched again by position.
    expect(merged({ songs: known }, { songs: [{ audioId: 'b' }, { title: 'new' }] })?.songs).toStrictEqual([
      { audioId: 'b' },
      { title: 'new' },
      { audioId: 'a', audioUrl: sound('a') },
    ]);
  });
});

describe('undelivered results', () => {
  const undelivered: Job = { ...DELIVERED, undelivered: true, posted: { id: 'one' }, shown: 'digest' };
  const elsewhere = { platform: 'discord', channel: 'other', person: 'ada' };

  it("move to another address at their owner's request only", () => {
    const { undelivered: _, posted: _posted, shown: _shown, ...rest } = undelivered;
    expect(applyAll(undelivered, { type: 'redirected', address: elsewhere, person: 'ada' })).toStrictEqual({
      ...rest,
      address: elsewhere,
      state: 'ready',
    });
    expect(applyAll(undelivered, { type: 'redirected', address: elsewhere, person: 'eve' })).toBe(
      undelivered,
    );
    expect(applyAll(DELIVERED, { type: 'redirected', address: elsewhere, person: 'ada' })).toBe(DELIVERED);
  });
});

it('a restored job may have posted more since the backup, and continues in its state', () => {
  const failure = {
    code: 'restored',
    sentence: 'I was restored.',
    reference: 'ref',
    taken: 'unknown',
  } as const;
  expect(applyAll(WAITING, { type: 'restored', failure })).toStrictEqual({
    ...WAITING,
    restored: true,
    mayHavePosted: true,
  });
});

it("the output of the gateway's parser becomes a result, and an empty one contains nothing", () => {
  expect(EMPTY_RESULT).toStrictEqual({ songs: [], lyrics: [], images: [], stems: [] });
  const found = { songs: [], lyrics: [{ text: 'Rain' }], stems: [] };
  expect(fromMusic({ ...found, images: ['https://gateway.example/a.png'] })).toStrictEqual({
    ...found,
    images: [picture('a')],
  });
  const files = { wavUrl: 'https://gateway.example/a.wav', videoUrl: 'https://gateway.example/a.mp4' };
  expect(fromMusic({ ...found, images: [], ...files })).toStrictEqual({ ...found, images: [], ...files });
});
