import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StartRequest } from '../../src/core/bot/start-request.ts';
import { gatewayError } from './scripted-gateway.ts';
import { createAdvancing, createWorld, SONG, songCallback, VIDEO, type World } from './world.ts';

/** Tests how callbacks of every kind affect a job that waits for them. */
let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const loggedFields = (sentence: string) =>
  world.log.lines.filter((line) => line.sentence.includes(sentence)).map(({ fields }) => fields);

const failed = (task: string | undefined, code = 501) => ({
  code,
  msg: 'generation failed',
  data: { callbackType: 'error', ...(task === undefined ? {} : { task_id: task }), data: null },
});

async function waiting(request: StartRequest = SONG): Promise<string> {
  const job = await world.start(request);
  await world.advance(job);
  expect((await world.read(job)).state).toBe('waiting');
  return job;
}

async function callBack(job: string, body: object | string): Promise<void> {
  await world.callback(job, body);
  await world.advance(job);
}

describe('the task id in a callback', () => {
  it('is logged if it differs; the URL identifies the job', async () => {
    const job = await waiting();
    await callBack(job, songCallback('text', 'task-1'));
    expect(loggedFields('names a different task')).toEqual([]);
    await callBack(job, songCallback('complete', 'task-of-another'));
    expect(loggedFields('names a different task')).toEqual([
      { job, task: 'task-1', named: 'task-of-another' },
    ]);
    expect((await world.read(job)).state).toBe('delivered');
  });

  it('is stored from a callback about progress', async () => {
    const job = await waiting();
    const { taskId: _, ...withoutTaskId } = await world.read(job);
    await world.storage.jobs.replace({ ...withoutTaskId, uncertain: true });
    await callBack(job, { code: 200, data: { taskId: 'task-9', status: 'PENDING' } });
    expect(await world.read(job)).toMatchObject({ state: 'waiting', taskId: 'task-9', uncertain: false });
    expect(loggedFields('names a different task')).toEqual([]);
  });
});

describe('a failure callback', () => {
  it('fails the job and logs the code', async () => {
    const job = await waiting();
    await callBack(job, failed('task-1'));
    const { state, failure } = await world.read(job);
    expect({ state, code: failure?.code, taken: failure?.taken }).toEqual({
      state: 'failed',
      code: 'not-made',
      taken: 'no',
    });
    expect(loggedFields('reported a failure')).toEqual([
      { job, reference: failure?.reference, code: 'not-made', gatewayCode: '501' },
    ]);
    expect(loggedFields('Could not parse a callback')).toEqual([]);
  });

  it('fails the job if it names no task, but not if it names a different one', async () => {
    const [first, second] = [await waiting(), await waiting()];
    await callBack(first, failed(undefined));
    expect((await world.read(first)).state).toBe('failed');
    await callBack(second, failed('task-of-another'));
    expect((await world.read(second)).state).toBe('waiting');
  });

  it('fails a job whose own task id is unknown', async () => {
    const job = await waiting();
    const { taskId: _, ...withoutTaskId } = await world.read(job);
    await world.storage.jobs.replace(withoutTaskId);
    await callBack(job, failed('task-1'));
    expect((await world.read(job)).state).toBe('failed');
  });
});

it('an unreadable callback is stored, and only its keys are logged', async () => {
  const job = await waiting();
  const body = JSON.stringify({ code: 200, data: { surprise: 'a secret' } });
  await callBack(job, body);
  expect(loggedFields('Could not parse a callback; its body is stored')).toEqual([
    { job, bytes: body.length },
  ]);
  expect(JSON.stringify(loggedFields('Keys of a callback'))).toContain('surprise');
  expect(JSON.stringify(world.log.lines)).not.toContain('a secret');
  expect(await world.read(job)).toMatchObject({ state: 'waiting', unreadable: true, inboxRead: 1 });
});

describe('the lyrics of a song', () => {
  const audio = { name: 'tune.mp3', bytes: 1_000, contentType: 'audio/mpeg', seconds: 60 };
  const lyrics = (...texts: string[]) => ({
    code: 200,
    data: {
      callbackType: 'complete',
      taskId: 'task-1',
      data: texts.map((text) => ({ title: 'Rain', text, status: 'complete' })),
    },
  });
  const COVER: StartRequest = {
    title: 'Covering “rain”',
    work: {
      route: 'music.uploadCover',
      audio,
      request: { customMode: true, instrumental: false, model: 'V5', title: 'Rain', style: 'lofi' },
      lyricsAbout: 'rain',
    },
  };

  it('are also used for a cover, and a repeated callback requests nothing', async () => {
    const job = await waiting(COVER);
    expect(world.gateway.taken.map(({ route }) => route)).toEqual(['music.generateLyrics']);
    await callBack(job, lyrics('[Verse]\nDrip'));
    await callBack(job, lyrics('[Verse]\nDrop'));
    expect(world.gateway.taken.map(({ route }) => route)).toEqual([
      'music.generateLyrics',
      'music.uploadCover',
    ]);
    expect(world.gateway.taken[1]?.request).toMatchObject({ prompt: '[Verse]\nDrip', style: 'lofi' });
  });

  it('end the song if the callback contains none, and its keys are logged', async () => {
    const job = await waiting(COVER);
    await callBack(job, lyrics());
    expect(await world.read(job)).toMatchObject({ state: 'failed', failure: { code: 'nonsense' } });
    expect(loggedFields('its body is stored')).toHaveLength(1);
    expect(world.gateway.taken).toHaveLength(1);
  });

  it('are ignored by a song that requested none', async () => {
    const job = await waiting();
    await callBack(job, lyrics('[Verse]\nDrip'));
    expect(world.gateway.taken).toHaveLength(1);
  });
});

describe('a run after a failed or killed one', () => {
  it('records that unknown messages may exist, until it shows one itself', async () => {
    const job = await waiting();
    await expect(world.read(job)).resolves.not.toHaveProperty('mayHavePosted', true);
    const show = world.platform.show.bind(world.platform);
    const mayHavePosted: (boolean | undefined)[] = [];
    world.platform.show = (address, message, options) => {
      mayHavePosted.push(options.mayHavePosted);
      return show(address, message, options);
    };
    const { read } = world.dependencies.storage.jobs;
    world.dependencies.storage.jobs.read = () => Promise.reject(new Error('the process died'));
    await expect(world.advance(job)).rejects.toThrow('died');
    world.dependencies.storage.jobs.read = read;
    await callBack(job, songCallback('complete'));
    expect(mayHavePosted).toEqual([true]);
    expect((await world.read(job)).mayHavePosted).toBe(false);
  });
});

describe('a run', () => {
  it('of an unknown job does nothing', async () => {
    expect(await world.advance('unknown')).toBeUndefined();
  });

  it('that has to stop starts nothing, and is due immediately', async () => {
    const job = await world.start(SONG);
    const stopped = { signal: AbortSignal.abort(), interrupted: false, isHeld: () => true };
    expect(await createAdvancing(world.dependencies)(job, stopped)).toBe(world.clock.now());
    expect(world.gateway.taken).toEqual([]);
  });

  it('after a killed one deletes its messages if another run ended the job', async () => {
    const job = await waiting();
    await callBack(job, songCallback('complete'));
    const retracted: object[] = [];
    world.platform.retract = async (_address, { stray }) => void retracted.push(stray);
    await world.advance(job);
    expect(retracted).toEqual([]);
    const after = { signal: new AbortController().signal, interrupted: true, isHeld: () => true };
    expect(await createAdvancing(world.dependencies)(job, after)).toBeUndefined();
    expect(retracted).toEqual([{}]);
    expect(await world.read(job)).toMatchObject({ state: 'delivered' });
  });
});

describe('a task is polled', () => {
  const polledTasks = (): string[] => {
    const tasks: string[] = [];
    world.gateway.media.queryVideo = async (task) => {
      tasks.push(task);
      return { status: 'running' };
    };
    return tasks;
  };
  async function advancePastDeadline(job: string): Promise<void> {
    for (let time = 0; time < 3; time += 1) {
      await world.advance(job);
      world.clock.advance(20 * 60_000);
    }
    await world.advance(job);
    expect((await world.read(job)).state).toBe('expired');
  }

  it('never if the gateway calls back', async () => {
    const tasks = polledTasks();
    await advancePastDeadline(await waiting());
    expect(tasks).toEqual([]);
  });

  it('never without a task id', async () => {
    const job = await waiting(VIDEO);
    const { taskId: _, ...withoutTaskId } = await world.read(job);
    await world.storage.jobs.replace(withoutTaskId);
    const tasks = polledTasks();
    await advancePastDeadline(job);
    expect(tasks).toEqual([]);
  });

  it('after a first pause, whatever the outcome of the submission', async () => {
    const tasks = polledTasks();
    world.gateway.replies.push(gatewayError('unavailable', { retryable: true }));
    const job = await world.start(VIDEO);
    world.clock.advance(Math.max(0, ((await world.advance(job)) ?? 0) - world.clock.now()));
    const first = (await world.advance(job)) ?? 0;
    expect(tasks).toEqual([]);
    expect(first).toBeGreaterThan(world.clock.now());
    world.clock.advance(first - world.clock.now());
    await world.advance(job);
    expect(tasks).toEqual(['task-1']);
  });
});
