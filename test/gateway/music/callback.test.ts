import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMusicCallback, readMusicStage } from '../../../src/gateway/music/callback.ts';
import { keysOf } from '../../../src/gateway/music/expected.ts';

const MP3 = 'https://cdn.example/a1.mp3';
const nothing = { songs: [], lyrics: [], images: [], stems: [] };

/** A song as docs.sunoapi.org shows it. */
const item = {
  id: 'a1',
  audio_url: MP3,
  source_audio_url: 'https://source.example/a1.mp3',
  stream_audio_url: 'https://cdn.example/a1',
  source_stream_audio_url: '',
  image_url: 'https://cdn.example/a1.jpeg',
  prompt: '[Verse] Night city lights',
  model_name: 'chirp-v4-5',
  title: 'Iron Man',
  tags: 'electrifying, rock',
  createTime: '2025-01-01 00:00:00',
  duration: 198.44,
};
const song = {
  audioId: 'a1',
  audioUrl: MP3,
  streamUrl: 'https://cdn.example/a1',
  imageUrl: 'https://cdn.example/a1.jpeg',
  title: 'Iron Man',
  style: 'electrifying, rock',
  lyrics: '[Verse] Night city lights',
  durationSeconds: 198.44,
  model: 'chirp-v4-5',
};

describe('a song', () => {
  const camel = {
    id: 'a1',
    audioUrl: MP3,
    streamAudioUrl: 'https://cdn.example/a1',
    imageUrl: 'https://cdn.example/a1.jpeg',
    prompt: '[Verse] Night city lights',
    modelName: 'chirp-v4-5',
    title: 'Iron Man',
    tags: ['electrifying', 'rock'],
    duration: '198.44',
  };
  it.each([
    [
      'as the public API calls back',
      { code: 200, msg: 'ok', data: { callbackType: 'complete', task_id: 't1', data: [item] } },
    ],
    [
      'as its record says',
      {
        code: 200,
        data: { taskId: 't1', status: 'SUCCESS', param: '{"x":1}', response: { sunoData: [camel] } },
      },
    ],
    ['flat', { taskId: 't1', status: 'complete', songs: [camel] }],
    ['bare, without stage or code', { task_id: 't1', data: [item, item] }],
    [
      'nested deeper',
      {
        event: { payload: { data: { taskId: 't1', callback_type: 'COMPLETE', result: { tracks: [item] } } } },
      },
    ],
    [
      'with the echo of what was asked',
      { taskId: 't1', request: { uploadUrl: MP3, audioUrl: 'https://other.example/x.mp3' }, data: [item] },
    ],
    [
      'as JSON text',
      JSON.stringify({ code: '200', data: { callbackType: 'complete', task_id: 't1', data: [item] } }),
    ],
    ['as bytes', new TextEncoder().encode(JSON.stringify({ task_id: 't1', data: [item] }))],
  ])('%s', (_, body) => {
    expect(readMusicCallback(body)).toEqual({
      taskId: 't1',
      stage: 'complete',
      result: { ...nothing, songs: [song] },
    });
  });

  it('falls back on the source addresses', () => {
    const { result } = readMusicCallback({ data: [{ ...item, audio_url: '', stream_audio_url: null }] });
    expect(result.songs).toEqual([expect.objectContaining({ audioUrl: 'https://source.example/a1.mp3' })]);
    expect(result.songs[0]).not.toHaveProperty('streamUrl');
  });

  it('has no address that is not http or https', () => {
    const hostile = [
      'javascript:alert(1)',
      'file:///etc/passwd',
      'ftp://x.example/a',
      'http://',
      '//cdn.example/a',
      7,
      {},
    ];
    for (const audio_url of hostile) {
      const { stage, failure } = readMusicCallback({
        code: 200,
        data: { callbackType: 'complete', data: [{ id: 'a1', audio_url }] },
      });
      expect({ stage, code: failure?.code }).toEqual({ stage: 'failed', code: 'nonsense' });
    }
  });

  it('two songs stay two, in order', () => {
    const { result } = readMusicCallback({
      data: { data: [item, { ...item, id: 'a2', audio_url: `${MP3}2` }] },
    });
    expect(result.songs.map(({ audioId }) => audioId)).toEqual(['a1', 'a2']);
  });
});

describe('stages', () => {
  const early = { id: 'a1', prompt: 'La', title: 'Rain', audio_url: '', stream_audio_url: '' };
  it('text: the words, before any sound', () => {
    expect(
      readMusicCallback({ code: 200, data: { callbackType: 'text', task_id: 't1', data: [early] } }),
    ).toEqual({
      taskId: 't1',
      stage: 'text',
      result: { ...nothing, songs: [{ audioId: 'a1', lyrics: 'La', title: 'Rain' }] },
    });
  });

  it('text with an empty list', () => {
    expect(
      readMusicCallback({ code: 200, data: { callbackType: 'text', task_id: 't1', data: [] } }).stage,
    ).toBe('text');
  });

  it('first: one song of two', () => {
    const body = {
      code: 200,
      data: { callbackType: 'first', task_id: 't1', data: [item, { ...early, id: 'a2' }] },
    };
    expect(readMusicCallback(body)).toMatchObject({
      stage: 'first',
      result: { songs: [song, { audioId: 'a2' }] },
    });
  });

  it.each([
    ['songs with sound are complete', [item], 'complete'],
    [
      'songs that only stream are a beginning',
      [{ id: 'a1', stream_audio_url: 'https://cdn.example/a1' }],
      'first',
    ],
    ['songs without sound are words', [early], 'text'],
    ['no songs say nothing', [], 'unknown'],
  ])('without a callbackType, %s', (_, data, stage) => {
    expect(readMusicCallback({ code: 200, data: { task_id: 't1', data } }).stage).toBe(stage);
  });

  it('an envelope that says success does not make an early stage the last', () => {
    const staged = (status: string) =>
      readMusicCallback({ status: 'success', data: { taskId: 't1', status, response: { sunoData: [item] } } })
        .stage;
    expect(['TEXT_SUCCESS', 'FIRST_SUCCESS', 'SUCCESS', 'GENERATE_AUDIO_FAILED'].map(staged)).toEqual([
      'text',
      'first',
      'complete',
      'failed',
    ]);
  });

  it.each(['PENDING', 'GENERATING', 'TEXT_SUCCESS', 'FIRST_SUCCESS'])('%s is not the end', (status) => {
    expect(['pending', 'text', 'first']).toContain(
      readMusicCallback({ data: { taskId: 't1', status } }).stage,
    );
  });
});

describe('other results', () => {
  it('lyric variants', () => {
    const data = [
      { text: '[Verse] A', title: 'One', status: 'complete', errorMessage: '' },
      { text: '[Verse] B', title: '', status: 'complete' },
      { text: '', title: 'Three', status: 'failed', errorMessage: 'bad luck' },
    ];
    expect(readMusicCallback({ code: 200, data: { callbackType: 'complete', taskId: 't1', data } })).toEqual({
      taskId: 't1',
      stage: 'complete',
      result: { ...nothing, lyrics: [{ title: 'One', text: '[Verse] A' }, { text: '[Verse] B' }] },
    });
  });

  it.each([
    [
      'as the public API',
      {
        code: 200,
        msg: 'success',
        data: { taskId: 't1', images: ['https://c.example/1.png', 'https://c.example/2.png'] },
      },
    ],
    ['flat', { taskId: 't1', images: ['https://c.example/1.png', '', null, 'https://c.example/2.png'] }],
    [
      'as its record says',
      {
        data: {
          taskId: 't1',
          successFlag: 1,
          response: { images: [{ url: 'https://c.example/1.png' }, { url: 'https://c.example/2.png' }] },
        },
      },
    ],
  ])('cover pictures, %s', (_, body) => {
    expect(readMusicCallback(body)).toEqual({
      taskId: 't1',
      stage: 'complete',
      result: { ...nothing, images: ['https://c.example/1.png', 'https://c.example/2.png'] },
    });
  });

  it.each([
    [
      'in snake case, nested',
      {
        code: 200,
        data: {
          task_id: 't1',
          vocal_removal_info: {
            origin_url: '',
            vocal_url: 'https://c.example/v',
            instrumental_url: 'https://c.example/i',
          },
        },
      },
    ],
    [
      'as the contract names them',
      { taskId: 't1', vocalUrl: 'https://c.example/v', instrumentalUrl: 'https://c.example/i' },
    ],
    [
      'under data',
      {
        data: {
          task_id: 't1',
          vocalUrl: 'https://c.example/v',
          instrumentalUrl: 'https://c.example/i',
          originUrl: 'https://c.example/o',
        },
      },
    ],
    [
      'as a list',
      {
        taskId: 't1',
        stems: [
          { name: 'vocal', url: 'https://c.example/v' },
          { type: 'instrumental', audio_url: 'https://c.example/i' },
        ],
      },
    ],
    [
      'as a map',
      { taskId: 't1', stems: { vocals: 'https://c.example/v', instrumental: 'https://c.example/i' } },
    ],
  ])('two stems, %s', (_, body) => {
    expect(readMusicCallback(body)).toEqual({
      taskId: 't1',
      stage: 'complete',
      result: {
        ...nothing,
        stems: [
          { name: 'vocals', url: 'https://c.example/v' },
          { name: 'instrumental', url: 'https://c.example/i' },
        ],
      },
    });
  });

  it('all stems, known and unknown, in words', () => {
    const keys = [
      'vocal_url',
      'backing_vocals_url',
      'drums_url',
      'fx_url',
      'woodwinds_url',
      'steel_drum_url',
      'origin_url',
    ];
    const vocal_removal_info = Object.fromEntries(keys.map((key) => [key, `https://c.example/${key}`]));
    const { result } = readMusicCallback({ data: { task_id: 't1', vocal_removal_info } });
    expect(result.stems.map(({ name }) => name)).toEqual([
      'vocals',
      'backing vocals',
      'drums',
      'fx',
      'woodwinds',
      'steel drum',
    ]);
    const camel = readMusicCallback({
      data: { response: { backingVocalsUrl: 'https://c.example/b', steelDrumUrl: 'https://c.example/s' } },
    });
    expect(camel.result.stems.map(({ name }) => name)).toEqual(['backing vocals', 'steel drum']);
  });

  it('a WAV and a video', () => {
    expect(
      readMusicCallback({ code: 200, data: { task_id: 't1', audioWavUrl: 'https://c.example/a.wav' } }),
    ).toEqual({
      taskId: 't1',
      stage: 'complete',
      result: { ...nothing, wavUrl: 'https://c.example/a.wav' },
    });
    expect(readMusicCallback({ taskId: 't1', video_url: 'https://c.example/a.mp4' })).toEqual({
      taskId: 't1',
      stage: 'complete',
      result: { ...nothing, videoUrl: 'https://c.example/a.mp4' },
    });
  });
});

describe('what was asked for, under names that no public API has', () => {
  const url = (name: string) => `https://c.example/${name}`;
  const stems = (body: unknown) =>
    Object.fromEntries(
      readMusicCallback(body, 'stems').result.stems.map(({ name, url: at }) => [name, at.slice(18)]),
    );

  it.each([
    ['bare', { taskId: 't1', drums: url('d'), backingVocals: url('b'), steelDrum: url('s') }],
    [
      'in data, in snake case',
      { code: 200, data: { task_id: 't1', drums: url('d'), backing_vocals: url('b'), steel_drum: url('s') } },
    ],
    [
      'in lists of one',
      { taskId: 't1', result: { drums: [url('d')], backingVocals: [url('b')], steelDrum: [url('s')] } },
    ],
    [
      'as a list of named files',
      {
        taskId: 't1',
        data: [
          { name: 'drums', url: url('d') },
          { instrument: 'backing vocals', file: url('b') },
          { type: 'steel drum', audioUrl: url('s') },
        ],
      },
    ],
    [
      'half in a box and half beside it',
      { taskId: 't1', stems: { drums: url('d') }, backingVocals: url('b'), steelDrum: url('s') },
    ],
    [
      'with the song and its cover',
      {
        taskId: 't1',
        data: {
          drumsUrl: url('d'),
          backingVocalsUrl: url('b'),
          steelDrumUrl: url('s'),
          originUrl: url('o'),
          audioUrl: url('a'),
          imageUrl: url('i'),
        },
        callBackUrl: url('callback'),
      },
    ],
  ])('stems %s', (_, body) => {
    expect(stems(body)).toEqual({ drums: 'd', 'backing vocals': 'b', 'steel drum': 's' });
    expect(readMusicCallback(body, 'stems')).toMatchObject({ taskId: 't1', stage: 'complete' });
  });

  it('no known stem is lost in any case', () => {
    const keys = [
      'vocals',
      'drums',
      'bass',
      'guitar',
      'keyboard',
      'strings',
      'synth',
      'backingVocals',
      'percussion',
    ];
    for (const keyOf of [
      (key: string) => key,
      (key: string) => `${key}Url`,
      (key: string) => `${key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}_url`,
      (key: string) => key.toUpperCase(),
    ]) {
      const files = Object.fromEntries(keys.map((key) => [keyOf(key), url(key)]));
      for (const body of [files, { data: files }, { data: { response: files } }, { stems: files }]) {
        expect(Object.values(stems({ taskId: 't1', ...body })).sort()).toEqual([...keys].sort());
      }
    }
  });

  it.each([
    ['under url', { taskId: 't1', url: url('a.wav') }],
    ['under audio', { code: 200, data: { taskId: 't1', audio: url('a.wav') } }],
    ['as data itself', { taskId: 't1', data: url('a.wav') }],
    ['as a list of one', { taskId: 't1', data: [url('a.wav')] }],
    [
      'beside the song and its picture',
      { taskId: 't1', image: url('a.png'), url: url('a.mp3'), file: url('a.wav') },
    ],
    ['as the song’s own address', { taskId: 't1', data: [{ id: 'a1', audio_url: url('a.wav') }] }],
  ])('a lone WAV %s', (_, body) => {
    expect(readMusicCallback(body, 'wav')).toMatchObject({
      taskId: 't1',
      stage: 'complete',
      result: { songs: [], wavUrl: url('a.wav') },
    });
  });

  it('an address as the whole body', () => {
    expect(readMusicCallback(` ${url('a.wav')}\n`, 'wav').result.wavUrl).toBe(url('a.wav'));
  });

  it.each([
    ['under url', { taskId: 't1', url: url('a.mp4') }],
    ['as data itself', { taskId: 't1', data: url('a.mp4') }],
    ['beside the song', { taskId: 't1', audio_url: url('a.mp3'), result: url('a.mp4'), cover: url('a.png') }],
  ])('a lone music video %s', (_, body) => {
    expect(readMusicCallback(body, 'video')).toMatchObject({
      stage: 'complete',
      result: { songs: [], videoUrl: url('a.mp4') },
    });
  });

  it('pictures, songs and words without a name', () => {
    expect(readMusicCallback({ data: [url('1.png'), url('2.png')] }, 'images').result.images).toEqual([
      url('1.png'),
      url('2.png'),
    ]);
    expect(readMusicCallback({ data: [url('1.mp3'), url('2.mp3')] }, 'songs').result.songs).toEqual([
      { audioUrl: url('1.mp3') },
      { audioUrl: url('2.mp3') },
    ]);
    expect(
      readMusicCallback({ taskId: 't1', data: ['[Verse]\nRain', '[Verse]\nSnow'] }, 'lyrics').result.lyrics,
    ).toEqual([{ text: '[Verse]\nRain' }, { text: '[Verse]\nSnow' }]);
  });

  it.each(['songs', 'wav', 'video', 'images', 'stems'] as const)(
    'an address of something else is no result of %s',
    (kind) => {
      for (const address of [
        { detailUrl: url('t1') },
        { link: url('t1.html') },
        { result: url('t1.json') },
        { callBackUrl: url('t1') },
        { param: { url: url('t1') } },
      ]) {
        expect(readMusicCallback({ code: 200, data: { taskId: 't1', ...address } }, kind)).toMatchObject({
          stage: 'unknown',
          result: nothing,
        });
      }
    },
  );

  it('an early stage of a song stays early', () => {
    const body = { data: { callbackType: 'text', task_id: 't1', data: [{ id: 'a1', prompt: 'La' }] } };
    expect(readMusicCallback(body, 'songs').stage).toBe('text');
  });

  it('what is none of it says nothing, and only its keys are told', () => {
    const body = {
      taskId: 't1',
      secret: 'a prompt',
      files: { left: 'ftp://c.example/l', list: [{ deep: 1 }] },
    };
    expect(readMusicCallback(body, 'stems').stage).toBe('unknown');
    expect(keysOf(body)).toEqual([
      'taskId: string',
      'secret: string',
      'files: object',
      'files.left: string',
      'files.list: list',
      'list.deep: number',
    ]);
  });
});

describe('failures', () => {
  const failed = (code: number, msg: string, callbackType = 'error') => ({
    code,
    msg,
    data: { callbackType, task_id: 't1', data: null },
  });
  it.each([
    [
      'a copyrighted lyric',
      failed(400, 'Lyrics contain copyrighted material'),
      'blocked',
      '400',
      'Lyrics contain copyrighted material',
    ],
    ['a bad parameter', failed(400, 'Parameter style missing'), 'invalid', '400', 'Parameter style missing'],
    [
      'an upload that is somebody else’s',
      failed(413, 'matches existing work'),
      'blocked',
      '413',
      'matches existing work',
    ],
    ['a file that cannot be fetched', failed(451, 'download failed'), 'unfetched', '451', 'download failed'],
    ['a failed generation', failed(501, 'generation failed'), 'not-made', '501', 'generation failed'],
    [
      'a refunded one',
      failed(531, 'failed, credits refunded'),
      'refunded',
      '531',
      'failed, credits refunded',
    ],
    ['a timeout', failed(408, 'timeout'), 'timeout', '408', 'timeout'],
    ['a bad code with "complete"', failed(501, 'no', 'complete'), 'not-made', '501', 'no'],
    ['a good code with "error"', failed(200, 'no', 'error'), 'unavailable', undefined, 'no'],
    [
      'a status word',
      { data: { taskId: 't1', status: 'SENSITIVE_WORD_ERROR', errorMessage: 'x' } },
      'blocked',
      'SENSITIVE_WORD_ERROR',
      'x',
    ],
    [
      'another status word',
      { data: { taskId: 't1', status: 'GENERATE_AUDIO_FAILED' } },
      'unavailable',
      'GENERATE_AUDIO_FAILED',
      undefined,
    ],
    ['a flag', { data: { taskId: 't1', successFlag: 3, errorCode: 402 } }, 'credits', '402', undefined],
    [
      'an error object',
      { taskId: 't1', error: { message: 'Insufficient credits', code: 'x' } },
      'credits',
      'x',
      'Insufficient credits',
    ],
  ])('%s', (_, body, code, gatewayCode, message) => {
    const callback = readMusicCallback(body);
    expect(callback).toMatchObject({ taskId: 't1', stage: 'failed', failure: { code } });
    if (gatewayCode !== undefined && gatewayCode !== 'x')
      expect(callback.failure?.gatewayCode).toBe(gatewayCode);
    expect(callback.failure?.message).toBe(message);
  });

  it.each([
    [
      'a complete song task without songs',
      { code: 200, data: { callbackType: 'complete', task_id: 't1', data: [] } },
    ],
    ['a WAV that is null', { code: 200, msg: 'success', data: { task_id: 't1', audioWavUrl: null } }],
    ['a video that is empty', { code: 200, data: { task_id: 't1', video_url: '' } }],
    ['stems that are null', { code: 200, data: { task_id: 't1', vocal_removal_info: null } }],
  ])('%s says complete and holds nothing: nonsense', (_, body) => {
    expect(readMusicCallback(body)).toMatchObject({
      taskId: 't1',
      stage: 'failed',
      failure: { code: 'nonsense' },
    });
  });

  it('lyrics whose every variant failed say why', () => {
    const data = [{ text: '', status: 'failed', errorMessage: 'Sensitive content' }];
    expect(
      readMusicCallback({ code: 200, data: { callbackType: 'complete', taskId: 't1', data } }),
    ).toMatchObject({
      stage: 'failed',
      failure: { code: 'blocked', message: 'Sensitive content' },
    });
  });
});

describe('garbage', () => {
  const cyclic: Record<string, unknown> = { data: {} };
  cyclic.data = cyclic;
  const throwing = {
    get data() {
      throw new Error('no');
    },
  };
  it.each([
    undefined,
    null,
    0,
    Number.NaN,
    true,
    '',
    'null',
    'hello',
    '{"half',
    '[]',
    {},
    [],
    [[[]]],
    () => 1,
    Symbol('x'),
    10n,
    new Date(0),
    new Map([['data', 1]]),
    cyclic,
    throwing,
    '['.repeat(1_000_000),
    Object.create(null),
    { __proto__: null },
    JSON.parse('{"__proto__": {"taskId": 1}, "constructor": {"prototype": {}}}'),
  ])('%# says nothing, and throws nothing', (body) => {
    expect(readMusicCallback(body)).toMatchObject({ stage: 'unknown', result: nothing });
  });
});

describe('a callback that is written as documented', () => {
  const texts = fc.constantFrom(
    'Rain',
    ' rain ',
    '',
    'https://cdn.example/a',
    'x'.repeat(1_200),
    '12',
    7,
    null,
    true,
    -1,
  );
  const names = [...Object.keys(item), 'source_image_url'].filter((name) => name !== 'id');
  const members = fc.record(Object.fromEntries(names.map((name) => [name, texts])), { requiredKeys: [] });
  const id = fc.constantFrom('a1', 'a2', ' a1', '', 3, null, 'x'.repeat(600));
  const songs = fc.array(
    fc.tuple(members, id).map(([rest, audioId]) => ({ ...item, ...rest, id: audioId })),
    { maxLength: 3 },
  );
  const body = fc.record({
    code: fc.constantFrom(200, '200', 500, null),
    msg: texts,
    data: fc.record({
      callbackType: fc.constantFrom('text', 'first', 'complete', 'error', 'COMPLETE', null),
      task_id: fc.constantFrom('t1', ' t1', '', 5, null),
      data: songs,
    }),
  });
  it('is read as any other is', () => {
    fc.assert(
      fc.property(body, fc.constantFrom(undefined, 'songs' as const), (said, expected) => {
        // A member that counts as missing is not documented.
        expect(readMusicCallback(said, expected)).toEqual(
          readMusicCallback({ ...said, other: null }, expected),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  const strange = fc.constantFrom<unknown>(
    null,
    [],
    [item],
    { ...item, error: 'no' },
    { ...item, response: { status: 'failed' } },
    { ...item, prompt: { state: 'error' } },
  );
  const withStrangeSongs = fc
    .tuple(body, fc.array(strange, { maxLength: 2 }), fc.constantFrom(1, 6))
    .map(([said, others, times]) => ({
      ...said,
      data: {
        ...said.data,
        data: Array.from({ length: times }, () => [...said.data.data, ...others]).flat(),
      },
    }));
  it('tells its stage without being read whole', () => {
    fc.assert(
      fc.property(fc.oneof(body, withStrangeSongs, fc.json()), (said) => {
        const text = typeof said === 'string' ? said : JSON.stringify(said);
        expect(readMusicStage(text)).toBe(readMusicCallback(text).stage);
      }),
      { numRuns: 3_000 },
    );
  });
});
