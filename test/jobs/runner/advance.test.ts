import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JobRun } from '../../../src/jobs/runner/run.ts';
import { MediaError } from '../../../src/media/errors.ts';
import { PlatformError } from '../../../src/platforms/platform.ts';
import { StorageError } from '../../../src/storage/storage.ts';
import { gatewayError } from '../scripted-gateway.ts';
import {
  createAdvancing,
  createWorld,
  PICTURE,
  QUESTION,
  SONG,
  songCallback,
  VIDEO,
  type World,
} from '../world.ts';

const MINUTE = 60_000;
let world: World;

beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const isExpired = async (job: string) => (await world.read(job)).state === 'expired';
const labels = () => world.message()?.actions?.map(({ label }) => label);

describe('a song', () => {
  it('is stored, shown as running, requested once, and delivered on the callback', async () => {
    const job = await world.start(SONG);
    expect((await world.read(job)).state).toBe('accepted');
    expect(world.gateway.taken).toEqual([]);

    await world.advance(job);
    expect((await world.read(job)).state).toBe('waiting');
    expect(world.message()?.progress?.stage).toBe('Recording take 1');
    expect(labels()).toEqual(['Cancel']);

    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.platform.shown.size).toBe(1);
    expect(world.message()?.title).toBe('Rain');
    expect(world.message()?.media?.map(({ source }) => source.type)).toEqual(['stored', 'stored', 'stored']);
    expect(world.message()?.media?.map(({ name }) => name)).toEqual([
      'Rain - cover.png',
      'Rain (take 1).mp3',
      'Rain (take 2).mp3',
    ]);
    expect(world.gateway.taken).toHaveLength(1);
  });

  it('shows lyrics, then the first take, in the existing message', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, songCallback('text'));
    await world.advance(job);
    expect(world.message()?.text).toContain('Rain on the roof');
    expect(world.message()?.media ?? []).toEqual([]);

    await world.callback(job, songCallback('first'));
    await world.advance(job);
    expect(world.message()?.media).toHaveLength(1);
    expect(world.message()?.progress).toBeDefined();
    expect(world.platform.shown.size).toBe(1);
  });

  it('updates progress indicators of the platform without writing the record', async () => {
    const updates: (number | undefined)[] = [];
    world.platform.showProgress = async (_address, { stage, startedAt, estimateMs }) => {
      expect(stage).toBe('Recording take 1');
      expect(estimateMs).toBeUndefined();
      updates.push(world.clock.now() - startedAt);
      if (updates.length === 3) throw new PlatformError('unavailable', 'away');
      return 30_000;
    };
    const job = await world.start(SONG);
    await world.advance(job);
    // Due when the slot is released, but not later than the next progress update.
    const { version } = await world.read(job);
    world.clock.advance(30_000);
    expect(await world.advance(job)).toBe(world.clock.now() + 30_000);
    expect(updates.at(-1)).toBe(30_000);
    world.clock.advance(30_000);
    expect(await world.advance(job)).toBeGreaterThan(world.clock.now() + 30_000);
    expect((await world.read(job)).version).toBe(version);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect(updates).toHaveLength(3);
  });

  it('shows an estimate from recent songs', async () => {
    for (const minutes of [1, 2, 9]) {
      const job = await world.start(SONG);
      await world.advance(job);
      world.clock.advance(minutes * MINUTE);
      await world.callback(job, songCallback('complete'));
      await world.advance(job);
    }
    await world.advance(await world.start(SONG));
    expect(world.message()?.progress?.estimateMs).toBe(2 * MINUTE);
  });

  it("accepts a callback before the gateway's response", async () => {
    const job = await world.start(SONG);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.platform.shown.size).toBe(1);
  });

  it('is delivered once, however often the callback arrives', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    for (const stage of ['complete', 'complete', 'first', 'text', 'complete'] as const) {
      await world.callback(job, songCallback(stage));
      await world.advance(job);
    }
    expect(world.platform.history.filter(({ progress }) => progress === undefined)).toHaveLength(1);
  });

  it('is not written again if unchanged', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, songCallback('text'));
    await world.advance(job);
    const written = world.platform.history.length;
    for (let time = 0; time < 3; time += 1) await world.advance(job);
    expect(world.platform.history).toHaveLength(written);
  });

  it('delivers a second take that arrives in a separate callback', async () => {
    const take = (id: string) => ({
      code: 200,
      data: {
        task_id: 'task-1',
        data: [{ id, title: 'Rain', audio_url: `https://gateway.example/${id}.mp3` }],
      },
    });
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, take('one'));
    await world.advance(job);
    expect(world.message()?.media).toHaveLength(1);
    await world.callback(job, take('two'));
    await world.advance(job);
    expect(world.message()?.media?.map(({ name }) => name)).toEqual([
      'Rain (take 1).mp3',
      'Rain (take 2).mp3',
    ]);
    expect(world.platform.shown.size).toBe(1);
    const shown = world.platform.history.length;
    await world.callback(job, { ...take('two'), msg: 'again' });
    await world.callback(job, {
      ...take('three'),
      data: { ...take('three').data, task_id: 'of somebody else' },
    });
    await world.advance(job);
    expect(world.platform.history).toHaveLength(shown);
  });

  it("bases its estimate on the gateway's time, not on that of the chat or the person", async () => {
    const slow = await world.start(SONG);
    await world.advance(slow);
    world.clock.advance(2 * MINUTE);
    await world.callback(slow, songCallback('complete'));
    world.platform.failures.push(new PlatformError('unavailable', 'away', { retryAfterMs: 60 * MINUTE }));
    await world.advance(slow);
    world.clock.advance(61 * MINUTE);
    await world.advance(slow);
    const cancelled = await world.start(SONG);
    await world.advance(cancelled);
    await world.jobs.cancel(cancelled, 'ada');
    await world.advance(cancelled);
    world.clock.advance(2 * MINUTE);
    await world.callback(cancelled, songCallback('complete'));
    await world.advance(cancelled);
    world.clock.advance(48 * 60 * MINUTE);
    await world.jobs.reveal(cancelled);
    await world.advance(cancelled);
    expect(await world.storage.jobs.recentDurations({ route: 'music.generate' }, 9)).toEqual([
      2 * MINUTE,
      2 * MINUTE,
    ]);
  });

  it('does not return from failure to waiting, but delivers a late result', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, {
      code: 501,
      msg: 'failed',
      data: { callbackType: 'error', task_id: 'task-1', data: null },
    });
    await world.advance(job);
    expect((await world.read(job)).state).toBe('failed');
    expect(labels()).toEqual(['Change', 'Again']);

    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.message()?.title).toBe('Rain');
  });

  it('without a callback expires at the deadline, and a late result is still delivered', async () => {
    const job = await world.start(SONG);
    const requestedAt = world.clock.now();
    let deadline = requestedAt;
    while (!(await isExpired(job))) {
      deadline = (await world.advance(job)) ?? deadline;
      world.clock.advance(Math.max(0, deadline - world.clock.now()));
    }
    expect(deadline).toBe(requestedAt + 30 * MINUTE);
    expect((await world.read(job)).state).toBe('expired');
    expect(world.message()?.text).toContain("didn't finish this in time");
    expect(labels()).toEqual(['Again']);

    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
  });

  it('mentions the requester only after more than a minute', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    world.clock.advance(2 * MINUTE);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    expect(world.message()?.notify).toBe('ready');
  });

  it('keeps waiting after an unreadable callback', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    for (const body of [
      '',
      'hello',
      '[]',
      '{"data":{}}',
      'null',
      '{"code":200,"data":[1,2,{"audio_url":7}]}',
    ]) {
      await world.callback(job, body);
      await world.advance(job);
    }
    expect(['waiting', 'failed']).toContain((await world.read(job)).state);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
  });

  it('with only unreadable callbacks logs their keys, and expires at the deadline', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, { hello: 'a secret phrase', parts: [{ left: 'ftp://gateway.example/l' }] });
    await world.advance(job);
    const logged = world.log.lines.map(({ fields }) => JSON.stringify(fields)).join();
    expect(logged).toContain('parts.left: string');
    expect(logged).not.toContain('secret phrase');
    world.clock.advance(31 * MINUTE);
    await world.advance(job);
    expect(world.message()?.text).toContain("a result that I couldn't read");
    expect(world.message()?.footer).toBe(`Reference ${job}`);
    const [kept] = await world.storage.inbox.read(job, 0);
    expect(kept?.body).toContain('a secret phrase');
  });

  it('is delivered if its result is among hundreds of other callbacks', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    const { receive } = world.jobs;
    for (let count = 0; count < 100; count += 1)
      expect(await receive(job, JSON.stringify({ ...songCallback('text'), count }))).toBe('stored');
    expect(await receive(job, JSON.stringify(songCallback('complete')))).toBe('stored');
    for (let count = 100; count < 200; count += 1)
      await receive(job, JSON.stringify({ ...songCallback('first'), count }));
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.message()?.media).toHaveLength(3);
  });

  it('stores a callback for a record written by a newer version', async () => {
    const job = await world.start(SONG);
    const { jobs } = world.dependencies.storage;
    const { read } = jobs;
    jobs.read = async () => {
      throw new StorageError('schema', 'It is of a newer version.');
    };
    expect(await world.jobs.receive(job, JSON.stringify(songCallback('complete')))).toBe('stored');
    jobs.read = read;
    await world.advance(job);
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
  });

  it('names a second take that cannot be fetched', async () => {
    world.unreachable.set('https://gateway.example/two.mp3', new MediaError('type', 'no audio'));
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    expect(world.message()?.media).toHaveLength(2);
    expect(world.message()?.footer).toContain('Rain (take 2)');
  });

  it('is delivered completely once temporarily unavailable files are back', async () => {
    world.unreachable.set(
      'https://gateway.example/two.mp3',
      new MediaError('network', 'reset', { retryable: true }),
    );
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, songCallback('complete'));
    const again = await world.advance(job);
    expect((await world.read(job)).state).toBe('ready');
    expect(again).toBeGreaterThan(world.clock.now());
    world.unreachable.clear();
    await world.advance(job);
    expect(world.message()?.media).toHaveLength(3);
  });
});

describe('a song in custom mode', () => {
  const CUSTOM = {
    title: 'Composing “rain”',
    work: {
      route: 'music.generate',
      request: { customMode: true, instrumental: false, model: 'V5', title: 'Rain', style: 'rain' },
      roughStyle: 'rain',
      lyricsAbout: 'rain',
    },
  } as const;
  const LYRICS = {
    code: 200,
    data: {
      callbackType: 'complete',
      taskId: 'task-2',
      data: [{ title: 'Rain', text: '[Verse]\nDrip', status: 'complete' }],
    },
  };

  it('says what happens: the lyrics are written, then the takes are recorded', async () => {
    const job = await world.start(CUSTOM);
    const stage = () => world.message()?.progress?.stage;
    await world.advance(job);
    expect(stage()).toBe('Writing lyrics');
    await world.callback(job, LYRICS);
    await world.advance(job);
    expect(stage()).toBe('Recording take 1');
    await world.callback(job, songCallback('first', 'task-3'));
    await world.advance(job);
    expect(stage()).toBe('Recording take 2');
    await world.callback(job, songCallback('complete', 'task-3'));
    await world.advance(job);
    expect(world.message()).toMatchObject({ title: 'Rain', media: [{ cover: true }, {}, {}] });
    expect(world.message()?.progress).toBeUndefined();
  });

  it('gets its style polished and its lyrics written first, once each', async () => {
    const job = await world.start(CUSTOM);
    await world.advance(job);
    expect(world.gateway.taken.map(({ route }) => route)).toEqual([
      'music.styleGenerate',
      'music.generateLyrics',
    ]);
    await world.callback(job, LYRICS);
    await world.callback(job, { ...LYRICS, msg: 'again' });
    await world.advance(job);
    expect(world.gateway.taken.map(({ route }) => route).slice(2)).toEqual(['music.generate']);
    expect(world.gateway.taken[2]?.request).toMatchObject({
      style: 'rain, polished',
      prompt: '[Verse]\nDrip',
    });

    await world.callback(job, { ...LYRICS, msg: 'and again' });
    await world.advance(job);
    expect((await world.read(job)).state).toBe('waiting');
    await world.callback(job, songCallback('complete', 'task-3'));
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.gateway.taken).toHaveLength(3);
  });

  it('shows lyrics that arrive late, and offers to sing them', async () => {
    const job = await world.start(CUSTOM);
    await world.advance(job);
    world.clock.advance(11 * MINUTE);
    await world.advance(job);
    expect(await isExpired(job)).toBe(true);
    await world.callback(job, LYRICS);
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.message()?.text).toContain('Drip');
    expect(world.message()?.actions?.map(({ label }) => label)).toEqual(['Sing it', 'Change', 'Again']);
    expect(world.gateway.taken.filter(({ route }) => route === 'music.generate')).toEqual([]);
  });

  it('uses the original style if polishing fails', async () => {
    world.gateway.replies.push(gatewayError('unavailable', { taken: 'unknown' }));
    const job = await world.start(CUSTOM);
    await world.advance(job);
    await world.callback(job, LYRICS);
    await world.advance(job);
    expect(world.gateway.taken.at(-1)?.request).toMatchObject({ style: 'rain' });
  });
});

describe('submission', () => {
  it('is retried while the gateway has definitely not accepted it', async () => {
    world.gateway.replies.push(
      gatewayError('rate', { retryable: true }),
      gatewayError('maintenance', { retryable: true }),
    );
    const job = await world.start(SONG);
    for (let tries = 0; tries < 3; tries++) {
      const next = await world.advance(job);
      world.clock.advance(Math.max(0, (next ?? 0) - world.clock.now()));
    }
    expect((await world.read(job)).state).toBe('waiting');
    expect(world.gateway.taken).toHaveLength(1);
  });

  it('ends with a message, a reference and Again if the gateway refuses', async () => {
    world.gateway.replies.push(gatewayError('credits'));
    const job = await world.start(SONG);
    await world.advance(job);
    const record = await world.read(job);
    expect(record.state).toBe('failed');
    expect(world.message()?.text).toContain('out of credits');
    expect(world.message()?.footer).toContain(record.failure?.reference);
    expect(
      world.log.lines.some(({ fields }) => JSON.stringify(fields).includes(record.failure?.reference ?? '?')),
    ).toBe(true);
  });

  it('waits for the callback if it may have been accepted, and is not repeated', async () => {
    world.gateway.replies.push(gatewayError('timeout', { taken: 'unknown' }));
    const job = await world.start(SONG);
    await world.advance(job);
    expect((await world.read(job)).state).toBe('waiting');
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.gateway.taken).toHaveLength(1);
  });

  it('is sent by only one of two runs, as after an expired lease', async () => {
    const id = await world.start(SONG);
    await Promise.all([world.advance(id), world.advance(id)]);
    await world.advance(id);
    expect(world.gateway.acceptedCount(id, 'music.generate')).toBe(1);
    expect((await world.read(id)).state).toBe('waiting');
    expect(world.platform.shown.size).toBe(1);
  });

  it('pauses for the run that took over, before both repair their messages', async () => {
    const id = await world.start(SONG);
    const results = await Promise.all([world.advance(id), world.advance(id)]);
    expect(results).toContain(world.clock.now() + 1_000);
  });

  it('is not sent by a run that was suspended for longer than its lease', async () => {
    const id = await world.start(SONG);
    const stale = { signal: new AbortController().signal, interrupted: false, isHeld: () => false };
    await expect(createAdvancing(world.dependencies)(id, stale)).rejects.toMatchObject({ code: 'lease' });
    expect(world.gateway.taken).toEqual([]);
  });

  it('of an image that may have been accepted fails with a message, and is not repeated', async () => {
    world.gateway.replies.push(gatewayError('timeout', { taken: 'unknown' }));
    const job = await world.start(PICTURE);
    await world.advance(job);
    expect((await world.read(job)).state).toBe('failed');
    expect(world.message()?.text).toContain("I didn't send it twice");
    expect(world.gateway.taken).toHaveLength(1);
  });

  it('costs nothing before the requester sees the progress', async () => {
    world.platform.failures.push(new PlatformError('unavailable', 'away'));
    const job = await world.start(SONG);
    const next = await world.advance(job);
    expect(next).toBeGreaterThan(world.clock.now());
    expect(world.gateway.taken).toEqual([]);
    await world.advance(job);
    expect(world.gateway.taken).toHaveLength(1);
  });

  it('that could not start within a day fails with a message', async () => {
    const job = await world.start(SONG);
    for (let hours = 0; hours < 25; hours++) {
      world.platform.failures.push(new PlatformError('unavailable', 'away'));
      await world.advance(job);
      world.clock.advance(60 * MINUTE);
      world.platform.failures.splice(0);
    }
    await world.advance(job);
    expect(world.gateway.taken).toEqual([]);
    expect(world.message()?.text).toContain("couldn't start this within a day");
    expect(labels()).toEqual(['Again']);
  });

  it('costs nothing if the bot may not post, and the requester gets the fix in a direct message', async () => {
    const refusal = () =>
      new PlatformError('not-invited', 'not in channel', { advice: 'Invite me with /invite @minstrel.' });
    world.platform.failures.push(refusal(), refusal());
    const job = await world.start(SONG);
    await world.advance(job);
    expect(world.gateway.taken).toEqual([]);
    expect(world.platform.shown.size).toBe(0);
    expect(JSON.stringify(world.platform.privateMessages[0]).match(/\/invite @minstrel/g)).toHaveLength(1);
    expect((await world.read(job)).state).toBe('failed');
  });
});

describe('a video', () => {
  it('is polled until it is finished', async () => {
    world.gateway.polls.push(
      { status: 'pending' },
      gatewayError('unavailable', { retryable: true, taken: 'no' }),
      { status: 'unknown' },
      { status: 'succeeded', videoUrl: 'https://gateway.example/film.mp4' },
    );
    const job = await world.start(VIDEO);
    for (let runs = 0; runs < 12; runs++) {
      const next = await world.advance(job);
      if (next === undefined) break;
      world.clock.advance(Math.max(0, next - world.clock.now()));
    }
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.message()?.media).toHaveLength(1);
  });

  it('that fails at the gateway ends with a message', async () => {
    world.gateway.polls.push({ status: 'failed', failure: { code: 'blocked' } });
    const job = await world.start(VIDEO);
    for (let next = await world.advance(job); next !== undefined; next = await world.advance(job)) {
      world.clock.advance(Math.max(1, next - world.clock.now()));
    }
    expect(world.message()?.text).toContain('content rules');
  });

  it('that was finished between polls is delivered at its deadline', async () => {
    const job = await world.start(VIDEO);
    await world.advance(job);
    world.clock.advance((await world.read(job)).deadlineAt ?? 0);
    world.gateway.polls.push({ status: 'succeeded', videoUrl: 'https://gateway.example/film.mp4' });
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.message()?.media).toHaveLength(1);
  });

  it('is polled once more at its deadline during an outage, and then expires', async () => {
    const job = await world.start(VIDEO);
    await world.advance(job);
    const { deadlineAt = 0 } = await world.read(job);
    world.clock.advance(deadlineAt - world.clock.now());
    await world.advance(job);
    expect((await world.read(job)).state).toBe('expired');
  });

  it('that never ends expires at the deadline', async () => {
    const job = await world.start(VIDEO);
    let runs = 0;
    while ((await world.read(job)).state !== 'expired') {
      const next = await world.advance(job);
      world.clock.advance(Math.max(1, (next ?? 0) - world.clock.now()));
      runs += 1;
    }
    expect(world.message()?.text).toContain("didn't finish this in time");
    expect(runs).toBeLessThan(200);
  });
});

describe('an answer', () => {
  const words = (...texts: string[]) =>
    texts.map((text) => ({ type: 'part' as const, part: { type: 'text' as const, text } }));

  it('is streamed, and complete in the end', async () => {
    world.gateway.streams.push([...words('Be', 'cause.'), { type: 'finish', finish: { reason: 'stop' } }]);
    const job = await world.start(QUESTION);
    await world.advance(job);
    expect(world.platform.history.some(({ text, progress }) => text === 'Be' && progress !== undefined)).toBe(
      true,
    );
    expect(world.message()?.text).toBe('Because.');
    expect(world.platform.shown.size).toBe(1);
  });

  it('that breaks off is kept and marked as incomplete', async () => {
    world.gateway.streams.push([
      ...words('Half an ans'),
      gatewayError('broken-stream', { taken: 'unknown' }),
    ]);
    const job = await world.start(QUESTION);
    await world.advance(job);
    expect(world.message()?.text).toBe('Half an ans');
    expect(world.message()?.footer).toContain('The answer was cut off here. Press Again for a complete one.');
    expect(labels()).toEqual(['Again']);
    expect((await world.read(job)).state).toBe('delivered');
  });

  it('that was interrupted by a crash shows a message after the restart', async () => {
    const job = await world.start(QUESTION);
    world.gateway.crash = () => {
      throw new Error('the process died');
    };
    world.gateway.streams.push(words('Half'));
    await expect(world.advance(job)).rejects.toThrow('died');
    expect((await world.read(job)).state).toBe('submitting');
    await world.advance(job);
    expect(world.message()?.text).toContain('restarted in the middle');
    expect(labels()).toEqual(['Again']);
  });

  it('that was interrupted by a crash keeps the stored text, marked as incomplete', async () => {
    const job = await world.start(QUESTION);
    let events = 0;
    world.gateway.crash = (point) => {
      if (point !== 'in chat') return;
      events += 1;
      // Long enough for the text to be stored.
      world.clock.advance(4_000);
      if (events === 3) throw new Error('the process died');
    };
    world.gateway.streams.push(words('Half ', 'an ans', 'wer'));
    await expect(world.advance(job)).rejects.toThrow('died');
    await world.advance(job);
    expect(world.message()?.text).toBe('Half an ans');
    expect(world.message()?.footer).toContain('The answer was cut off here. Press Again for a complete one.');
  });
});

describe('cancelling', () => {
  it('ends a job that has not begun, free of charge', async () => {
    const job = await world.start(SONG);
    expect(await world.jobs.cancel(job, 'ada')).toBe(true);
    await world.advance(job);
    expect((await world.read(job)).state).toBe('cancelled');
    expect(world.gateway.taken).toEqual([]);
    expect(await world.jobs.cancel(job, 'ada')).toBe(false);
  });

  it('keeps and offers a result that the gateway finishes anyway', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    await world.jobs.cancel(job, 'ada');
    await world.advance(job);
    expect(world.message()?.text).toBe('Cancelled.');
    await world.callback(job, songCallback('complete'));
    await world.advance(job);
    expect(labels()).toEqual(['Show it', 'Again']);
    expect(await world.jobs.reveal(job)).toBe(true);
    await world.advance(job);
    expect(world.message()?.title).toBe('Rain');
  });
});

describe('delivery', () => {
  it('is retried while the platform is unavailable, without losing the result', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, songCallback('complete'));
    for (let hours = 0; hours < 3; hours++) {
      world.platform.failures.push(new PlatformError('unavailable', 'away', { retryAfterMs: 60 * MINUTE }));
      const next = await world.advance(job);
      expect(next).toBeGreaterThanOrEqual(world.clock.now() + 60 * MINUTE);
      world.clock.advance(60 * MINUTE);
    }
    await world.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
    expect(world.message()?.title).toBe('Rain');
  });

  it('knows its message as soon as it is posted, even after a crash', async () => {
    const id = await world.start(SONG);
    const show = world.platform.show.bind(world.platform);
    world.platform.show = async (...shown) => {
      await show(...shown);
      throw new StorageError('unavailable', 'the process died');
    };
    await expect(world.advance(id)).rejects.toThrow('the process died');
    expect((await world.read(id)).posted).toEqual({ id: 'message-1' });
  });

  it.each([
    [60_000, false],
    [60_001, true],
  ])('of a job without a message after %d ms searches for one: %s', async (ms, searches) => {
    const id = await world.start(SONG);
    const mayHavePosted: (boolean | undefined)[] = [];
    const show = world.platform.show.bind(world.platform);
    world.platform.show = async (address, message, options) => {
      mayHavePosted.push(options.mayHavePosted);
      return await show(address, message, options);
    };
    world.clock.advance(ms);
    await world.advance(id);
    expect(mayHavePosted).toEqual([searches]);
    await world.callback(id, songCallback('complete'));
    world.clock.advance(10 * MINUTE);
    await world.advance(id);
    expect(mayHavePosted).toEqual([searches, false]);
  });

  it('falls back to a direct message if the channel is gone', async () => {
    const job = await world.start(SONG);
    await world.advance(job);
    await world.callback(job, songCallback('complete'));
    world.platform.failures.push(new PlatformError('gone', 'channel deleted'));
    await world.advance(job);
    expect(world.platform.privateMessages[0]?.title).toBe('Rain');
    expect((await world.read(job)).state).toBe('delivered');
  });

  it('of a repeated event is one job', async () => {
    const job = await world.start(SONG, { id: 'the same event' });
    const repeated = await world.start(SONG, { id: 'the same event' });
    expect(repeated, 'buttons and log lines refer to the stored job').toBe(job);
    await world.advance(repeated);
    expect(world.gateway.taken).toHaveLength(1);
  });
});

it('events during a write are written next, and none is lost', async () => {
  const job = await world.start(SONG);
  const run = await JobRun.load(job, { storage: world.storage, measure: () => {}, log: world.log });
  const recorded = (shown: string) => run?.apply({ type: 'recorded', fields: { shown } });
  recorded('one');
  const first = run?.save();
  run?.apply({ type: 'recorded', fields: { posted: { ts: '1' } } });
  const second = run?.save();
  run?.apply({ type: 'recorded', fields: { mayHavePosted: true } });
  await Promise.all([first, second]);
  await run?.save();
  expect(await world.read(job)).toMatchObject({ shown: 'one', posted: { ts: '1' }, mayHavePosted: true });
});
