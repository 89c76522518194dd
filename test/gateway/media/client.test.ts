import { describe, expect, it } from 'vitest';
import { answer, errorOf, gatewayAt, type Script, startServer } from '../support.ts';

const CREATE = '/v1/media/services/aigc/video-generation/video-synthesis';
const CREATE_ALTERNATE = '/media/v1/services/aigc/video-generation/video-synthesis';
const task = { output: { task_id: 'v1', task_status: 'RUNNING' } };
const request = { model: 'video-model', prompt: 'rain' };

/** A gateway that supports one of the two path forms. */
const knows =
  (prefix: string): Script =>
  ({ path }, response) =>
    path.startsWith(prefix)
      ? answer(response, task)
      : answer(response, { error: 'no such path' }, { status: 404 });

describe('the two path forms of video', () => {
  it('tries the other one once and remembers it', async () => {
    const server = await startServer(knows('/media/v1'));
    const { media } = gatewayAt(server.url).gateway;
    await media.createVideo(request);
    await media.queryVideo('v1');
    await media.createVideo(request);
    expect(server.received.map(({ path }) => path)).toEqual([
      CREATE,
      CREATE_ALTERNATE,
      '/media/v1/tasks/v1',
      CREATE_ALTERNATE,
    ]);
  });

  it('uses the first one while it works', async () => {
    const server = await startServer(knows('/v1/media'));
    const { media } = gatewayAt(server.url).gateway;
    await media.createVideo(request);
    await media.queryVideo('v1');
    expect(server.received.map(({ path }) => path)).toEqual([CREATE, '/v1/media/tasks/v1']);
  });

  it('changes the remembered one', async () => {
    let prefix = '/media/v1';
    const server = await startServer((received, response, nth) => knows(prefix)(received, response, nth));
    const { media } = gatewayAt(server.url).gateway;
    await media.queryVideo('v1');
    prefix = '/v1/media';
    await media.queryVideo('v1');
    await media.queryVideo('v1');
    expect(server.received.map(({ path }) => path.slice(0, 9))).toEqual([
      '/v1/media',
      '/media/v1',
      '/media/v1',
      '/v1/media',
      '/v1/media',
    ]);
  });

  it('reports not found with the explained error if neither works', async () => {
    const server = await startServer(({ path }, response) =>
      answer(response, path === CREATE ? { code: 'ModelNotFound', message: 'no such model' } : '', {
        status: 404,
      }),
    );
    expect(await errorOf(gatewayAt(server.url).gateway.media.createVideo(request))).toMatchObject({
      code: 'not-found',
      taken: 'no',
      gatewayCode: 'ModelNotFound',
      message: expect.stringContaining('no such model'),
    });
    expect(server.received).toHaveLength(2);
  });

  it('reports a missing task on the working form, whatever the other form returns', async () => {
    for (const [status, body] of [
      [401, { code: 'InvalidApiKey', message: 'no' }],
      [429, { code: 'Throttling', message: 'slower' }],
      [500, { message: 'broken' }],
      [405, ''],
    ] as const) {
      const server = await startServer(({ path }, response) => {
        if (path.startsWith('/media/v1')) answer(response, body, { status });
        else if (path.endsWith('/forgotten')) answer(response, { error: 'no such task' }, { status: 404 });
        else answer(response, task);
      });
      const { media } = gatewayAt(server.url).gateway;
      await media.createVideo(request);
      expect(await errorOf(media.queryVideo('forgotten'))).toMatchObject({ code: 'not-found', status: 404 });
      server.received.length = 0;
      await media.queryVideo('v1');
      expect(server.received.map(({ path }) => path)).toEqual(['/v1/media/tasks/v1']);
    }
  });

  it('ignores a web page of the other form', async () => {
    const server = await startServer(({ path }, response) => {
      if (path.startsWith('/media/v1')) answer(response, '<html>Welcome</html>');
      else if (path.endsWith('/forgotten')) answer(response, '', { status: 404 });
      else answer(response, task);
    });
    const { media } = gatewayAt(server.url).gateway;
    await media.queryVideo('v1');
    expect(await errorOf(media.queryVideo('forgotten'))).toMatchObject({ code: 'not-found' });
    await media.queryVideo('v1');
    expect(server.received.at(-1)?.path).toBe('/v1/media/tasks/v1');
  });

  it('prefers the other form’s error to a bare 404 before any form has worked', async () => {
    const server = await startServer(({ path }, response) =>
      answer(response, path.startsWith('/media/v1') ? { code: 'Arrearage', message: 'no credit' } : '', {
        status: path.startsWith('/media/v1') ? 400 : 404,
      }),
    );
    expect(await errorOf(gatewayAt(server.url).gateway.media.createVideo(request))).toMatchObject({
      code: 'credits',
    });
  });

  it('does not report work as refused that the other form may have accepted', async () => {
    const server = await startServer(({ path }, response) => {
      if (path === CREATE_ALTERNATE) response.destroy();
      else if (path === CREATE) answer(response, { code: 'ModelNotFound' }, { status: 404 });
      else answer(response, task);
    });
    const { media } = gatewayAt(server.url).gateway;
    await media.queryVideo('v1');
    expect(await errorOf(media.createVideo(request))).toMatchObject({ taken: 'unknown' });
  });

  it('does not send paid work to the other form if the first may have accepted it', async () => {
    const server = await startServer((_, response) => void response.destroy());
    expect(await errorOf(gatewayAt(server.url).gateway.media.createVideo(request))).toMatchObject({
      taken: 'unknown',
    });
    expect(server.received).toHaveLength(1);
  });
});

describe('requests', () => {
  it('contain only the given fields, with the gateway’s names', async () => {
    const server = await startServer((_, response) => answer(response, task));
    await gatewayAt(server.url).gateway.media.createVideo({
      model: 'video-model',
      imageUrl: 'https://bot.example/files/a.png',
      audioUrl: 'https://bot.example/files/a.mp3',
      resolution: '720P',
      duration: 5,
      promptExtend: true,
      audio: false,
      shotType: 'multi',
    });
    expect(server.received[0]?.body).toEqual({
      model: 'video-model',
      input: { img_url: 'https://bot.example/files/a.png', audio_url: 'https://bot.example/files/a.mp3' },
      parameters: { resolution: '720P', duration: 5, prompt_extend: true, audio: false, shot_type: 'multi' },
    });
    await errorOf(
      gatewayAt(server.url).gateway.media.createImage({
        model: 'm',
        prompt: 'p',
        negativePrompt: 'text',
      }),
    );
    expect(server.received[1]?.body).toMatchObject({ parameters: { negative_prompt: 'text' } });
  });
});

describe('responses without a result', () => {
  it.each([
    [
      'an image response without an image',
      { output: { choices: [{ message: { content: [{ text: 'no' }] } }] } },
      'nonsense',
    ],
    [
      'an image response with a reason',
      { output: { code: 'DataInspectionFailed', message: 'unfit' } },
      'blocked',
    ],
    ['an empty response', undefined, 'nonsense'],
  ])('%s', async (_, body, code) => {
    const server = await startServer((_request, response) => answer(response, body));
    const { media } = gatewayAt(server.url).gateway;
    expect((await errorOf(media.createImage({ model: 'm', prompt: 'p' }))).code).toBe(code);
  });

  it('a video task refused in a successful response', async () => {
    const refusal = { output: { task_status: 'FAILED', code: 'Throttling', message: 'slower' } };
    const server = await startServer((_request, response) => answer(response, refusal));
    expect(await errorOf(gatewayAt(server.url).gateway.media.createVideo(request))).toMatchObject({
      code: 'rate',
      taken: 'no',
    });
  });

  it('a video without an ID or a URL is nonsense', async () => {
    const server = await startServer((_request, response) =>
      answer(response, { output: { task_status: 'SUCCEEDED' } }),
    );
    const { media } = gatewayAt(server.url).gateway;
    expect(await errorOf(media.createVideo(request))).toMatchObject({ code: 'nonsense', taken: 'unknown' });
    expect(await errorOf(media.queryVideo('v1'))).toMatchObject({
      code: 'nonsense',
      taken: 'no',
      retryable: true,
    });
  });
});

describe('a poll with an error status', () => {
  const failedTask = {
    request_id: 'r1',
    output: { task_id: 'v1', task_status: 'FAILED', code: 'DataInspectionFailed', message: 'unfit' },
  };

  it.each([400, 404, 500])('%i with FAILED in the body ends the task', async (status) => {
    const server = await startServer((_, response) => answer(response, failedTask, { status }));
    expect(await gatewayAt(server.url).gateway.media.queryVideo('v1')).toMatchObject({
      status: 'failed',
      failure: { code: 'blocked', message: 'unfit' },
    });
    expect(server.received).toHaveLength(1);
  });

  it('without an end in the body is an error', async () => {
    const server = await startServer((_, response) => answer(response, task, { status: 400 }));
    expect(await errorOf(gatewayAt(server.url).gateway.media.queryVideo('v1'))).toMatchObject({
      code: 'invalid',
    });
  });
});
