import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EMPTY_RESULT, type Job, type JobState } from '../../src/core/job.ts';
import type { JobEvent, JobEventType } from '../../src/jobs/events.ts';
import { brokenInvariants, INVARIANTS, type Invariant } from '../../src/jobs/invariants.ts';
import { acceptedJob, TRANSITIONS, transition } from '../../src/jobs/transitions.ts';
import { SONG } from './world.ts';

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
const failure = { code: 'rate', sentence: 'Busy.', reference: 'id', taken: 'no' as const };
const result = { ...EMPTY_RESULT, lyrics: [{ text: 'Rain' }] };
const whole = { ...result, wavUrl: 'https://gateway.example/rain.wav' };

const QUESTION_TO_NEXT = {
  route: 'answer',
  dialect: 'msg',
  request: { model: 'next', turns: [] },
} as const;

/** One event of each type, plus variants with other effects. */
const EVENTS: readonly JobEvent[] = [
  { type: 'recorded', fields: { shown: 'digest' } },
  { type: 'recorded', fields: { undelivered: true } },
  {
    type: 'encoded',
    url: 'https://gateway.example/a.mp3',
    opus: { name: 'a', bytes: 1, contentType: 'audio/ogg' },
  },
  { type: 'publicityKnown', channel: 'c', public: true },
  { type: 'overtaken', posted: { id: 'message' } },
  { type: 'repaired' },
  { type: 'cancelRequested', by: 'ada' },
  { type: 'cancelled' },
  { type: 'prepared', work: SONG.work },
  { type: 'queued', position: 3 },
  { type: 'started', at: 1 },
  { type: 'submitting', work: SONG.work, at: 2 },
  { type: 'submitting', work: SONG.work, at: 2, lyrics: true },
  { type: 'submitted', taskId: 'task', deadlineAt: 9, at: 3 },
  { type: 'submitted', result, at: 3 },
  { type: 'notTaken' },
  { type: 'notTaken', until: 7 },
  { type: 'notTaken', work: QUESTION_TO_NEXT },
  { type: 'uncertain', deadlineAt: 9 },
  { type: 'lyricsWritten', work: SONG.work },
  { type: 'polled' },
  { type: 'polled', unknownSince: 4 },
  { type: 'retried' },
  { type: 'retried', held: { showing: 8 } },
  { type: 'progressed', taskId: 'task', result },
  { type: 'progressed', isUnreadable: true },
  { type: 'completed', taskId: 'task', result, at: 6 },
  { type: 'completed', taskId: 'task', result: whole, at: 6 },
  { type: 'failed', failure },
  { type: 'failed', failure: { ...failure, taken: 'unknown' } },
  { type: 'expired' },
  { type: 'restored', failure },
  { type: 'closed', end: 'delivered', at: 5, charge: 'yes' },
  { type: 'closed', end: 'failed', at: 5, charge: 'no' },
  { type: 'closed', end: 'expired', at: 5, charge: 'no' },
  { type: 'closed', end: 'cancelled', at: 5, charge: 'no' },
  { type: 'revealed' },
  { type: 'redirected', address: { platform: 'discord', channel: 'other', person: 'ada' }, person: 'ada' },
];

const RANK = {
  accepted: 0,
  submitting: 1,
  waiting: 2,
  ready: 3,
  delivered: 4,
  failed: 4,
  expired: 4,
  cancelled: 4,
} as const satisfies Record<JobState, number>;

/** Events that lead back to an earlier state, and the reason. */
const BACK: Partial<Record<JobEventType, string>> = {
  notTaken:
    'the gateway definitely did not accept the request, so it is repeated a few times, or by another model',
  lyricsWritten: 'the song is requested after its lyrics, once',
  completed: 'a late result wins over every other end',
  submitted: 'so does a late response to a request that was cancelled or reported as lost',
  revealed: 'the requester asks for a cancelled result',
  redirected: 'the requester asks for an undelivered result',
};

const REOPENING: readonly JobEventType[] = ['completed', 'submitted', 'revealed', 'redirected'];

const history = fc.array(fc.constantFrom(...EVENTS), { maxLength: 40 });

/** The fields that cells read. Jobs equal in these get the same states. */
const kindOf = ({ state, end, cancelRequestedBy, lyrics, undelivered, result, complete, failure }: Job) =>
  JSON.stringify([
    state,
    end,
    cancelRequestedBy,
    lyrics,
    undelivered,
    result !== undefined,
    complete,
    failure?.taken,
  ]);

/** All state changes reachable by any history, with their events. */
function reachableChanges(): Set<string> {
  const found = new Set<string>();
  const known = new Map([[kindOf(JOB), JOB]]);
  for (const job of known.values()) {
    for (const event of EVENTS) {
      const next = transition(job, event);
      if (next.state !== job.state) found.add(`${job.state} --> ${next.state}: ${event.type}`);
      if (!known.has(kindOf(next))) known.set(kindOf(next), next);
    }
  }
  return found;
}

describe('the table of states and events', () => {
  it('handles every event', () => {
    const known = new Set(Object.values(TRANSITIONS).flatMap((row) => Object.keys(row)));
    expect(known).toEqual(new Set(EVENTS.map(({ type }) => type)));
  });

  it('only leads back for a few events', () => {
    fc.assert(
      fc.property(history, (events) => {
        let job = JOB;
        for (const event of events) {
          const next = transition(job, event);
          if (RANK[next.state] < RANK[job.state]) expect(BACK, event.type).toHaveProperty(event.type);
          job = next;
        }
      }),
    );
  });

  it("leaves an end only for a late result or at the requester's wish", () => {
    fc.assert(
      fc.property(history, (events) => {
        let job = JOB;
        for (const event of events) {
          const next = transition(job, event);
          if (RANK[job.state] === 4 && next.state !== job.state) {
            expect(next.state).toBe('ready');
            const allowed = job.state === 'delivered' ? ['redirected', 'completed'] : REOPENING;
            expect(allowed).toContain(event.type);
          }
          job = next;
        }
      }),
    );
  });

  it('keeps the id, command, person and invocation', () => {
    fc.assert(
      fc.property(history, (events) => {
        const { id, version, command, person, invocation, createdAt } = events.reduce(transition, JOB);
        expect({ id, version, command, person, invocation, createdAt }).toEqual({
          id: JOB.id,
          version: JOB.version,
          command: JOB.command,
          person: JOB.person,
          invocation: JOB.invocation,
          createdAt: JOB.createdAt,
        });
      }),
    );
  });

  it('never loses a result, and delivers the first one unless a later one has more files', () => {
    const other = { ...EMPTY_RESULT, lyrics: [{ text: 'Snow' }] };
    fc.assert(
      fc.property(history, (events) => {
        const job = events.reduce(transition, JOB);
        for (const event of EVENTS) {
          if (job.result && event.type !== 'recorded') expect(transition(job, event).result).toBeDefined();
        }
        if (job.end === 'delivered')
          expect(transition(job, { type: 'completed', result: other, at: 9 }).result).toEqual(job.result);
      }),
    );
  });

  it('reveals complete results, also of old records', () => {
    const cancelled: Job = { ...JOB, state: 'cancelled', end: 'cancelled', result };
    expect(transition(cancelled, { type: 'revealed' }).state).toBe('ready');
    expect(transition({ ...cancelled, complete: false }, { type: 'revealed' }).state).toBe('cancelled');
  });

  it('never mixes up the audio of takes', () => {
    const song = (audioId: string, file: string) => ({
      audioId,
      audioUrl: `https://gateway.example/${file}.mp3`,
    });
    const takes = (...songs: object[]) => ({ ...EMPTY_RESULT, songs });
    const merged = [
      takes(song('a', 'a'), song('b', 'b')),
      takes({ audioId: 'b', title: 'Rain' }, { audioId: 'c', title: 'Snow' }),
    ].reduce(
      (job, result): Job => transition(job, { type: 'progressed', result }),
      transition(transition(JOB, { type: 'submitting', work: SONG.work, at: 1 }), {
        type: 'submitted',
        deadlineAt: 9,
        at: 1,
      }),
    ).result?.songs;
    expect(merged).toEqual([
      { ...song('b', 'b'), title: 'Rain' },
      { audioId: 'c', title: 'Snow' },
      song('a', 'a'),
    ]);
  });

  it('sends paid requests only if nobody requested cancellation', () => {
    const cancelling = transition(JOB, { type: 'cancelRequested', by: 'ada' });
    expect(transition(cancelling, { type: 'submitting', work: SONG.work, at: 1 })).toBe(cancelling);
  });

  it('returns the same job for an event without effect', () => {
    expect(transition(JOB, { type: 'expired' })).toBe(JOB);
    expect(transition(JOB, { type: 'closed', end: 'delivered', at: 1, charge: 'yes' })).toBe(JOB);
  });

  it('matches the diagram in docs/architecture.md', () => {
    const drawn = [
      ...readFileSync('docs/architecture.md', 'utf8').matchAll(/^ {2,}(\w+ --> \w+: .+)$/gm),
    ].flatMap(([, line = '']) => {
      const [path = '', events = ''] = line.split(': ');
      return events.split(', ').map((event) => `${path}: ${event}`);
    });
    expect(new Set(drawn)).toEqual(reachableChanges());
  });
});

describe('the invariants', () => {
  const written = (job: Job, events: readonly JobEvent[]) => events.reduce(transition, job);

  it('hold for every write of one or more events, if paid requests are written first', () => {
    const writes = fc.array(fc.array(fc.constantFrom(...EVENTS), { minLength: 1, maxLength: 4 }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(writes, (all) => {
        let job = JOB;
        for (const events of all) {
          const sent = events.findIndex(({ type }) => type === 'submitting');
          // `claim` writes up to the request.
          const parts = sent < 0 ? [events] : [events.slice(0, sent + 1), events.slice(sent + 1)];
          for (const part of parts) {
            const next = written(job, part);
            expect(brokenInvariants(job, next)).toEqual([]);
            job = next;
          }
        }
      }),
    );
  });

  const ready: Job = { ...JOB, state: 'ready', end: 'delivered', result };
  const BROKEN: Readonly<Record<Invariant, readonly [Job, Job]>> = {
    identity: [JOB, { ...JOB, person: { ...JOB.person, id: 'bob' } }],
    result: [ready, { ...ready, result: undefined }],
    written_ahead: [JOB, { ...JOB, state: 'waiting' }],
    sent_once: [ready, { ...ready, state: 'submitting' }],
    cancelled: [
      { ...JOB, cancelRequestedBy: 'ada' },
      { ...JOB, cancelRequestedBy: 'ada', state: 'submitting' },
    ],
    end: [ready, { ...ready, state: 'expired', charged: true }],
    sentence: [JOB, { ...JOB, state: 'ready', end: 'failed' }],
    charge: [ready, { ...ready, state: 'delivered' }],
  };

  it.each(INVARIANTS)('detect a write that breaks “%s”', (name) => {
    expect(brokenInvariants(...BROKEN[name])).toEqual([name]);
  });
});
