/** The doubles without an SDK, over HTTP: what they refuse, the states of their tasks, and their callbacks. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen } from '../../media/helpers.ts';
import { startDashScope } from './dashscope.ts';
import { SERVICE_KEY } from './service.ts';
import { startSuno } from './suno.ts';

const KEY = { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json' };

async function answerOf(url: string, body?: object, headers: Readonly<Record<string, string>> = KEY) {
  const response = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  // Sound: every answer is a JSON object.
  const answer = (await response.json()) as Record<string, unknown>;
  return { ...answer, status: response.status };
}

describe('the double of DashScope', () => {
  async function dashScope() {
    const double = await startDashScope({ fetch });
    onTestFinished(() => double[Symbol.asyncDispose]());
    return {
      double,
      video: `${double.url}/services/aigc/video-generation/video-synthesis`,
      image: `${double.url}/services/aigc/multimodal-generation/generation`,
    };
  }
  const ASYNC = { ...KEY, 'x-dashscope-async': 'enable' };
  const film = { model: 'wan2.6-t2v', input: { prompt: 'a fox' }, parameters: { size: '1280*720' } };
  const painting = {
    model: 'qwen-image',
    input: { messages: [{ role: 'user', content: [{ text: 'a fox' }] }] },
    parameters: { size: '1328*1328' },
  };

  it('needs the asynchronous header for videos, and refuses it for images', async () => {
    const { video, image } = await dashScope();
    expect(await answerOf(video, film)).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(await answerOf(image, painting, ASYNC)).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(await answerOf(image, painting)).toMatchObject({ status: 200, usage: { image_count: 1 } });
    expect(await answerOf(image, painting, {})).toMatchObject({ status: 401, code: 'InvalidApiKey' });
  });

  it.each([
    ['a resolution for text-to-video', { ...film, parameters: { resolution: '720P' } }],
    ['image-to-video without an image', { ...film, model: 'wan2.6-i2v', parameters: {} }],
    ['an unknown parameter', { ...film, parameters: { shots: 2 } }],
  ])('refuses %s', async (_, body) => {
    const { video } = await dashScope();
    expect(await answerOf(video, body, ASYNC)).toMatchObject({ status: 400, code: 'InvalidParameter' });
  });

  it('finishes a task after a while, and reports other tasks as unknown', async () => {
    const { double, video } = await dashScope();
    expect(await answerOf(video, film, ASYNC)).toMatchObject({
      output: { task_id: 'film-1', task_status: 'PENDING' },
    });
    const task = `${double.url}/tasks/film-1`;
    expect(await answerOf(task)).toMatchObject({ output: { task_status: 'RUNNING' } });
    expect(await answerOf(task)).toMatchObject({ output: { task_status: 'SUCCEEDED' } });
    expect(await answerOf(`${double.url}/tasks/other`)).toMatchObject({ output: { task_status: 'UNKNOWN' } });
  });

  it('fails a task whose image cannot be downloaded', async () => {
    const { double, video } = await dashScope();
    const input = { img_url: `${double.url}/missing.png` };
    await answerOf(video, { model: 'wan2.6-i2v', input }, ASYNC);
    const task = `${double.url}/tasks/film-1`;
    await answerOf(task);
    expect(await answerOf(task)).toMatchObject({
      status: 200,
      output: { task_status: 'FAILED', code: 'InvalidParameter.DataInspection' },
    });
  });
});

describe('the double of sunoapi.org', () => {
  async function suno() {
    const callbacks: Record<string, unknown>[] = [];
    const { origin } = await listen(async (request, response) => {
      callbacks.push(JSON.parse(Buffer.concat(await request.toArray()).toString()));
      response.end();
    });
    const double = await startSuno({ fetch });
    onTestFinished(() => double[Symbol.asyncDispose]());
    return { double, url: `${double.url}/api/v1`, callBackUrl: origin, callbacks };
  }

  it('reports errors in the code of a body', async () => {
    const { url, callBackUrl } = await suno();
    const lyrics = { prompt: 'rain', callBackUrl };
    expect(await answerOf(`${url}/lyrics`, lyrics, {})).toMatchObject({ status: 200, code: 401 });
    expect(await answerOf(`${url}/lyrics`, { callBackUrl })).toMatchObject({ status: 200, code: 400 });
    expect(await answerOf(`${url}/lyric`, lyrics)).toMatchObject({ status: 200, code: 404 });
    const long = { ...lyrics, prompt: 'rain '.repeat(201) };
    expect(await answerOf(`${url}/lyrics`, long)).toMatchObject({ code: 413 });
    expect(await answerOf(`${url}/generate/credit`)).toMatchObject({ code: 200, data: 100 });
  });

  it('calls back at each stage of a song, and accepts its tracks on other routes', async () => {
    const { double, url, callBackUrl, callbacks } = await suno();
    const take = { taskId: 'task-1', audioId: 'task-1-a' };
    expect(await answerOf(`${url}/wav/generate`, { ...take, callBackUrl })).toMatchObject({ code: 400 });
    const song = { customMode: false, instrumental: false, model: 'V5', prompt: 'rain', callBackUrl };
    expect(await answerOf(`${url}/generate`, song)).toMatchObject({ code: 200, data: { taskId: 'task-1' } });
    await double.idle();
    expect(callbacks.map(({ data }) => data)).toMatchObject(
      ['text', 'first', 'complete'].map((callbackType) => ({ callbackType, task_id: 'task-1' })),
    );
    expect(await answerOf(`${url}/wav/generate`, { ...take, callBackUrl })).toMatchObject({ code: 200 });
    expect(await answerOf(`${url}/wav/generate`, { ...take, callBackUrl })).toMatchObject({ code: 409 });
    const [, audio = ''] = /"audio_url":"([^"]+)"/.exec(JSON.stringify(callbacks[2])) ?? [];
    expect((await fetch(audio)).headers.get('content-type')).toBe('audio/mpeg');
  });

  it('calls back with 451 if it cannot download an upload', async () => {
    const { double, url, callBackUrl, callbacks } = await suno();
    const upload = { uploadUrl: 'http://127.0.0.1:9/', customMode: false, instrumental: true, model: 'V5' };
    await answerOf(`${url}/generate/upload-cover`, { ...upload, prompt: 'a waltz', callBackUrl });
    await double.idle();
    expect(callbacks).toMatchObject([{ code: 451, data: { callbackType: 'error' } }]);
  });
});
