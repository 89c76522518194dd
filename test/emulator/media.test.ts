import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/server.ts';
import { drawScene, planScene } from '../../src/emulator/studio/painter/scene.ts';
import { openStudio } from '../../src/emulator/studio/studio.ts';
import { fetchBytes, get, post, runEmulator, shareEmulator } from './harness.ts';

const sharedEmulator = shareEmulator();
/** For tests that read files or requests. */
const realEmulator = shareEmulator({ studio: openStudio() });

const paths = [
  ['/v1/media/services/aigc/video-generation/video-synthesis', '/v1/media/tasks/'],
  ['/media/v1/services/aigc/video-generation/video-synthesis', '/media/v1/tasks/'],
] as const;
const [create, query] = paths[0];
const imagePath = '/v1/media/services/aigc/multimodal-generation/generation';

function imageBody(text: string, parameters: Record<string, unknown> = { size: '320*240' }) {
  return { model: 'canvas-plus', input: { messages: [{ role: 'user', content: [{ text }] }] }, parameters };
}

async function draw(emulator: Emulator, text: string, parameters?: Record<string, unknown>) {
  const { body } = await post(emulator, imagePath, imageBody(text, parameters));
  const url: string = body.output.choices[0].message.content[0].image;
  return { body, url, picture: PNG.sync.read(Buffer.from(await fetchBytes(url))) };
}

test('an image has the requested size and depends only on the prompt', async () => {
  const emulator = await realEmulator();
  const boat = await draw(emulator, 'a boat on the sea', { size: '300*500' });
  expect([boat.picture.width, boat.picture.height]).toEqual([300, 500]);
  expect(boat.body.usage).toEqual({ width: 300, height: 500, image_count: 1 });
  const again = await draw(emulator, 'a boat on the sea', { size: '300*500' });
  const other = await draw(emulator, 'a robot in a neon city', { size: '300*500' });
  const without = await draw(emulator, 'a boat on the sea', { size: '300*500', negative_prompt: 'boat' });
  expect(again.url).toBe(boat.url);
  expect(new Set([boat.url, other.url, without.url]).size).toBe(3);
  expect(colours(boat.picture)).toBeGreaterThan(200);
});

function colours(picture: PNG): number {
  const colourSet = new Set<number>();
  for (let at = 0; at < picture.data.length; at += 4) colourSet.add(picture.data.readUInt32BE(at) >>> 8);
  return colourSet.size;
}

test('an image has a signature only in its corner', async () => {
  const { picture } = await draw(await realEmulator(), 'a boat on the sea', { size: '500*300' });
  const { pixels } = drawScene(planScene('a boat on the sea', ''), 500, 300);
  const signed = Array.from({ length: 500 * 300 }, (_, at) => at).filter((at) =>
    [0, 1, 2].some((channel) => picture.data[4 * at + channel] !== pixels[4 * at + channel]),
  );
  expect(signed.length).toBeGreaterThan(200);
  expect(signed.every((at) => at % 500 > 300 && at / 500 > 280)).toBe(true);
});

async function renderVideo(emulator: Emulator, body: object, headers: Record<string, string> = {}) {
  const created = await post(emulator, create, body, headers);
  await emulator.settled();
  return (await get(emulator, query + created.body.output.task_id)).body;
}

test.each(paths)(
  '%s accepts a video task, which is polled until it is done',
  async (createPath, queryPath) => {
    const emulator = await sharedEmulator();
    const { body } = await post(emulator, createPath, {
      model: 'reel-standard',
      input: { prompt: 'a boat at sunset' },
      parameters: { resolution: '480P', duration: 2 },
    });
    expect(body).toMatchObject({
      request_id: expect.any(String),
      output: { task_id: expect.any(String), task_status: 'PENDING' },
      metadata: { provider: expect.any(String) },
    });
    await emulator.settled();
    const task = (await get(emulator, queryPath + body.output.task_id)).body;
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/);
    expect(task.output).toMatchObject({
      task_status: 'SUCCEEDED',
      submit_time: time,
      scheduled_time: time,
      end_time: time,
      orig_prompt: 'a boat at sunset',
    });
    expect(task.output.actual_prompt).toContain('a boat at sunset,');
    expect(task.usage).toMatchObject({
      video_count: 1,
      SR: 480,
      ratio: '16:9',
      duration: 2,
      output_video_duration: 2,
    });
    expect((await fetch(task.output.video_url)).headers.get('content-type')).toBe('video/mp4');
  },
);

test('a video passes through PENDING and RUNNING', async () => {
  const waits: (() => void)[] = [];
  const emulator = await runEmulator({ sleep: () => new Promise((resolve) => waits.push(resolve)) });
  const { body } = await post(emulator, create, {
    model: 'reel-standard',
    input: { prompt: 'x' },
    parameters: { duration: 2 },
  });
  const status = async () => (await get(emulator, query + body.output.task_id)).body.output.task_status;
  expect(await status()).toBe('PENDING');
  waits.shift()?.();
  await expect.poll(status).toBe('RUNNING');
  waits.shift()?.();
  await expect.poll(status).toBe('SUCCEEDED');
});

test.each([
  ['a missing image', { img_url: 'http://127.0.0.1:9/x.png' }, 'BadRequest.InputDownloadFailed'],
  [
    'a file that is not an image',
    { img_url: `data:image/png;base64,${Buffer.from('nonsense').toString('base64')}` },
    'InvalidParameter.DataInspection',
  ],
  [
    'a file that is not audio',
    { audio_url: `data:audio/mpeg;base64,${Buffer.from('nonsense').toString('base64')}` },
    'InvalidParameter.DataInspection',
  ],
])('%s fails the task', async (_, input, code) => {
  const emulator = await realEmulator();
  const task = await renderVideo(emulator, {
    model: 'reel-standard',
    input: { prompt: 'x', ...input },
    parameters: { duration: 2 },
  });
  expect(task.output).toMatchObject({ task_status: 'FAILED', code, message: expect.any(String) });
  expect(task.output.video_url).toBeUndefined();
});

test.each(['FAILED', 'CANCELED', 'UNKNOWN'])('the fault video=%s ends with that status', async (status) => {
  const emulator = await sharedEmulator();
  const body = { model: 'reel-standard', input: { prompt: 'x' }, parameters: { duration: 2 } };
  const task = await renderVideo(emulator, body, { 'x-emulator-fault': `video=${status}` });
  expect(task.output.task_status).toBe(status);
});

test('a stuck video stays PENDING, and an unknown task is UNKNOWN', async () => {
  const emulator = await sharedEmulator();
  const body = { model: 'reel-standard', input: { prompt: 'x' }, parameters: { duration: 2 } };
  expect((await renderVideo(emulator, body, { 'x-emulator-fault': 'video=stuck' })).output.task_status).toBe(
    'PENDING',
  );
  expect((await get(emulator, `${query}no-such-task`)).body.output.task_status).toBe('UNKNOWN');
});

test('a video’s URL expires, a task is deleted after a day, and no URL can be forged', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const emulator = await runEmulator({ now: () => now, videoUrlSeconds: 60 });
  const body = {
    model: 'reel-standard',
    input: { prompt: 'x' },
    parameters: { duration: 2, resolution: '480P' },
  };
  const created = await post(emulator, create, body);
  await emulator.settled();
  const task = query + created.body.output.task_id;
  const url: string = (await get(emulator, task)).body.output.video_url;
  expect((await fetch(url)).status).toBe(200);
  expect((await fetch(url.split('?')[0] ?? '')).status).toBe(403);
  expect((await fetch(url.replace(/Expires=\d+/, 'Expires=9999999999'))).status).toBe(403);
  now += 61_000;
  expect((await fetch(url)).status).toBe(403);
  now += 86_400_000;
  expect((await get(emulator, task)).body.output.task_status).toBe('UNKNOWN');
});

test('files are served whole and in ranges, with their type', async () => {
  const emulator = await sharedEmulator();
  const { url } = await draw(emulator, 'a boat');
  const whole = Buffer.from(await fetchBytes(url));
  const part = await fetch(url, { headers: { range: 'bytes=10-19' } });
  expect(part.status).toBe(206);
  expect(part.headers.get('content-range')).toBe(`bytes 10-19/${whole.length}`);
  expect(part.headers.get('content-type')).toBe('image/png');
  expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(10, 20));
  const tail = await fetch(url, { headers: { range: 'bytes=-5' } });
  expect(Buffer.from(await tail.arrayBuffer())).toEqual(whole.subarray(-5));
  expect((await fetch(url, { headers: { range: `bytes=${whole.length}-` } })).status).toBe(416);
  expect((await fetch(url, { method: 'HEAD' })).headers.get('content-length')).toBe(String(whole.length));
  expect((await fetch(`${emulator.url}/files/none.png`)).status).toBe(404);
});
