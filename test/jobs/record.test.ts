import { describe, expect, it } from 'vitest';
import { EMPTY_RESULT, type Job } from '../../src/core/job.ts';
import type { Result } from '../../src/core/work.ts';
import type { JobEvent } from '../../src/jobs/events.ts';
import { acceptedJob, fromMusic, transition } from '../../src/jobs/transitions.ts';
import { SONG } from './world.ts';

/** What each event leaves in the record, to the letter. */
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
const applied = (job: Job, ...events: readonly JobEvent[]): Job => events.reduce(transition, job);
const results = (more: Partial<Result>): Result => ({ ...EMPTY_RESULT, ...more });
const sound = (file: string) => `https://gateway.example/${file}.mp3`;
const picture = (file: string) => ({ type: 'remote', url: `https://gateway.example/${file}.png` }) as const;

const SUBMITTING = applied(JOB, { type: 'submitting', work: SONG.work, at: 1 });
const WAITING = applied(SUBMITTING, { type: 'submitted', taskId: 'task', deadlineAt: 9, at: 2 });
const RAIN = results({ songs: [{ audioId: 'a', audioUrl: sound('a') }] });
const DELIVERED = applied(
  WAITING,
  { type: 'completed', taskId: 'task', result: RAIN, at: 3 },
  { type: 'closed', end: 'delivered', at: 4, charge: 'yes' },
);
const PICTURE = results({ images: [picture('cover')] });

describe('submission', () => {
  it('of which only a part was answered keeps the part, and waits for the rest', () => {
    expect(WAITING).toStrictEqual({ ...SUBMITTING, taskId: 'task', state: 'waiting', deadlineAt: 9 });
    expect(applied(SUBMITTING, { type: 'submitted', result: PICTURE, deadlineAt: 9, at: 2 })).toStrictEqual({
      ...SUBMITTING,
      result: PICTURE,
      complete: false,
      state: 'waiting',
      deadlineAt: 9,
    });
  });

  it('of a song whose words are asked for first remembers that they are', () => {
    expect(applied(JOB, { type: 'submitting', work: SONG.work, at: 1, lyrics: true })).toStrictEqual({
      ...SUBMITTING,
      lyrics: 'sent',
    });
  });

  it('that was answered at once is ready, or cancelled where somebody asked for that', () => {
    const answered: JobEvent = { type: 'submitted', result: PICTURE, at: 2 };
    const ready = { state: 'ready', result: PICTURE, complete: true, endedAt: 2 } as const;
    expect(applied(SUBMITTING, answered)).toStrictEqual({ ...SUBMITTING, ...ready, end: 'delivered' });
    const asked = applied(SUBMITTING, { type: 'cancelRequested', by: 'ada' });
    expect(applied(asked, answered)).toStrictEqual({ ...asked, ...ready, end: 'cancelled' });
  });

  it('that was not taken begins again, counted, and not before it may', () => {
    const { submittedAt: _, ...accepted } = SUBMITTING;
    expect(applied(SUBMITTING, { type: 'notTaken' })).toStrictEqual({
      ...accepted,
      state: 'accepted',
      refusals: 1,
    });
    const held = { ...SUBMITTING, refusals: 1, held: { showing: 3 } };
    expect(applied(held, { type: 'notTaken', until: 7 })).toStrictEqual({
      ...accepted,
      state: 'accepted',
      refusals: 2,
      held: { showing: 3, asking: 7 },
    });
  });

  it('that was not taken forgets words that were asked for, and keeps words that are paid for', () => {
    const asked = applied(JOB, { type: 'submitting', work: SONG.work, at: 1, lyrics: true });
    expect(asked.lyrics).toBe('sent');
    expect(applied(asked, { type: 'notTaken' })).toStrictEqual({ ...JOB, refusals: 1 });
    const written = applied(asked, { type: 'lyricsWritten', work: SONG.work });
    expect(written).toStrictEqual({ ...JOB, submittedAt: 1, lyrics: 'done' });
    const again = applied(written, { type: 'submitting', work: SONG.work, at: 5 }, { type: 'notTaken' });
    expect(again).toStrictEqual({ ...written, submittedAt: 5, refusals: 1 });
  });
});

describe('waiting', () => {
  it('counts the polls, and remembers since when the task is unknown', () => {
    expect(applied(WAITING, { type: 'retried' }, { type: 'polled' })).toStrictEqual({ ...WAITING, polls: 1 });
    const unknown = applied(WAITING, { type: 'polled', unknownSince: 4 });
    expect(unknown).toStrictEqual({ ...WAITING, polls: 1, unknownSince: 4 });
    expect(applied(unknown, { type: 'polled' })).toStrictEqual({ ...WAITING, polls: 2 });
  });

  it('keeps part of a result as a part, and notes what could not be read', () => {
    const part: JobEvent = { type: 'progressed', taskId: 'task', result: PICTURE };
    expect(applied(WAITING, part)).toStrictEqual({ ...WAITING, result: PICTURE, complete: false });
    const unreadable: JobEvent = { type: 'progressed', taskId: undefined, isUnreadable: true };
    expect(applied(WAITING, unreadable)).toStrictEqual({ ...WAITING, unreadable: true });
    expect(applied(WAITING, { type: 'completed', result: PICTURE, at: 3 })).toMatchObject({ complete: true });
    // Nothing is new of it.
    const expired: Job = { ...WAITING, state: 'expired', end: 'expired' };
    expect(applied(expired, { type: 'completed', result: EMPTY_RESULT, at: 3 }).state).toBe('ready');
  });

  it('is told words once, and only where it waits for them', () => {
    const words: JobEvent = { type: 'lyricsWritten', work: { ...SONG.work } };
    expect(applied(WAITING, words)).toBe(WAITING);
    expect(applied({ ...WAITING, lyrics: 'done' }, words).state).toBe('waiting');
  });

  it('counts what failed, and holds each call by itself', () => {
    expect(applied(WAITING, { type: 'retried' })).toStrictEqual({ ...WAITING, attempts: 1 });
    const held = { ...WAITING, held: { asking: 3 } };
    expect(applied(held, { type: 'retried', held: { showing: 8 } })).toStrictEqual({
      ...WAITING,
      attempts: 1,
      held: { asking: 3, showing: 8 },
    });
    expect(applied(held, { type: 'retried' })).toStrictEqual({ ...held, attempts: 1 });
  });

  it('takes the first name of its task, and no other', () => {
    const nameless = applied(SUBMITTING, { type: 'uncertain', deadlineAt: 9 });
    expect(nameless).toStrictEqual({ ...SUBMITTING, state: 'waiting', deadlineAt: 9, uncertain: true });
    expect(applied(nameless, { type: 'progressed' })).toStrictEqual({ ...nameless, uncertain: false });
    const named = applied(nameless, { type: 'progressed', taskId: 'first' });
    expect(named).toStrictEqual({ ...nameless, uncertain: false, taskId: 'first' });
    expect(applied(named, { type: 'progressed', taskId: 'second' })).toStrictEqual(named);
  });
});

describe('to cancel', () => {
  it('takes a request, of which the first counts', () => {
    expect(applied(WAITING, { type: 'cancelled' })).toBe(WAITING);
    const asked = applied(WAITING, { type: 'cancelRequested', by: 'ada' });
    expect(applied(asked, { type: 'cancelRequested', by: 'eve' })).toBe(asked);
    expect(applied(asked, { type: 'cancelled' })).toStrictEqual({
      ...asked,
      state: 'ready',
      end: 'cancelled',
    });
  });

  it('stays so when the result comes before or after its person was told, also in old records', () => {
    const completed: JobEvent = { type: 'completed', result: RAIN, at: 6 };
    expect(applied({ ...JOB, state: 'ready', end: 'cancelled' }, completed).end).toBe('cancelled');
    expect(applied({ ...JOB, state: 'cancelled' }, completed).end).toBe('cancelled');
    expect(applied({ ...JOB, state: 'expired', end: 'expired' }, completed).end).toBe('delivered');
  });

  it('leaves a task that the gateway names late to be asked about, and takes an answer that comes late', () => {
    const cancelled: Job = { ...SUBMITTING, state: 'cancelled', end: 'cancelled' };
    const named: JobEvent = { type: 'submitted', taskId: 'task', deadlineAt: 9, at: 6 };
    expect(applied(cancelled, named)).toStrictEqual({ ...cancelled, taskId: 'task' });
    const answered: JobEvent = { type: 'submitted', result: PICTURE, at: 6 };
    expect(applied(cancelled, answered)).toMatchObject({ state: 'ready', end: 'cancelled', result: PICTURE });
    expect(applied(cancelled, answered).complete).toBe(true);
    expect(
      applied(
        cancelled,
        answered,
        { type: 'closed', end: 'cancelled', at: 7, charge: 'yes' },
        { type: 'revealed' },
      ),
    ).toMatchObject({ state: 'ready', end: 'delivered' });
    // What it knows of its task stays.
    expect(applied({ ...cancelled, taskId: 'task' }, answered).taskId).toBe('task');
    const failed: Job = { ...SUBMITTING, state: 'ready', end: 'failed' };
    expect(applied(failed, answered)).toBe(failed);
  });
});

describe('a job that is delivered', () => {
  const more: JobEvent = { type: 'completed', taskId: 'task', result: PICTURE, at: 9 };

  it('keeps its end when the same comes again, part of it, or what belongs to another task', () => {
    expect(applied(DELIVERED, { type: 'completed', taskId: 'task', result: RAIN, at: 9 })).toBe(DELIVERED);
    expect(applied(DELIVERED, { type: 'progressed', taskId: 'task', result: PICTURE })).toBe(DELIVERED);
    expect(applied(DELIVERED, { ...more, taskId: 'another' })).toBe(DELIVERED);
  });

  it('is told the name of its task all the same', () => {
    const { taskId: _, ...nameless } = DELIVERED;
    expect(applied(nameless, { type: 'completed', taskId: 'task', result: RAIN, at: 9 })).toStrictEqual(
      DELIVERED,
    );
    expect(applied(nameless, { type: 'progressed', taskId: 'task' })).toStrictEqual(DELIVERED);
  });

  it('shows what comes late and holds more', () => {
    const { taskId: _, ...nameless } = DELIVERED;
    const { taskId: _task, ...unnamed } = more;
    for (const [job, event] of [
      [DELIVERED, more],
      [DELIVERED, unnamed],
      [nameless, more],
    ] as const)
      expect(applied(job, event)).toMatchObject({
        state: 'ready',
        end: 'delivered',
        endedAt: 3,
        result: { ...RAIN, ...PICTURE, songs: RAIN.songs },
      });
  });

  it.each<[string, Partial<Result>]>([
    ['another sound', { songs: [{ audioId: 'b', audioUrl: sound('b') }] }],
    ['a picture', { images: [picture('b')] }],
    ['a stem', { stems: [{ name: 'Vocals', url: sound('v') }] }],
    ['a WAV', { wavUrl: 'https://gateway.example/a.wav' }],
    ['a video', { videoUrl: 'https://gateway.example/a.mp4' }],
  ])('holds more with %s, and not with the same of it', (_name, part) => {
    const event: JobEvent = { type: 'completed', result: results(part), at: 9 };
    const grown = applied(DELIVERED, event);
    expect(grown.state).toBe('ready');
    const closed = applied(grown, { type: 'closed', end: 'delivered', at: 10, charge: 'yes' });
    expect(applied(closed, event)).toBe(closed);
    // Where nothing was known before, it is all new.
    const { result: _, ...empty } = DELIVERED;
    expect(applied(empty, event).state).toBe('ready');
  });

  it('holds no more with a take that has no sound, nor with other words', () => {
    const silent = results({ songs: [{ audioId: 'b', title: 'Rain' }], lyrics: [{ text: 'Snow' }] });
    expect(applied(DELIVERED, { type: 'completed', result: silent, at: 9 })).toBe(DELIVERED);
    const { result: _, ...empty } = DELIVERED;
    expect(applied(empty, { type: 'completed', result: EMPTY_RESULT, at: 9 })).toBe(empty);
  });
});

describe('the end', () => {
  const ready: Job = { ...WAITING, state: 'ready', end: 'expired', attempts: 2 };

  it.each([
    ['yes', true, false],
    ['uncertain', true, true],
    ['no', false, false],
  ] as const)('says what was charged: %s', (charge, charged, chargeUncertain) => {
    expect(applied(ready, { type: 'closed', end: 'expired', at: 5, charge })).toStrictEqual({
      ...ready,
      state: 'expired',
      finishedAt: 5,
      attempts: 0,
      charged,
      chargeUncertain,
    });
  });

  it('is opened again by no failure, refusal or deadline', () => {
    const failure = { code: 'rate', sentence: 'Busy.', reference: 'id', taken: 'no' } as const;
    for (const state of ['ready', 'delivered', 'failed', 'expired', 'cancelled'] as const) {
      const ended: Job = { ...DELIVERED, state };
      for (const event of [{ type: 'failed', failure }, { type: 'notTaken' }, { type: 'expired' }] as const)
        expect(applied(ended, event)).toBe(ended);
    }
  });

  it('is left by an answer to a request that was told as lost, and by no other', () => {
    const failure = { code: 'interrupted', sentence: 'Lost.', reference: 'id', taken: 'unknown' } as const;
    const lost: Job = { ...SUBMITTING, state: 'failed', end: 'failed', failure };
    const answer = { type: 'submitted', result: results(PICTURE), at: 9 } as const;
    const { failure: _, ...known } = lost;
    expect(applied(lost, answer)).toStrictEqual({
      ...known,
      state: 'ready',
      end: 'delivered',
      result: results(PICTURE),
      complete: true,
      endedAt: 9,
    });
    expect(applied(lost, { type: 'submitted', taskId: 'task', deadlineAt: 9, at: 9 })).toStrictEqual({
      ...lost,
      taskId: 'task',
    });
    const refused: Job = { ...lost, failure: { ...failure, taken: 'no' } };
    expect(applied(refused, answer)).toBe(refused);
  });

  it('is not told to be lost where the gateway surely did not take it', () => {
    const failure = { code: 'interrupted', sentence: 'Lost.', reference: 'id', taken: 'unknown' } as const;
    const again = applied(SUBMITTING, { type: 'notTaken' });
    expect(applied(again, { type: 'failed', failure })).toBe(again);
    expect(applied(again, { type: 'failed', failure: { ...failure, taken: 'no' } }).state).toBe('ready');
  });

  it('is not told where another one came meanwhile', () => {
    expect(applied(ready, { type: 'closed', end: 'cancelled', at: 5, charge: 'yes' })).toBe(ready);
    const { end: _, ...endless } = ready;
    expect(applied(endless, { type: 'closed', end: undefined, at: 5, charge: 'no' }).state).toBe('failed');
  });
});

describe('two runs that posted', () => {
  it('leave what the second posted to be taken away, where the first is known', () => {
    const shown = applied(WAITING, { type: 'recorded', fields: { posted: { id: 'one' }, shown: 'digest' } });
    const { shown: _, ...stale } = { ...shown, mayHavePosted: true };
    const twice = applied(shown, { type: 'overtaken', posted: { id: 'two' } });
    expect(twice).toStrictEqual({ ...stale, overtaken: [{ id: 'two' }] });
    expect(applied(twice, { type: 'overtaken', posted: { id: 'three' } }).overtaken).toStrictEqual([
      { id: 'two' },
      { id: 'three' },
    ]);
    expect(applied(twice, { type: 'repaired' })).toStrictEqual(stale);
    expect(applied(WAITING, { type: 'repaired' })).toBe(WAITING);
  });

  it('leave the one message that is known, where the first is not', () => {
    expect(applied(WAITING, { type: 'overtaken', posted: { id: 'two' } })).toStrictEqual({
      ...WAITING,
      mayHavePosted: true,
      posted: { id: 'two' },
      overtaken: [],
    });
  });
});

describe('results that come in parts', () => {
  const merged = (...parts: readonly Partial<Result>[]) =>
    applied(WAITING, ...parts.map((part): JobEvent => ({ type: 'progressed', result: results(part) })))
      .result;

  it('replace what is there, and never by nothing', () => {
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

  it('know a take by its id, or by its position where one of the two has none', () => {
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

  it('never give a take without a name what belongs to the one before it', () => {
    const sounds = [{ audioUrl: sound('a') }, { audioUrl: sound('b') }];
    expect(merged({ songs: sounds }, { songs: [{ title: 'one' }, { title: 'two' }] })?.songs).toStrictEqual([
      { title: 'one', audioUrl: sound('a') },
      { title: 'two', audioUrl: sound('b') },
    ]);
  });

  it('keep a take that the newer leaves out only where it has a sound', () => {
    const known = [{ audioId: 'a', audioUrl: sound('a') }, { audioId: 'b' }];
    expect(merged({ songs: known }, { songs: [{ audioId: 'c' }] })?.songs).toStrictEqual([
      { audioId: 'c' },
      { audioId: 'a', audioUrl: sound('a') },
    ]);
    // A take that was found by its id is taken for no other by its position.
    expect(merged({ songs: known }, { songs: [{ audioId: 'b' }, { title: 'new' }] })?.songs).toStrictEqual([
      { audioId: 'b' },
      { title: 'new' },
      { audioId: 'a', audioUrl: sound('a') },
    ]);
  });
});

describe('what could be shown nowhere', () => {
  const undelivered: Job = { ...DELIVERED, undelivered: true, posted: { id: 'one' }, shown: 'digest' };
  const elsewhere = { platform: 'discord', channel: 'other', person: 'ada' };

  it('moves where its person asks for it, and is no one else’s', () => {
    const { undelivered: _, posted: _posted, shown: _shown, ...rest } = undelivered;
    expect(applied(undelivered, { type: 'redirected', address: elsewhere, person: 'ada' })).toStrictEqual({
      ...rest,
      address: elsewhere,
      state: 'ready',
    });
    expect(applied(undelivered, { type: 'redirected', address: elsewhere, person: 'eve' })).toBe(undelivered);
    expect(applied(DELIVERED, { type: 'redirected', address: elsewhere, person: 'ada' })).toBe(DELIVERED);
  });
});

it('what a backup holds may have been posted since, and goes on where it was', () => {
  const failure = {
    code: 'restored',
    sentence: 'I was restored.',
    reference: 'ref',
    taken: 'unknown',
  } as const;
  expect(applied(WAITING, { type: 'restored', failure })).toStrictEqual({
    ...WAITING,
    restored: true,
    mayHavePosted: true,
  });
});

it('what the gateway’s reader found becomes a result, and an empty one holds nothing', () => {
  expect(EMPTY_RESULT).toStrictEqual({ songs: [], lyrics: [], images: [], stems: [] });
  const found = { songs: [], lyrics: [{ text: 'Rain' }], stems: [] };
  expect(fromMusic({ ...found, images: ['https://gateway.example/a.png'] })).toStrictEqual({
    ...found,
    images: [picture('a')],
  });
  const files = { wavUrl: 'https://gateway.example/a.wav', videoUrl: 'https://gateway.example/a.mp4' };
  expect(fromMusic({ ...found, images: [], ...files })).toStrictEqual({ ...found, images: [], ...files });
});
