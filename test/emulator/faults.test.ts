import { expect, test } from 'vitest';
import { UnknownFaultError } from './faults.ts';
import { startFaultyEmulator } from './faulty.ts';
import { get, post, runEmulator, runReceiver, songFields } from './harness.ts';

const chatPath = '/chat/v1/chat/completions';
const chatBody = { model: 'chat-small', messages: [{ role: 'user', content: 'hello' }] };
const dead = { url: 'http://127.0.0.1:9/never' };

async function ask(fault: string) {
  const emulator = await runEmulator();
  return post(emulator, chatPath, chatBody, { 'x-emulator-fault': fault });
}

test('a status has its retry-after and the dialect of the route', async () => {
  const answer = await ask('status=429:7');
  expect(answer.status).toBe(429);
  expect(answer.headers.get('retry-after')).toBe('7');
  expect(answer.body.error.type).toBe('rate_limit_error');
});

test.each([
  ['status=429:Sun, 06 Nov 1994 08:49:37 GMT', 'status=429:30'],
  ['status=429:Sun Nov  6 08:49:37 1994', 'status=429:30'],
  ['status=429:1994-11-06T08:49:37Z', 'status=429:30'],
  ['status=503:', 'status=429:30'],
  ['body-code=', 'body-code=430'],
  ['body-code=many', 'body-code=430'],
  ['slow=', 'slow=2'],
  ['callback=late:soon', 'callback=late:30'],
])('%s is refused with a valid example', async (fault, example) => {
  const answer = await ask(fault);
  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body)).toContain(example);
});

test('a status is the HTTP status even if the shape has codes in bodies', async () => {
  const emulator = await runEmulator();
  for (const status of [400, 500, 503]) {
    const answer = await post(emulator, '/music/generate', songFields(dead), {
      'x-emulator-fault': `status=${status}`,
    });
    expect(answer.status).toBe(status);
    expect(answer.body.code).toBe(status);
  }
});

test('a body code has HTTP 200, and nothing is accepted', async () => {
  const emulator = await runEmulator();
  const receiver = await runReceiver();
  const answer = await post(emulator, '/music/generate', songFields(receiver), {
    'x-emulator-fault': 'body-code=430',
  });
  expect(answer).toMatchObject({ status: 200, body: { code: 430, data: null } });
  await emulator.settled();
  expect(receiver.bodies).toEqual([]);
});

test('a nonsense response is not JSON, and an empty-202 response is empty', async () => {
  expect((await ask('nonsense')).body).toContain('<html>');
  expect(await ask('empty-202')).toMatchObject({ status: 202, body: '' });
});

test('a reset ends the connection', async () => {
  await expect(ask('reset')).rejects.toThrow('fetch failed');
});

test('a hanging request is never answered', async () => {
  const emulator = await runEmulator();
  const waiting = fetch(emulator.url + chatPath, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${emulator.apiKey}`,
      'content-type': 'application/json',
      'x-emulator-fault': 'hang',
    },
    body: JSON.stringify(chatBody),
    signal: AbortSignal.timeout(300),
  });
  await expect(waiting).rejects.toThrow(/timeout|aborted/i);
});

test('slow takes real time', async () => {
  const started = performance.now();
  expect((await ask('slow=0.2')).status).toBe(200);
  expect(performance.now() - started).toBeGreaterThan(190);
});

test.each(['lost=reset', 'lost=error'])(
  'with %s the task is accepted although its response is lost',
  async (fault) => {
    const emulator = await runEmulator();
    const receiver = await runReceiver();
    const sent = post(
      emulator,
      '/music/generate-lyrics',
      { prompt: 'owls', callBackUrl: receiver.url },
      { 'x-emulator-fault': fault },
    );
    if (fault === 'lost=reset') await expect(sent).rejects.toThrow();
    else expect((await sent).status).toBe(502);
    await expect.poll(() => receiver.bodies.length).toBe(1);
  },
);

test('a rule applies its fault to matching requests, up to its count', async () => {
  const emulator = await runEmulator({ faults: [{ fault: 'status=503', path: 'completions', times: 2 }] });
  const statuses: number[] = [];
  for (let count = 0; count < 3; count++) {
    statuses.push(
      (await get(emulator, '/chat/v1/models')).status,
      (await post(emulator, chatPath, chatBody)).status,
    );
  }
  expect(statuses).toEqual([200, 503, 200, 503, 200, 200]);
  emulator.addFault({ fault: 'empty-202' });
  expect((await post(emulator, chatPath, chatBody)).status).toBe(202);
  emulator.clearFaults();
  expect((await post(emulator, chatPath, chatBody)).status).toBe(200);
});

test('a rule for videos waits for a video', async () => {
  const emulator = await runEmulator({ faults: [{ fault: 'video=FAILED', times: 1 }] });
  expect((await post(emulator, chatPath, chatBody)).status).toBe(200);
  const video = { model: 'reel-standard', input: { prompt: 'x' }, parameters: { duration: 2 } };
  const { body } = await post(emulator, '/media/v1/services/aigc/video-generation/video-synthesis', video);
  await emulator.settled();
  expect((await get(emulator, `/v1/media/tasks/${body.output.task_id}`)).body.output.task_status).toBe(
    'FAILED',
  );
});

test('an invalid fault is refused', async () => {
  expect(await ask('status=teapot')).toMatchObject({ status: 400 });
  expect(await ask('callback=sideways')).toMatchObject({ status: 400 });
  expect(await ask('callback=late:soon')).toMatchObject({ status: 400 });
  await expect(startFaultyEmulator({ faults: [{ fault: 'explode' }] })).rejects.toBeInstanceOf(
    UnknownFaultError,
  );
});

test('requests are recorded with headers, body and status', async () => {
  const emulator = await runEmulator();
  await post(emulator, chatPath, chatBody);
  await post(emulator, chatPath, chatBody, { authorization: 'Bearer wrong' });
  await expect.poll(() => emulator.requests.map(({ status }) => status)).toEqual([200, 401]);
  expect(emulator.requests[0]).toMatchObject({ method: 'POST', url: chatPath, body: chatBody });
});
