import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Emulator } from '../../src/emulator/server.ts';
import type { AnswerEvent } from '../../src/gateway/answers.ts';
import { createGateway, type Gateway } from '../../src/gateway/client.ts';
import { type MusicCallback, readMusicCallback } from '../../src/gateway/music/callback.ts';
import type { Submission } from '../../src/gateway/music/client.ts';
import { gatewayAccounts } from '../../src/gateway/routes.ts';
import { type FaultyEmulator, startFaultyEmulator } from '../emulator/faulty.ts';
import { SHAPES, type ShapeName } from '../emulator/shapes.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { answer, errorOf, startServer, wholeOf } from './support.ts';

const OPTIONS = { speed: 0, songSeconds: 1, studio: createSampleStudio() } as const;

function clientOf(emulator: Emulator, timeouts = {}): Gateway {
  return createGateway({
    accounts: gatewayAccounts({ baseUrl: emulator.url, apiKey: emulator.apiKey }),
    fetch: globalThis.fetch,
    now: Date.now,
    elapsed: Date.now,
    random: Math.random,
    sleep: async () => undefined,
    timeouts,
  });
}

/** A listener for callbacks, with a URL for each job. */
async function startCallbacks() {
  const waiting = new Map<string, (callback: MusicCallback) => void>();
  const stages: string[] = [];
  const server = await startServer((request, response) => {
    answer(response, { ok: true });
    const callback = readMusicCallback(request.body);
    stages.push(callback.stage);
    if (callback.stage === 'complete' || callback.stage === 'failed') waiting.get(request.path)?.(callback);
  });
  let jobs = 0;
  return {
    stages,
    /** Submits work and waits for its last callback. */
    async work(
      submit: (callBackUrl: string) => Promise<Submission>,
    ): Promise<MusicCallback & { submission: Submission }> {
      const path = `/callbacks/${++jobs}`;
      const ended = new Promise<MusicCallback>((resolve) => waiting.set(path, resolve));
      const submission = await submit(`${server.url}${path}`);
      const callback = await ended;
      if (submission.taskId !== undefined) expect(callback.taskId).toBe(submission.taskId);
      return { ...callback, submission };
    },
  };
}

const typeOf = async (url: string | undefined) => (await fetch(url ?? '')).headers.get('content-type');

const model = 'V5' as const;
const texts = { title: 'More', style: 'lofi' };

async function startShape(shape: ShapeName) {
  const emulator = await startFaultyEmulator({ ...OPTIONS, shape: SHAPES[shape] });
  onTestFinished(() => emulator.close());
  const { music } = clientOf(emulator);
  const { work } = await startCallbacks();
  const song = await work((callBackUrl) =>
    music.generate({
      model,
      callBackUrl,
      customMode: true,
      instrumental: false,
      prompt: '[Verse]\nRain on stone',
      style: 'lofi',
      title: 'Rain',
    }),
  );
  const [first] = song.result.songs;
  const ids = { taskId: song.taskId ?? '', audioId: first?.audioId ?? '' };
  return { music, work, song, first, ids };
}

describe.each(['sunoapi', 'flat', 'bare', 'nested'] as const)(
  'the emulator’s songs and their derived files, in shape %s',
  (shape) => {
    it('are submitted, called back and read', async () => {
      const { music, work, song, first, ids } = await startShape(shape);
      expect(song.stage).toBe('complete');
      expect(await typeOf(first?.audioUrl)).toMatch(/^audio\//);
      expect(first).toMatchObject({
        title: 'Rain',
        durationSeconds: expect.any(Number),
        lyrics: expect.stringContaining('Rain on stone'),
      });

      const words = await music.timestampedLyrics(ids);
      expect(words.map(({ word }) => word).join(' ')).toContain('Rain');
      expect(words.every(({ startSeconds, endSeconds }) => startSeconds <= endSeconds)).toBe(true);
      expect(await music.styleGenerate({ content: 'lofi, rain' })).toMatch(/lofi/i);

      const lyrics = await work((callBackUrl) => music.generateLyrics({ prompt: 'rain', callBackUrl }));
      expect(lyrics.result.lyrics.length).toBeGreaterThan(1);
      const cover = await work((callBackUrl) => music.generateCover({ taskId: ids.taskId, callBackUrl }));
      expect(await typeOf(cover.result.images[0])).toMatch(/^image\//);
      const wav = await work((callBackUrl) => music.wavGenerate({ ...ids, callBackUrl }));
      expect(await typeOf(wav.result.wavUrl)).toMatch(/wav/);
      const two = await work((callBackUrl) =>
        music.vocalRemoval({ ...ids, type: 'separate_vocal', callBackUrl }),
      );
      expect(two.result.stems.map(({ name }) => name).sort()).toEqual(['instrumental', 'vocals']);
      const all = await work((callBackUrl) =>
        music.vocalRemoval({ ...ids, type: 'split_stem', callBackUrl }),
      );
      expect(all.result.stems.map(({ name }) => name)).toEqual(expect.arrayContaining(['drums', 'bass']));

      const persona = { ...ids, name: 'Ada', description: 'warm' };
      expect((await music.generatePersona(persona)).personaId).toEqual(expect.any(String));
      expect(await errorOf(music.generatePersona(persona))).toMatchObject({ taken: 'no' });
    });
  },
);

// Most of these return a song, whose four shapes are tested above.
it('every other music route is submitted, called back and read', async () => {
  const { music, work, first, ids } = await startShape('sunoapi');
  const { audioId } = ids;
  const uploadUrl = first?.audioUrl ?? '';
  const { personaId } = await music.generatePersona({ ...ids, name: 'Ada', description: 'warm' });
  const override = { defaultParamFlag: true as const, continueAt: 1, ...texts };
  const upload = { uploadUrl, negativeTags: '', title: 'More' };
  const instrumental = { customMode: true, instrumental: true, ...texts };
  const more = await Promise.all([
    work((callBackUrl) => music.generate({ model, callBackUrl, ...instrumental, personaId })),
    work((callBackUrl) => music.extend({ audioId, model, callBackUrl, defaultParamFlag: false })),
    work((callBackUrl) => music.extend({ audioId, model, callBackUrl, prompt: 'la', ...override })),
    work((callBackUrl) => music.uploadCover({ uploadUrl, model, callBackUrl, ...instrumental })),
    work((callBackUrl) =>
      music.uploadExtend({ uploadUrl, model, callBackUrl, instrumental: true, ...override }),
    ),
    work((callBackUrl) => music.addVocals({ ...upload, callBackUrl, prompt: 'la', style: 'lofi' })),
    work((callBackUrl) => music.addInstrumental({ ...upload, callBackUrl, tags: 'lofi' })),
  ]);
  for (const { stage, result } of more) {
    expect(stage).toBe('complete');
    expect(result.songs[0]?.audioUrl).toMatch(/^http/);
  }
  const video = await work((callBackUrl) => music.mp4Generate({ ...ids, callBackUrl }));
  expect(await typeOf(video.result.videoUrl)).toMatch(/^video\//);
});

describe('the rest of the emulator', () => {
  let emulator: FaultyEmulator;
  let gateway: Gateway;
  beforeAll(async () => {
    emulator = await startFaultyEmulator({ ...OPTIONS, modelsPerPage: 3 });
    gateway = clientOf(emulator);
  });
  afterAll(() => emulator.close());

  const ask = (model: string, words = 'Why is rain grey?') => ({
    model,
    turns: [{ role: 'user' as const, parts: [{ type: 'text' as const, text: words }] }],
  });
  async function drain(stream: AsyncIterable<AnswerEvent>) {
    let text = '';
    let last: AnswerEvent | undefined;
    for await (const event of stream) {
      if (event.type === 'part' && event.part.type === 'text') text += event.part.text;
      last = event;
    }
    return { text, last };
  }

  it('chat, msg and gen return whole and streamed answers', async () => {
    for (const call of [
      () => wholeOf(gateway.chat.stream(ask('chat-small'))),
      () => gateway.msg.complete(ask('scribe-small')),
      () => wholeOf(gateway.gen.stream(ask('facet-text'))),
    ]) {
      const { parts, finish, usage } = await call();
      expect(parts).toEqual([{ type: 'text', text: expect.any(String) }]);
      expect(finish.reason).toBe('stop');
      expect(usage?.outputTokens).toBeGreaterThan(0);
    }
    for (const stream of [gateway.chat.stream(ask('chat-small')), gateway.gen.stream(ask('facet-text'))]) {
      const { text, last } = await drain(stream);
      expect(text.length).toBeGreaterThan(0);
      expect(last).toMatchObject({
        type: 'finish',
        finish: { reason: 'stop' },
        usage: { outputTokens: expect.any(Number) },
      });
    }
  });

  it('gen creates images, calls functions and thinks', async () => {
    const { parts } = await gateway.gen.generateImage(ask('facet-picture', 'a red boat'));
    expect(parts.map(({ type }) => type)).toEqual(expect.arrayContaining(['text', 'image']));
    const tools = [
      {
        name: 'weather',
        description: 'The weather in a town',
        parameters: {
          type: 'object',
          properties: { town: { type: 'string', description: 'a town' } },
          required: ['town'],
        },
      },
    ];
    const called = await gateway.gen.callTools({
      ...ask('facet-tools', 'What is the weather in Oslo?'),
      tools,
    });
    expect(called).toMatchObject({
      parts: [{ type: 'tool-call', name: 'weather' }],
      finish: { reason: 'tool-calls' },
    });
    expect((await gateway.gen.think(ask('facet-thinker-preview'))).finish.reason).toBe('stop');
  });

  it.each(['break', 'stall', 'error', 'no-end'])(
    'a stream with "%s" differs from a finished one',
    async (how) => {
      // The other streams have enough time.
      const { chat, gen } = how === 'stall' ? clientOf(emulator, { stallMs: 300 }) : gateway;
      for (const [path, stream] of [
        ['/chat/completions', () => chat.stream(ask('chat-small'))],
        [':streamGenerateContent', () => gen.stream(ask('facet-text'))],
      ] as const) {
        emulator.addFault({ fault: `stream=${how}`, path, times: 1 });
        const error = await errorOf(drain(stream()));
        expect(error).toMatchObject({ taken: 'unknown', retryable: false });
      }
    },
  );

  it('creates images and videos', async () => {
    const { images } = await gateway.media.createImage({ model: 'canvas-plus', prompt: 'a red boat' });
    expect(await typeOf(images[0])).toMatch(/^image\//);
    const { taskId } = await gateway.media.createVideo({
      model: 'reel-standard',
      prompt: 'a red boat',
      duration: 5,
      resolution: '720P',
    });
    await expect.poll(async () => (await gateway.media.queryVideo(taskId)).status).toBe('succeeded');
    expect(await typeOf((await gateway.media.queryVideo(taskId)).videoUrl)).toMatch(/^video\//);
  });

  it('reports a failed video', async () => {
    emulator.addFault({ fault: 'video=FAILED', times: 1 });
    const { taskId } = await gateway.media.createVideo({ model: 'reel-standard', prompt: 'a red boat' });
    await expect.poll(async () => (await gateway.media.queryVideo(taskId)).status).toBe('failed');
    expect((await gateway.media.queryVideo(taskId)).failure?.code).toBeDefined();
  });

  it('reads the model list page by page, with display names', async () => {
    const models = await gateway.models.refresh();
    expect(models.length).toBeGreaterThan(3);
    expect(gateway.models.resolve('Chat Large')).toMatchObject({
      kind: 'label',
      model: { id: 'chat-large' },
    });
    expect(gateway.models.resolve('chat-larg')).toMatchObject({
      kind: 'unknown',
      nearest: expect.arrayContaining(['chat-large']),
    });
  });

  it('reads the refusal of an unknown model, a wrong key and an unknown song', async () => {
    expect(await errorOf(wholeOf(gateway.chat.stream(ask('no-such-model'))))).toMatchObject({
      taken: 'no',
      code: expect.stringMatching(/not-found|invalid/),
    });
    const otherClient = createGateway({
      accounts: gatewayAccounts({ baseUrl: emulator.url, apiKey: 'wrong-key' }),
      fetch: globalThis.fetch,
      now: Date.now,
      elapsed: Date.now,
      random: Math.random,
      sleep: async () => undefined,
    });
    for (const call of [
      () => wholeOf(otherClient.chat.stream(ask('chat-small'))),
      () => otherClient.msg.complete(ask('scribe-small')),
      () => wholeOf(otherClient.gen.stream(ask('facet-text'))),
      () => otherClient.models.refresh(),
      () => otherClient.media.queryVideo('v'),
    ]) {
      expect(await errorOf(call())).toMatchObject({ code: 'auth', taken: 'no' });
    }
    const callBackUrl = 'http://127.0.0.1:9/callback';
    expect(
      await errorOf(gateway.music.wavGenerate({ taskId: 'none', audioId: 'none', callBackUrl })),
    ).toMatchObject({ taken: 'no' });
  });

  it.each([
    ['status=503', 'unavailable', 'unknown'],
    ['status=503:30', 'unavailable', 'no'],
    ['status=500', 'unavailable', 'unknown'],
    ['body-code=429', 'credits', 'no'],
    ['body-code=430', 'rate', 'no'],
    ['body-code=455', 'maintenance', 'no'],
    ['reset', 'network', 'unknown'],
    ['lost=reset', 'network', 'unknown'],
    ['nonsense', 'no-api', 'unknown'],
  ])('a submission with the fault "%s" ends as %s, accepted: %s', async (fault, code, taken) => {
    emulator.addFault({ fault, path: '/music/generate' });
    onTestFinished(() => emulator.clearFaults());
    const call = gateway.music.generate({
      model: 'V5',
      customMode: false,
      instrumental: true,
      prompt: 'rain',
      callBackUrl: 'http://127.0.0.1:9/callback',
    });
    expect(await errorOf(call)).toMatchObject({ code, taken });
  });
});
