import { expect, it } from 'vitest';
import { oneSong, songJob } from '../storage/jobs.ts';
import type { Ask, ShownMessage } from './people.ts';
import { isGood, judge } from './verdict.ts';

/** Tests that the checks of a chaos run find failures. */
const JOB = '0123456789abcdef0123';

const ask = (fields: Partial<Ask> = {}): Ask => ({
  mark: 'chaos-1-',
  what: 'song',
  on: 'discord',
  channel: 0,
  cancels: false,
  acknowledged: () => true,
  answeredWithoutJob: () => false,
  ...fields,
});
const job = (state: 'delivered' | 'failed' | 'waiting' = 'delivered') =>
  songJob({
    id: JOB,
    state,
    result: oneSong('Rain'),
    work: {
      route: 'music.generate',
      request: { model: 'V5', prompt: 'chaos-1- rain', customMode: false, instrumental: false },
    },
  });
const end = (fields: Partial<ShownMessage> = {}): ShownMessage => ({
  on: 'discord',
  where: 'channel',
  open: [],
  ends: [JOB],
  results: [JOB],
  isProgress: false,
  files: ['one.mp3', 'two.mp3'],
  text: 'Rain',
  ...fields,
});
const verdictOn = (evidence: Partial<Parameters<typeof judge>[0]>) =>
  judge({ asks: [ask()], jobs: [job()], shown: [end()], taken: new Map(), callbacks: [], ...evidence });

it('a result shown once counts as delivered', () => {
  expect(verdictOn({})).toMatchObject({ accepted: 1, delivered: 1, explained: 0 });
  expect(isGood(verdictOn({}))).toBe(true);
});

it('a sentence is enough without a result or a job', () => {
  expect(verdictOn({ jobs: [job('failed')] })).toMatchObject({ accepted: 1, delivered: 0, explained: 1 });
  const declined = [ask({ answeredWithoutJob: () => true })];
  expect(verdictOn({ asks: declined, jobs: [], shown: [] })).toMatchObject({ accepted: 1, explained: 1 });
});

it('a request that was never acknowledged was not accepted', () => {
  const unheard = [ask({ acknowledged: () => false })];
  const verdict = verdictOn({ asks: unheard, jobs: [], shown: [] });
  expect(verdict).toMatchObject({ requested: 1, accepted: 0 });
  expect(isGood(verdict)).toBe(true);
});

it.each([
  ['a job that was acknowledged but not stored', { jobs: [], shown: [] }],
  ['a job that was stored but not shown', { shown: [] }],
  ['a job that is still running', { shown: [end({ ends: [], open: [JOB], files: [] })] }],
  [
    'a job that ended but is still running in another message',
    { shown: [end(), end({ ends: [], open: [JOB] })] },
  ],
])('%s is lost', (_what, evidence) => {
  const verdict = verdictOn(evidence);
  expect(verdict.lost).toHaveLength(1);
  expect(isGood(verdict)).toBe(false);
});

/** A callback of the emulator for the job. */
const called = (audioUrl: string, status = 200, callbackType = 'complete') => ({
  path: `/callbacks/music/${JOB}/signature`,
  body: JSON.stringify({ code: 200, data: { callbackType, data: [{ audio_url: audioUrl }] } }),
  status,
});
const URL_OF_SONG = 'https://files.example/one.mp3';

it('a result that was received but replaced by a sentence is lost', () => {
  const evidence = { jobs: [job('failed')], shown: [end({ results: [], files: [] })] };
  const kept = verdictOn({ ...evidence, callbacks: [called(URL_OF_SONG)] });
  expect(kept.lost).toHaveLength(1);
  expect(isGood(kept)).toBe(false);
  for (const callback of [
    called(URL_OF_SONG, 503),
    called('', 200),
    called(URL_OF_SONG, 200, 'first'),
    { ...called(URL_OF_SONG), body: '<html>' },
  ])
    expect(verdictOn({ ...evidence, callbacks: [callback] }).lost, callback.body).toEqual([]);
  expect(verdictOn({ callbacks: [called(URL_OF_SONG)] }).lost).toEqual([]);
  const withoutSong = { shown: [end({ files: [] })], callbacks: [called(URL_OF_SONG)] };
  expect(verdictOn(withoutSong).lost).toHaveLength(1);
});

it('finds a message that stays in progress, whatever its job', () => {
  const thinking = end({ ends: [], results: [], files: [], text: 'Thinking', isProgress: true });
  const verdict = verdictOn({ shown: [end(), thinking] });
  expect(verdict.inProgress).toHaveLength(1);
  expect(isGood(verdict)).toBe(false);
});

it.each([
  ['two messages', { shown: [end(), end({ where: 'elsewhere', files: [] })] }],
  ['two jobs', { jobs: [job(), job()] }],
  ['the same file', { shown: [end({ files: ['one.mp3', 'one.mp3'] })] }],
])('%s are delivered twice', (_what, evidence) => {
  expect(verdictOn(evidence).deliveredTwice.length).toBeGreaterThan(0);
});

it('reports work that the gateway accepted twice', () => {
  const taken = new Map([
    ['/music/generate chaos-1-', 2],
    ['/music/generate chaos-2-', 1],
  ]);
  expect(verdictOn({ taken }).submittedTwice).toEqual(['/music/generate chaos-1-: 2 times']);
});
