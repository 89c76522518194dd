import { expect, test } from 'vitest';
import { makeSong, post, runEmulator, runReceiver, shareEmulator, songFields } from './harness.ts';
import { SHAPES, type ShapeName } from './shapes.ts';

const sharedEmulator = shareEmulator();
// Long enough for a slow machine, short enough for a test.
const impatientEmulator = shareEmulator({ callbackTimeoutSeconds: 1 });

const songPath = '/music/generate';
// biome-ignore lint/suspicious/noExplicitAny: callbacks of four shapes, checked member by member
type Body = any;

async function generate(fault: string | null, ...statuses: Parameters<typeof runReceiver>) {
  const emulator = await (statuses.includes('hang') ? impatientEmulator() : sharedEmulator());
  const receiver = await runReceiver(...statuses);
  const headers: Record<string, string> = fault === null ? {} : { 'x-emulator-fault': fault };
  const answer = await post(emulator, songPath, songFields(receiver), headers);
  const atAnswer = receiver.bodies.length;
  await emulator.settled();
  const stages = receiver.bodies.map((body) =>
    body.startsWith('{') ? JSON.parse(body).data.callbackType : 'nonsense',
  );
  return { emulator, receiver, taskId: answer.body.data.taskId, atAnswer, stages };
}

test('a song is reported in stages: its lyrics, the first take, then all takes', async () => {
  const { receiver, stages, taskId } = await generate(null);
  expect(stages).toEqual(['text', 'first', 'complete']);
  const [text, first, complete] = receiver.json() as Body[];
  expect(text.data.data[0]).toMatchObject({ audio_url: '', prompt: expect.stringContaining('[Verse]') });
  expect(first.data.data.map((item: Body) => item.audio_url !== '')).toEqual([true, false]);
  expect(complete.data.data.every((item: Body) => item.audio_url.startsWith('http'))).toBe(true);
  expect(new Set([text, first, complete].map((body) => body.data.task_id))).toEqual(new Set([taskId]));
});

test.each([
  ['refused', 500],
  ['reset', 'reset'],
  ['never answered', 'hang'],
] as const)('a callback that is %s is sent again', async (_, status) => {
  const { emulator, receiver, stages } = await generate(null, status, status);
  expect(stages).toEqual(['text', 'text', 'text', 'first', 'complete']);
  expect(emulator.callbacks.at(-3)).toMatchObject({ attempts: 3, outcome: 'delivered' });
  expect(receiver.bodies[0]).toBe(receiver.bodies[2]);
});

test('after three retries a callback is dropped, and the task is never complete', async () => {
  const { emulator, receiver, stages, taskId } = await generate(
    null,
    ...Array.from({ length: 12 }, () => 503),
  );
  expect(stages).toHaveLength(12);
  expect(emulator.callbacks.at(-1)).toMatchObject({ attempts: 4, outcome: 'given up' });
  const cover = await post(emulator, '/music/generate-cover', { taskId, callBackUrl: receiver.url });
  expect(cover.body).toMatchObject({ code: 400, msg: expect.stringContaining('callbacks was accepted') });
});

test.each([
  ['callback=complete-only', ['complete']],
  ['callback=duplicate', ['text', 'text', 'first', 'first', 'complete', 'complete', 'complete']],
  ['callback=out-of-order', ['complete', 'first', 'text']],
  ['callback=none', []],
  ['callback=nonsense', ['nonsense']],
  ['callback=fail', ['error']],
  ['callback=staged', ['text', 'first', 'complete']],
])('%s', async (fault, expected) => {
  expect((await generate(fault)).stages).toEqual(expected);
});

test('an early callback arrives before the response to the submission', async () => {
  const { atAnswer, stages } = await generate('callback=early');
  expect(stages).toEqual(['complete']);
  expect(atAnswer).toBe(1);
});

test('a failure has the requested code, and the task cannot be used', async () => {
  const { emulator, receiver, taskId } = await generate('callback=fail:413');
  expect(receiver.json()[0]).toMatchObject({
    code: 413,
    data: { callbackType: 'error', task_id: taskId, data: null },
  });
  const cover = await post(emulator, '/music/generate-cover', { taskId, callBackUrl: receiver.url });
  expect(cover.body.msg).toContain('failed');
});

test('a late callback delays the result', async () => {
  const started = performance.now();
  expect((await generate('callback=late:0.3')).stages).toEqual(['text', 'first', 'complete']);
  expect(performance.now() - started).toBeGreaterThan(290);
});

test('a foreign callback has another task’s ID', async () => {
  const { receiver, taskId } = await generate('callback=foreign');
  const [body] = receiver.json() as Body[];
  expect(body.data.task_id).not.toBe(taskId);
});

test('closing ends every task and callback', async () => {
  const emulator = await runEmulator({ speed: 1 });
  const receiver = await runReceiver();
  await post(emulator, songPath, songFields(receiver));
  await emulator.close();
  await emulator.settled();
  expect(receiver.bodies).toEqual([]);
});

/** The form of each shape where the contract shows none. */
const expected: Record<
  ShapeName,
  { accepted: (id: string) => object; song: (id: string) => object; failure: (id: string) => object }
> = {
  sunoapi: {
    accepted: (taskId) => ({ code: 200, msg: 'success', data: { taskId } }),
    song: (task_id) => ({
      code: 200,
      data: { callbackType: 'complete', task_id, data: [{ audio_url: expect.any(String) }, {}] },
    }),
    failure: (task_id) => ({ code: 501, data: { callbackType: 'error', task_id, data: null } }),
  },
  flat: {
    accepted: (taskId) => ({ code: 200, taskId }),
    song: (taskId) => ({ callbackType: 'complete', taskId, data: [{ audioUrl: expect.any(String) }, {}] }),
    failure: (taskId) => ({ code: 501, callbackType: 'error', taskId }),
  },
  bare: {
    accepted: (task_id) => ({ task_id }),
    song: (task_id) => ({ task_id, status: 'complete', songs: [{ audio_url: expect.any(String) }, {}] }),
    failure: (task_id) => ({ task_id, status: 'error', error: expect.any(String) }),
  },
  nested: {
    accepted: (taskId) => ({ data: { task: { taskId } } }),
    song: (taskId) => ({
      data: { taskId, status: 'SUCCESS', response: { sunoData: [{ audioUrl: expect.any(String) }, {}] } },
    }),
    failure: (taskId) => ({ data: { taskId, status: 'FAILED', errorCode: 501, response: null } }),
  },
};

test.each(Object.keys(expected) as ShapeName[])(
  'the shape %s fills the gaps of the contract, and changes nothing else',
  async (shape) => {
    let nextId = 0;
    const emulator = await runEmulator({ shape: SHAPES[shape], randomId: () => `id-${++nextId}` });
    const receiver = await runReceiver();
    const last = (): Body => receiver.json().at(-1);
    const submit = async (path: string, fields: object, fault = '') => {
      const { body } = await post(
        emulator,
        path,
        { callBackUrl: receiver.url, ...fields },
        { 'x-emulator-fault': fault },
      );
      await emulator.settled();
      return body;
    };
    const accepted = await submit(songPath, songFields(receiver));
    const taskId = 'id1';
    expect(accepted).toMatchObject(expected[shape].accepted(taskId));
    expect(last()).toMatchObject(expected[shape].song(taskId));
    const audioId = JSON.stringify(last()).match(/"id":"([^"]+)"/)?.[1];

    await submit('/music/generate-cover', { taskId });
    expect(last().data.images).toHaveLength(2);

    await submit('/music/vocal-removal', { taskId, audioId });
    const text = receiver.bodies.at(-1) ?? '';
    expect(text).toMatch(
      shape === 'bare'
        ? /"vocal_url":"http.*"instrumental_url":"http/
        : /"vocalUrl":"http.*"instrumentalUrl":"http/,
    );

    const { body: aligned } = await post(emulator, '/music/timestamped-lyrics', { taskId, audioId });
    expect(aligned.data.alignedWords[0]).toMatchObject({
      startS: expect.any(Number),
      endS: expect.any(Number),
    });

    await submit('/music/generate-lyrics', { prompt: 'owls' });
    expect(receiver.bodies.at(-1)).toMatch(/"title":".*"text":"/);

    const failed = await submit(songPath, songFields(receiver), 'callback=fail');
    const failedId = JSON.stringify(failed).match(/"task_?[iI]d":"([^"]+)"/)?.[1] ?? '';
    expect(last()).toMatchObject(expected[shape].failure(failedId));

    const refusal = await post(emulator, songPath, {});
    expect(refusal.status).toBe(shape === 'sunoapi' ? 200 : 400);
    expect(JSON.stringify(refusal.body)).toContain('customMode');
  },
);

test('songs of two parallel requests stay in their tasks', async () => {
  const emulator = await sharedEmulator();
  const receiver = await runReceiver();
  const [left, right] = await Promise.all([
    post(emulator, songPath, songFields(receiver, { prompt: 'owls' })),
    post(emulator, songPath, songFields(receiver, { prompt: 'bees' })),
  ]);
  await emulator.settled();
  for (const [answer, title] of [
    [left, 'Owls'],
    [right, 'Bees'],
  ] as const) {
    const own = (receiver.json() as Body[]).filter((body) => body.data.task_id === answer.body.data.taskId);
    expect(own.map((body) => body.data.callbackType)).toEqual(['text', 'first', 'complete']);
    expect(own.flatMap((body) => body.data.data.map((item: Body) => item.title))).toEqual(
      Array(6).fill(title),
    );
  }
  const song = await makeSong(emulator, receiver);
  expect(song.items).toHaveLength(2);
});
