import { describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../../src/gateway/client.ts';
import { MUSIC_MODELS } from '../../../src/gateway/music/requests.ts';
import { gatewayAccounts } from '../../../src/gateway/routes.ts';
import { ROUTE_CASES } from '../route-cases.ts';
import { API_KEY, errorOf, QUESTION } from '../support.ts';

interface Sent {
  method: string;
  /** With the query. */
  path: string;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every dialect, searched for forbidden members
  body: any;
}

/** Returns all requests of a client and ignores their results. */
async function requestsOf(...uses: ((gateway: Gateway) => Promise<unknown>)[]): Promise<Sent[]> {
  const sent: Sent[] = [];
  const gateway = createGateway({
    accounts: gatewayAccounts({ baseUrl: 'http://gateway.example', apiKey: API_KEY }),
    fetch: async (url, { method, headers, body }) => {
      const path = url.slice('http://gateway.example'.length);
      sent.push({ method, path, headers, body: body === undefined ? undefined : JSON.parse(body) });
      return Response.json({});
    },
    now: () => 0,
    elapsed: () => 0,
    random: () => 0,
    sleep: async () => undefined,
  });
  for (const use of uses) await use(gateway).catch(() => undefined);
  return sent;
}

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _event of stream);
}

/** Request members of all other dialects. */
const strangers = {
  messages: [{ role: 'user', content: 'hi' }],
  contents: [{ parts: [{ text: 'hi' }] }],
  input: { messages: [] },
  generationConfig: { responseModalities: ['IMAGE'] },
  stream: true,
  alt: 'json',
};
const picture = { type: 'image' as const, mimeType: 'image/png', data: 'AAAA' };
const conversation = {
  ...QUESTION,
  ...strangers,
  system: 'Be brief.',
  turns: [
    { role: 'assistant' as const, parts: [{ type: 'text' as const, text: 'Hello.' }] },
    ...QUESTION.turns,
    { role: 'user' as const, parts: [picture] },
  ],
};
const drawing = { ...conversation, model: 'picture-model' };
const song = {
  ...strangers,
  customMode: true,
  instrumental: true,
  model: 'V5' as const,
  style: 'lofi',
  title: 'Rain',
  callBackUrl: 'https://bot.example/callback',
};
const tools = [
  { name: 'rain', description: 'd', parameters: { type: 'object', properties: {}, required: [] } },
];

const allRequests = await requestsOf(
  ...ROUTE_CASES.filter(({ route }) => route !== 'gen/image').map(({ call }) => call),
  ({ music }) => music.generate(song),
  ({ music }) => music.uploadCover({ ...song, uploadUrl: 'https://bot.example/a.mp3' }),
  ({ media }) => media.createImage({ ...strangers, model: 'canvas', prompt: 'rain' }),
  ({ media }) => media.createVideo({ ...strangers, model: 'reel', prompt: 'rain' }),
  ({ media }) => media.queryVideo('v-1'),
  ({ chat }) => drain(chat.stream(conversation)),
  ({ msg }) => msg.complete(conversation),
  ({ gen }) => drain(gen.stream(conversation)),
  ({ gen }) => gen.generateImage(drawing),
  ({ gen }) => gen.callTools({ ...conversation, tools }),
  ({ gen }) => gen.think(conversation),
  ({ models }) => models.refresh(),
);

const family = ({ path }: Sent) =>
  path.replace('/v1beta/', '/gen/').replace('/v1/media/', '/media/').split('/')[1];
const ofFamilies = (...families: string[]) =>
  allRequests.filter((sent) => families.includes(family(sent) ?? ''));
const contains = (sent: Sent, text: string) => JSON.stringify(sent.body ?? null).includes(`"${text}"`);

/** Each mistake of the contract, with its section, and the requests that make it. */
const MISTAKES: [section: string, mistake: string, among: Sent[], makes: (sent: Sent) => boolean][] = [
  [
    'Authentication',
    'a key header other than Bearer on music, media, chat, gen and /v1beta',
    ofFamilies('music', 'media', 'chat', 'gen'),
    ({ headers }) => headers.authorization !== `Bearer ${API_KEY}` || 'x-api-key' in headers,
  ],
  [
    'Authentication',
    'a Bearer header on msg',
    ofFamilies('msg'),
    ({ headers }) => 'authorization' in headers || headers['x-api-key'] !== API_KEY,
  ],
  [
    'Authentication',
    'no vendor-version on msg',
    ofFamilies('msg'),
    ({ headers }) => headers['vendor-version'] !== '2023-06-01',
  ],
  [
    'Endpoints',
    'a POST that is not sent as JSON',
    allRequests.filter(({ method }) => method === 'POST'),
    ({ headers }) => headers['content-type'] !== 'application/json',
  ],
  ['Errors 1', 'a model list without a namespace', allRequests, ({ path }) => path.startsWith('/v1/models')],
  [
    'Errors 2',
    'a gen stream without alt=sse',
    allRequests.filter(({ path }) => path.includes(':stream')),
    ({ path }) => !path.endsWith('?alt=sse'),
  ],
  [
    'Errors 2',
    'a gen image without responseModalities TEXT and IMAGE',
    allRequests.filter(({ path }) => path.includes('picture-model')),
    ({ body }) => !['TEXT', 'IMAGE'].every((kind) => body.generationConfig.responseModalities.includes(kind)),
  ],
  [
    'Rules 1',
    'chat messages on media',
    ofFamilies('media'),
    ({ body }) => body !== undefined && 'messages' in body,
  ],
  ['Rules 2', 'chat messages on music', ofFamilies('music'), (sent) => contains(sent, 'messages')],
  [
    'Rules 2',
    'chat messages on gen',
    ofFamilies('gen'),
    (sent) => contains(sent, 'messages') || contains(sent, 'content'),
  ],
  [
    'Rules 2',
    'gen contents or images on another family',
    ofFamilies('music', 'media', 'chat', 'msg'),
    (sent) =>
      ['contents', 'inlineData', 'generationConfig', 'responseModalities'].some((word) =>
        contains(sent, word),
      ),
  ],
  [
    'Chat-style request',
    'image blocks of msg on chat',
    ofFamilies('chat'),
    (sent) => contains(sent, 'source'),
  ],
  [
    'Messages-style request',
    'image parts of chat on msg',
    ofFamilies('msg'),
    (sent) => contains(sent, 'image_url'),
  ],
  ['Messages-style request', 'a system turn on msg', ofFamilies('msg'), (sent) => contains(sent, 'system')],
  ['Messages-style request', 'a stream on msg', ofFamilies('msg'), (sent) => contains(sent, 'stream')],
  [
    'Messages-style request',
    'turns that do not alternate, the user first',
    ofFamilies('msg').filter(({ body }) => body !== undefined),
    ({ body }) =>
      body.messages.some(
        ({ role }: { role: string }, at: number) => role !== (at % 2 === 0 ? 'user' : 'assistant'),
      ),
  ],
  [
    'Messages-style request',
    'messages without max_tokens',
    allRequests.filter(({ path }) => path === '/msg/v1/messages'),
    ({ body }) => !Number.isInteger(body.max_tokens),
  ],
  [
    'Gen style',
    'function calling or thinking with the gen segment, or anything else without it',
    ofFamilies('gen'),
    (sent) =>
      sent.path.startsWith('/v1beta/') !== (contains(sent, 'tools') || contains(sent, 'thinkingConfig')),
  ],
  [
    'Gen-style request',
    'contents without parts',
    ofFamilies('gen'),
    ({ body }) => !body.contents.every(({ parts }: { parts: unknown[] }) => parts.length > 0),
  ],
  ['Media', 'a fixed task id', allRequests, ({ path }) => /task_?id|[{}]/i.test(path)],
  [
    'Versioning 1',
    'an unknown music model',
    ofFamilies('music').filter(({ body }) => 'model' in body),
    ({ body }) => !MUSIC_MODELS.includes(body.model),
  ],
];

describe('mistakes that the client cannot make', () => {
  it.each(MISTAKES)('%s: %s', (_section, _mistake, among, makes) => {
    expect(among.length).toBeGreaterThan(0);
    expect(among.filter(makes)).toEqual([]);
  });

  it('unknown members are removed', async () => {
    const [generated] = await requestsOf(({ music }) => music.generate(song));
    expect(Object.keys(generated?.body).sort()).toEqual(
      ['callBackUrl', 'customMode', 'instrumental', 'model', 'style', 'title'].sort(),
    );
    const [drawn] = await requestsOf(({ media }) =>
      media.createImage({ ...strangers, model: 'canvas', prompt: 'rain' }),
    );
    expect(drawn?.body).toEqual({
      model: 'canvas',
      input: { messages: [{ role: 'user', content: [{ text: 'rain' }] }] },
    });
  });
});

describe('mistakes that are refused before anything is sent', () => {
  // Casts, because untyped code may send what the types forbid.
  it.each<[string, (gateway: Gateway) => Promise<unknown>]>([
    ['custom mode without a style', ({ music }) => music.generate({ ...song, style: ' ' })],
    ['custom mode without a title', ({ music }) => music.generate({ ...song, title: undefined })],
    ['simple mode without a prompt', ({ music }) => music.generate({ ...song, customMode: false })],
    ['a music model before V4', ({ music }) => music.generate({ ...song, model: 'V3_5' as never })],
    ['no callBackUrl', ({ music }) => music.generate({ ...song, callBackUrl: '' })],
    [
      'an unknown split',
      ({ music }) => music.vocalRemoval({ ...song, taskId: 't', audioId: 'a', type: 'drums' as never }),
    ],
    ['a size with x', ({ media }) => media.createImage({ model: 'm', prompt: 'p', size: '512x512' })],
    ['a video without input', ({ media }) => media.createVideo({ model: 'm' })],
    ['a task ID with another path', ({ media }) => media.queryVideo('../../chat/v1/models')],
    ['function calling without functions', ({ gen }) => gen.callTools(QUESTION)],
    ['no question', ({ msg }) => msg.complete({ model: 'm', turns: [] })],
    ['no model', ({ gen }) => drain(gen.stream({ ...QUESTION, model: ' ' }))],
    ['a model with another path', ({ gen }) => drain(gen.stream({ ...QUESTION, model: '../../chat' }))],
  ])('%s', async (_, call) => {
    let error: unknown;
    const sent = await requestsOf(async (gateway) => {
      error = await errorOf(call(gateway));
    });
    expect(error).toMatchObject({ code: 'invalid', taken: 'no', retryable: false });
    expect(sent).toEqual([]);
  });
});
