import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StartRequest } from '../../src/core/bot/start-request.ts';
import { dayOf } from '../../src/core/util/clock.ts';
import type { Route } from '../../src/core/work.ts';
import { PLANS } from '../../src/jobs/route-plans.ts';
import { dashScopeError, taskIn } from '../servers/public/dashscope.ts';
import type { ServiceAnswer } from '../servers/public/service.ts';
import { sunoAnswer } from '../servers/public/suno.ts';
import { openPublicWorld, type PublicWorld, TAKE as take } from './public-world.ts';
import { advanceOnce, SONG } from './world.ts';

let open: PublicWorld;
beforeEach(async () => {
  open = await openPublicWorld();
});
afterEach(async () => {
  expect([...open.services.music.refused, ...open.services.media.refused]).toEqual([]);
  await open[Symbol.asyncDispose]();
});

type Failing = Exclude<Route, 'answer' | 'gen.image'>;

const audio = { name: 'tune.mp3', bytes: 1_000, contentType: 'audio/mpeg', seconds: 60 };
const image = { name: 'fox.png', bytes: 1_000, contentType: 'image/png' };

const WORK = {
  'music.generate': SONG.work,
  'music.extend': {
    route: 'music.extend',
    request: { audioId: 'audio', model: 'V5', defaultParamFlag: false },
  },
  'music.generateLyrics': { route: 'music.generateLyrics', request: { prompt: 'rain' } },
  'music.generateCover': { route: 'music.generateCover', request: { taskId: 'task' } },
  'music.uploadCover': {
    route: 'music.uploadCover',
    audio,
    request: { customMode: false, instrumental: false, model: 'V5', prompt: 'rain' },
  },
  'music.uploadExtend': {
    route: 'music.uploadExtend',
    audio,
    request: { model: 'V5', defaultParamFlag: false },
  },
  'music.addVocals': {
    route: 'music.addVocals',
    audio,
    request: { prompt: 'la', title: 'Rain', style: 'lofi', negativeTags: '' },
  },
  'music.addInstrumental': {
    route: 'music.addInstrumental',
    audio,
    request: { title: 'Rain', tags: 'lofi', negativeTags: '' },
  },
  'music.vocalRemoval': { route: 'music.vocalRemoval', request: { ...take, type: 'split_stem' } },
  'music.wavGenerate': { route: 'music.wavGenerate', request: take },
  'music.mp4Generate': { route: 'music.mp4Generate', request: take },
  'music.timestampedLyrics': {
    route: 'music.timestampedLyrics',
    request: take,
    song: { title: 'Rain', artist: 'Ada' },
  },
  'music.generatePersona': {
    route: 'music.generatePersona',
    request: { ...take, name: 'Ada', description: 'warm' },
  },
  'media.image': { route: 'media.image', request: { model: 'qwen-image', prompt: 'a fox' } },
  'media.video': { route: 'media.video', image, request: { model: 'wan2.6-i2v', prompt: 'a lighthouse' } },
} as const satisfies Record<Failing, StartRequest['work']>;

/** Scripts the answer of the service behind a route. */
function script(route: Failing, path: string, answer: ServiceAnswer): void {
  const { music, media } = open.services;
  (route.startsWith('music') ? music : media).next(path, answer);
}

async function failAtCallback(route: Failing, body: object): Promise<string> {
  const job = await open.run(WORK[route]);
  await open.world.callback(job, body);
  await open.advance(job);
  return open.endOf(job);
}

async function failAtAnswer(route: Failing, answer: ServiceAnswer): Promise<string> {
  script(route, '', answer);
  return open.endOf(await open.run(WORK[route]));
}

const AGAIN = 'Press Again, or rephrase it.';
const FIXED = {
  'music.generateCover': 'create cover art for it',
  'music.vocalRemoval': 'split it into stems',
  'music.wavGenerate': 'convert it to WAV',
  'music.mp4Generate': 'create its music video',
} as const;
const MADE = ['music.generate', 'music.extend', 'music.generateLyrics'] as const;
const UPLOADS = [
  'music.uploadCover',
  'music.uploadExtend',
  'music.addVocals',
  'music.addInstrumental',
] as const;

/** The callbacks of a failed task: https://docs.sunoapi.org/suno-api/generate-music-callbacks and the page of each route. */
const failed = (code: number, msg: string) => ({
  code,
  msg,
  data: { callbackType: 'error', task_id: 'task-1', data: null },
});

interface Way {
  readonly way: string;
  readonly routes: readonly Failing[];
  readonly body: object;
  readonly reads: string;
}

const each = (
  ways: readonly (readonly [way: string, body: object, reads: string])[],
  routes: readonly Failing[],
): Way[] => ways.map(([way, body, reads]) => ({ way, routes, body, reads }));

const UNEXPLAINED = [
  ['code 400', failed(400, 'Music generation failed')],
  ['code 500', failed(500, 'Internal Error')],
  ['code 501', failed(501, 'Audio generation failed')],
  ['code 408', failed(408, 'timeout')],
  ['code 200 with “error”', failed(200, 'Generation failed')],
] as const;

const CALLBACKS: readonly Way[] = [
  ...each(
    UNEXPLAINED.map(([way, body]) => [way, body, `The service couldn't create this. ${AGAIN}`] as const),
    [...MADE, ...UPLOADS],
  ),
  ...Object.entries(FIXED).flatMap(([route, does]) =>
    each(
      UNEXPLAINED.map(
        ([way, body]) =>
          [
            way,
            body,
            `The service received this song, but couldn't ${does}. Press Again, or try another take.`,
          ] as const,
      ),
      // Sound: the keys of FIXED are routes.
      [route as Failing],
    ),
  ),
  ...each(
    [
      [
        'copyrighted lyrics',
        failed(400, 'Lyrics contained copyrighted material'),
        'The service declined this because the lyrics are copyrighted. Use your own words.',
      ],
      [
        'a word that is not allowed',
        failed(400, 'Your prompt contains sensitive words'),
        'The service declined this because of its content rules. Rephrase it and try again.',
      ],
    ],
    MADE,
  ),
  ...each(
    [
      [
        'the name of an artist',
        failed(400, 'Song Description contained artist name: metallica'),
        'The service declined this because it names an artist. Describe the style instead.',
      ],
      [
        'a refund',
        failed(531, 'Generation failed due to an issue. Your credits have been refunded.'),
        `The service couldn't create this and refunded the credits. ${AGAIN}`,
      ],
    ],
    [...MADE, ...UPLOADS],
  ),
  ...each(
    [
      [
        'a file that could not be fetched',
        failed(451, 'Unauthorized'),
        "The service couldn't download a file from this bot. Ask the bot's operator to check that PUBLIC_URL is reachable from outside, then press Again.",
      ],
      [
        'a file that could not be fetched, in words',
        failed(500, "Can't fetch the uploaded audio."),
        "The service couldn't download a file from this bot. Ask the bot's operator to check that PUBLIC_URL is reachable from outside, then press Again.",
      ],
      [
        'an existing work',
        failed(413, 'Uploaded audio matches existing work of art.'),
        'The service declined this because the recording or the lyrics match an existing work. Use your own recording and lyrics.',
      ],
    ],
    UPLOADS,
  ),
  ...each(
    [
      [
        'every variant refused',
        {
          code: 200,
          msg: 'All generated successfully.',
          data: {
            callbackType: 'complete',
            taskId: 'task-1',
            data: [{ text: '', title: '', status: 'failed', errorMessage: 'Lyrics generation failed' }],
          },
        },
        `The service couldn't create this. ${AGAIN}`,
      ],
    ],
    ['music.generateLyrics'],
  ),
  ...each(
    [
      [
        'no stems',
        { code: 200, msg: 'success', data: { task_id: 'task-1', vocal_removal_info: null } },
        "The service's answer contained no result. Press Again to retry.",
      ],
    ],
    ['music.vocalRemoval'],
  ),
];

describe('a task that the gateway reports as failed', () => {
  const cases = CALLBACKS.flatMap(({ routes, ...way }) => routes.map((route) => ({ ...way, route })));
  it.each(cases)('$route with $way costs nothing and says why', async ({ route, body, reads }) => {
    expect(await failAtCallback(route, body)).toBe(`free: ${reads}`);
  });

  it('logs its code, but not the words of the gateway', async () => {
    await failAtCallback('music.generate', failed(400, 'Song Description contained artist name: metallica'));
    const { log } = open.world;
    const line = log.lines.find(({ sentence }) => sentence === 'The gateway reported a failure');
    expect(line?.fields).toMatchObject({ code: 'artist', gatewayCode: '400' });
    expect(JSON.stringify(log.lines)).not.toContain('metallica');
  });
});

/** https://www.alibabacloud.com/help/en/model-studio/error-code */
describe('a video task', () => {
  it.each([
    [
      'FAILED',
      {
        code: 'IPInfringementSuspect',
        message: 'Input data is suspected of being involved in IP infringement.',
      },
      'The service declined this because of its content rules. Rephrase it and try again.',
    ],
    [
      'FAILED',
      { code: 'DataInspectionFailed', message: 'Input data may contain inappropriate content.' },
      'The service declined this because of its content rules. Rephrase it and try again.',
    ],
    [
      'FAILED',
      {
        code: 'InvalidParameter.DataInspection',
        message: 'Unable to download the media resource during the data inspection process.',
      },
      "The service couldn't download a file from this bot. Ask the bot's operator to check that PUBLIC_URL is reachable from outside, then press Again.",
    ],
    [
      'FAILED',
      { code: 'InternalError', message: 'An internal error has occured, please try again later.' },
      `The service couldn't create this. ${AGAIN}`,
    ],
    ['FAILED', {}, `The service couldn't create this. ${AGAIN}`],
    ['CANCELED', {}, 'The service cancelled this before it was finished. Press Again to retry.'],
  ])('that is %s with %j costs nothing and says why', async (status, output, reads) => {
    script('media.video', '/tasks/', { body: taskIn(status, output) });
    expect(await open.endOf(await open.run(WORK['media.video']))).toBe(`free: ${reads}`);
  });

  it('in a state outside the documentation is still running', async () => {
    const { world, dependencies } = open;
    const job = await world.start({ work: WORK['media.video'], title: 'media.video' });
    const began = world.clock.now();
    while (world.clock.now() - began < 15 * 60_000) {
      script('media.video', '/tasks/', { body: taskIn('PRE-PROCESSING') });
      const next = await advanceOnce(dependencies, job);
      world.clock.advance(Math.max(1, (next ?? 0) - world.clock.now()));
    }
    expect((await world.read(job)).state).toBe('waiting');
    script('media.video', '/tasks/', {
      body: taskIn('SUCCEEDED', { video_url: 'https://dashscope.example/film.mp4' }),
    });
    await open.advance(job);
    expect((await world.read(job)).state).toBe('delivered');
  });
});

describe('an image', () => {
  const answerWith = (content: object): ServiceAnswer => ({
    body: { output: { choices: [{ message: { role: 'assistant', content: [content] } }] }, request_id: 'r' },
  });

  it.each([
    ['at a URL', { text: 'Here: ![a fox](https://dashscope.example/fox.png)' }, { type: 'remote' }],
    ['in a data URL', { text: '![a fox](data:image/png;base64,cG5n)' }, { type: 'stored' }],
  ])('in Markdown, %s, is shown', async (_, content, source) => {
    script('media.image', '', answerWith(content));
    const job = await open.run(WORK['media.image']);
    expect(await open.world.read(job)).toMatchObject({ state: 'delivered', result: { images: [source] } });
    expect(open.world.message()?.media).toMatchObject([{ kind: 'image', source: { type: 'stored' } }]);
  });

  it('in a data URL gets the mark of its request', async () => {
    const { media } = open.dependencies;
    const marks: unknown[] = [];
    const keepBytes: typeof media.keepBytes = (bytes, options) => {
      marks.push(options.mark);
      return media.keepBytes(bytes, options);
    };
    Object.assign(open.dependencies, { media: { ...media, keepBytes } });
    script('media.image', '', answerWith({ image: 'data:image/png;base64,cG5n' }));
    const job = await open.run(WORK['media.image']);
    expect(marks).toEqual([{ job, model: 'qwen-image', day: dayOf((await open.world.read(job)).createdAt) }]);
  });
});

describe('an answer', () => {
  const NO_RESULT =
    "The service answered without a result. It may charge for this, so I didn't ask twice. Pressing Again sends a new request, which may be charged too.";
  const uncertain = (reason: string) =>
    `${reason}, so I don't know whether it accepted this request. To be safe, I didn't send it twice. Pressing Again sends a new request, which may be charged too.`;

  it.each([
    ['music.timestampedLyrics', sunoAnswer(200, 'success'), NO_RESULT],
    ['music.generatePersona', sunoAnswer(200, 'success'), NO_RESULT],
    [
      'media.image',
      { body: { output: { choices: [{ message: { content: [{ text: 'no' }] } }] }, request_id: 'r' } },
      NO_RESULT,
    ],
    ['media.video', { body: { output: {}, request_id: 'r' } }, NO_RESULT],
    ['media.image', dashScopeError(500, 'InternalError', 'x'), uncertain('The service reported an error')],
    ['media.video', { status: 504, body: undefined }, uncertain('The service took too long to answer')],
  ] as const)(
    'for %s that may have been paid for does not promise that it was free: %j',
    async (route, answer, reads) => {
      expect(await failAtAnswer(route, answer)).toBe(`uncertain: ${reads}`);
    },
  );

  it.each([
    [
      'music.wavGenerate',
      sunoAnswer(400, 'bad'),
      "The service received this song, but couldn't convert it to WAV. Press Again, or try another take.",
    ],
    [
      'media.image',
      dashScopeError(400, 'IPInfringementSuspect', 'Suspected.'),
      'The service declined this because of its content rules. Rephrase it and try again.',
    ],
    [
      'media.image',
      dashScopeError(400, 'Arrearage', 'Access denied.'),
      "The service is out of credits. Ask the bot's operator to top it up, then press Again.",
    ],
    [
      'media.video',
      {
        status: 400,
        body: { code: 'InvalidParameter.FileDownload', message: 'Download the media resource timed out.' },
      },
      "The service couldn't download a file from this bot. Ask the bot's operator to check that PUBLIC_URL is reachable from outside, then press Again.",
    ],
    [
      'music.uploadCover',
      sunoAnswer(400, 'Unable to fetch the file from uploadUrl'),
      "The service couldn't download a file from this bot. Ask the bot's operator to check that PUBLIC_URL is reachable from outside, then press Again.",
    ],
    [
      'music.generate',
      sunoAnswer(429, 'The current credits are insufficient.'),
      "The service is out of credits. Ask the bot's operator to top it up, then press Again.",
    ],
  ] as const)('that refuses %s costs nothing and says why: %j', async (route, answer, reads) => {
    expect(await failAtAnswer(route, answer)).toBe(`free: ${reads}`);
  });
});

/** Answers to a submission that name a cause, or none. */
const ANSWERS: readonly ServiceAnswer[] = [
  sunoAnswer(400, 'bad request'),
  sunoAnswer(401, 'unauthorized'),
  sunoAnswer(402, 'insufficient credits'),
  sunoAnswer(404, 'not found'),
  sunoAnswer(409, 'record already exists'),
  sunoAnswer(413, 'too long'),
  sunoAnswer(400, 'Song Description contained artist name: metallica'),
  sunoAnswer(422, 'Your prompt contains sensitive words'),
  dashScopeError(400, 'DataInspectionFailed', 'Unfit.'),
  dashScopeError(400, 'Arrearage', 'Overdue.'),
  dashScopeError(403, 'AccessDenied', 'No.'),
];

describe('every refusal on every route', () => {
  // Sound: the keys of WORK are its routes.
  it.each(Object.keys(WORK) as Failing[])('on %s costs nothing, and its text fits', async (route) => {
    for (const answer of ANSWERS) {
      // A 409 for a voice is a result.
      if (route === 'music.generatePersona' && JSON.stringify(answer.body).includes('409')) continue;
      const text = await failAtAnswer(route, answer);
      expect(text, JSON.stringify(answer)).toMatch(/^free: /);
      expect(text).not.toMatch(/lost the connection|unavailable|couldn't be reached/);
      if (PLANS[route].fixed) expect(text).not.toMatch(/reword|change it|shorten/i);
    }
  });
});
