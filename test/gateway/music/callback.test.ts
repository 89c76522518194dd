import { describe, expect, it } from 'vitest';
import { keysOf, readMusicCallback } from '../../../src/gateway/music/callback.ts';

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
      'as in the public API’s callback',
      { code: 200, msg: 'ok', data: { callbackType: 'complete', task_id: 't1', data: [item] } },
    ],
    [
      'as in the public API’s record',
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
      'with an echo of the request',
      { taskId: 't1', request: { uploadUrl: MP3, audioUrl: 'https://other.example/x.mp3' }, data: [item] },
    ],
    [
      'as JSON text',
      JSON.stringify({ code: '200', data: { callbackType: 'complete', task_id: 't1', data: [item] } }),
    ],
  ])('%s', (_, body) => {
    expect(readMusicCallback(body)).toEqual({
      taskId: 't1',
      stage: 'complete',
      result: { ...nothing, songs: [song] },
    });
  });

  it('falls back to the source URLs', () => {
    const { result } = readMusicCallback({ data: [{ ...item, audio_url: '', stream_audio_url: null }] });
    expect(result.songs).toEqual([expect.objectContaining({ audioUrl: 'https://source.example/a1.mp3' })]);
    expect(result.songs[0]).not.toHaveProperty('streamUrl');
  });

  it('has only http and https URLs', () => {
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

  it('keeps two songs separate, in order', () => {
    const { result } = readMusicCallback({
      data: { data: [item, { ...item, id: 'a2', audio_url: `${MP3}2` }] },
    });
    expect(result.songs.map(({ audioId }) => audioId)).toEqual(['a1', 'a2']);
  });
});

describe('stages', () => {
  const early = { id: 'a1', prompt: 'La', title: 'Rain', audio_url: '', stream_audio_url: '' };
  it('text: the lyrics, before any audio', () => {
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
    ['songs with audio are complete', [item], 'complete'],
    [
      'songs with only a stream are the first stage',
      [{ id: 'a1', stream_audio_url: 'https://cdn.example/a1' }],
      'first',
    ],
    ['songs without audio are the text stage', [early], 'text'],
    ['no songs are unknown', [], 'unknown'],
  ])('without a callbackType, %s', (_, data, stage) => {
    expect(readMusicCallback({ code: 200, data: { task_id: 't1', data } }).stage).toBe(stage);
  });

  it('success in an envelope does not make an early stage the last', () => {
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
      'as in the public API’s record',
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
      'with the names of the contract',
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

  it('stems in originData, unless the stems themselves are included', () => {
    const originData = ['Vocals', 'Backing_Vocals'].map((name) => ({
      duration: 245.6,
      audio_url: `https://c.example/${name}.mp3`,
      stem_type_group_name: name,
      id: name,
    }));
    const body = (info: object) => ({
      code: 200,
      data: { taskId: 't1', successFlag: 'SUCCESS', response: { originUrl: null, originData, ...info } },
    });
    expect(readMusicCallback(body({ vocalUrl: null }))).toMatchObject({
      stage: 'complete',
      result: {
        songs: [],
        stems: [
          { name: 'vocals', url: 'https://c.example/Vocals.mp3' },
          { name: 'backing vocals', url: 'https://c.example/Backing_Vocals.mp3' },
        ],
      },
    });
    expect(readMusicCallback(body({ vocalUrl: 'https://c.example/v' })).result.stems).toEqual([
      { name: 'vocals', url: 'https://c.example/v' },
    ]);
  });

  it('all stems, known or not, named in words', () => {
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

describe('unknown results', () => {
  const url = (name: string) => `https://c.example/${name}`;

  it.each([
    { detailUrl: url('t1') },
    { link: url('t1.html') },
    { result: url('t1.json') },
    { callBackUrl: url('t1') },
    { param: { audioUrl: url('t1') } },
  ])('are not mistaken for files: %j', (address) => {
    expect(readMusicCallback({ code: 200, data: { taskId: 't1', ...address } })).toMatchObject({
      stage: 'unknown',
      result: nothing,
    });
  });

  it('next to stems are not stems', () => {
    const { result } = readMusicCallback({
      taskId: 't1',
      data: { drumsUrl: url('d'), originUrl: url('o'), audioUrl: url('a'), imageUrl: url('i') },
      callBackUrl: url('callback'),
    });
    expect(result).toEqual({ ...nothing, stems: [{ name: 'drums', url: url('d') }] });
  });

  it('are unknown, and only their keys are logged', () => {
    const body = {
      taskId: 't1',
      secret: 'a prompt',
      files: { left: 'ftp://c.example/l', list: [{ deep: 1 }] },
    };
    expect(readMusicCallback(body).stage).toBe('unknown');
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
      'copyright',
      '400',
      'Lyrics contain copyrighted material',
    ],
    ['a bad parameter', failed(400, 'Parameter style missing'), 'invalid', '400', 'Parameter style missing'],
    [
      'an upload of existing work',
      failed(413, 'matches existing work'),
      'copyright',
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
    ['a server error', failed(500, 'Internal error'), 'not-made', '500', 'Internal error'],
    ['a timeout', failed(408, 'timeout'), 'not-made', '408', 'timeout'],
    [
      'the name of an artist',
      failed(400, 'Song Description contained artist name: metallica'),
      'artist',
      '400',
      'Song Description contained artist name: metallica',
    ],
    [
      'a word that is not allowed',
      failed(500, 'Prompt contains sensitive words'),
      'blocked',
      '500',
      'Prompt contains sensitive words',
    ],
    [
      'an upload that could not be fetched',
      failed(501, "Can't fetch the uploaded audio."),
      'unfetched',
      '501',
      "Can't fetch the uploaded audio.",
    ],
    [
      'lyrics that were all refused',
      {
        code: 200,
        data: {
          callbackType: 'complete',
          taskId: 't1',
          data: [{ text: '', title: '', status: 'failed', errorMessage: 'Unable to generate lyrics' }],
        },
      },
      'not-made',
      undefined,
      'Unable to generate lyrics',
    ],
    ['a bad code with "complete"', failed(501, 'no', 'complete'), 'not-made', '501', 'no'],
    ['a good code with "error"', failed(200, 'no', 'error'), 'not-made', undefined, 'no'],
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
      'not-made',
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
  ])('%s counts as nonsense', (_, body) => {
    expect(readMusicCallback(body)).toMatchObject({
      taskId: 't1',
      stage: 'failed',
      failure: { code: 'nonsense' },
    });
  });

  it('lyrics report a reason if every variant failed', () => {
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
    '['.repeat(1_000_000),
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    `${'{"data":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
    JSON.parse('{"__proto__": {"taskId": 1}, "constructor": {"prototype": {}}}'),
  ])('%# has no result and does not throw', (body) => {
    expect(readMusicCallback(body)).toMatchObject({ stage: 'unknown', result: nothing });
  });
});
