/**
 * Every request with the gateway alone, as it arrives at a socket: method, path, headers and body. A difference changes what
 * operators of a gateway get. `npx vitest run test/gateway/wire.test.ts -u` writes the fixture.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { matchesGlob } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { openGateway, unmeasured } from '../../src/app/services.ts';
import { systemOf } from '../../src/app/system.ts';
import type { Gateway } from '../../src/gateway/client.ts';
import type { Question, Turn } from '../../src/gateway/questions.ts';
import { type GatewayRoute, gatewayAccounts, ROUTES } from '../../src/gateway/routes.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { ROUTE_CASES } from './route-cases.ts';
import { wholeOf } from './support.ts';

const FIXTURE = '../fixtures/gateway-wire.txt';
const KEY = 'sk-recorded';

const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' } as const;
const turn = (role: Turn['role'], ...parts: Turn['parts']): Turn => ({ role, parts });
/** Every part that a conversation may have, in the two roles. */
const conversation = {
  model: 'models/some-model',
  system: 'Be brief. “Ü”',
  maxTokens: 300,
  turns: [
    turn('user', { type: 'text', text: 'What is this?' }, image),
    turn('assistant', { type: 'text', text: 'A lighthouse.' }, image),
    turn('user', { type: 'text', text: 'And now?' }),
  ],
} satisfies Question;
const tools = [
  {
    name: 'song',
    description: 'Creates a song',
    parameters: {
      type: 'object',
      properties: { about: { type: 'string', description: 'Topic' } },
      required: [],
    },
  },
] satisfies Question['tools'];
const called = [
  ...conversation.turns,
  turn('assistant', {
    type: 'tool-call',
    name: 'song',
    arguments: { about: 'rain' },
    id: 'call-1',
    signature: 'c2ln',
  }),
  turn('user', { type: 'tool-result', name: 'song', result: { outcome: 'started' }, id: 'call-1' }),
];

/** Requests with every optional member, beside those of {@link ROUTE_CASES}. */
const FULL: readonly ((gateway: Gateway) => Promise<unknown>)[] = [
  ({ music }) =>
    music.generate({
      customMode: false,
      instrumental: true,
      model: 'V4_5PLUS',
      callBackUrl: 'https://bot.example/callbacks/music/job1/c2ln',
      prompt: 'a tune for rain',
      personaId: 'p1',
    }),
  ({ music }) =>
    music.extend({
      audioId: 'audio-0',
      model: 'V5',
      callBackUrl: 'https://bot.example/callbacks/music/job1/c2ln',
      defaultParamFlag: true,
      prompt: '[Chorus] Ü',
      style: 'lofi',
      title: 'Rain',
      continueAt: 61.25,
    }),
  ({ media }) =>
    media.createImage({
      model: 'image-model',
      prompt: 'rain',
      size: '1664*928',
      negativePrompt: 'people',
      promptExtend: false,
    }),
  ({ media }) =>
    media.createVideo({
      model: 'video-model',
      prompt: 'rain',
      imageUrl: 'https://bot.example/files/p.png',
      audioUrl: 'https://bot.example/files/a.mp3',
      resolution: '720P',
      duration: 5,
      promptExtend: true,
      audio: false,
      shotType: 'multi',
    }),
  ({ chat }) => wholeOf(chat.stream(conversation)),
  ({ msg }) => msg.complete(conversation),
  ({ gen }) => wholeOf(gen.stream(conversation)),
  ({ gen }) => gen.generateImage(conversation),
  ({ gen }) => gen.think(conversation),
  ({ gen }) => gen.callTools({ ...conversation, turns: called, tools }),
  ({ models }) => models.refresh(),
];

/** `HTTP 404` without a code makes the client try the other path form of video. */
const isFirstForm = (path: string) => path.includes('/v1/media/') && !path.includes('multimodal');

async function startRecorder(): Promise<{ readonly url: string; readonly requests: string[] }> {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', rawHeaders } = request;
    const headers = rawHeaders.flatMap((value, index) =>
      index % 2 === 0 ? `${value}: ${rawHeaders[index + 1]?.replace(/^127\.0\.0\.1:\d+$/, '<host>')}` : [],
    );
    requests.push([`${method} ${url}`, ...headers, '', await text(request), ''].join('\n'));
    if (isFirstForm(url)) response.writeHead(404).end();
    else if (url.includes('/models?') && url.includes('after_id')) response.end('{"data":[{"id":"m2"}]}');
    else if (url.endsWith('/v1/models'))
      response.end('{"data":[{"id":"m1"}],"has_more":true,"first_id":"m1","last_id":"m1"}');
    else response.end('{}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  // A server that listens on TCP has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests };
}

it('with the gateway alone, every request is the recorded one', async () => {
  const { url, requests } = await startRecorder();
  const gateway = openGateway(gatewayAccounts({ baseUrl: `${url}/some/path/`, apiKey: KEY }), {
    ...systemOf(new RecordingLog()),
    measure: unmeasured,
  });
  onTestFinished(() => gateway.close());
  const recording: string[] = [];
  for (const call of [...ROUTE_CASES.map(({ call }) => call), ...FULL]) {
    // Empty answers are not usable. Only the requests matter here.
    await call(gateway).catch(() => undefined);
    // The two listings run at the same time.
    recording.push(...requests.splice(0).sort());
  }
  const paths = recording.map((request) => request.slice(0, request.indexOf('\n')));
  const routes: readonly GatewayRoute[] = Object.values(ROUTES);
  for (const { method, gateway: column } of routes) {
    if (column === undefined) continue;
    const line = `${method} /some/path${column.path.replaceAll(/\{\w+\}/g, '*')}`;
    expect(paths.some((sent) => matchesGlob(sent, line))).toBe(true);
  }
  await expect(recording.join('\n')).toMatchFileSnapshot(FIXTURE);
});
