import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AnswerEvent } from '../../src/gateway/answers.ts';
import { createGateway, type Gateway } from '../../src/gateway/client.ts';
import { gatewayAccounts } from '../../src/gateway/routes.ts';
import { API_KEY, errorOf, QUESTION, wholeOf } from './support.ts';

/**
 * The three text dialects in an independent implementation. The mock serves the vendors' paths, so the gateway's namespace
 * is removed.
 */
const mock = new LLMock({ port: 0, chunkSize: 3 });
const WITHOUT_NAMESPACE = /(?<=:\d+)\/(?:chat|msg|gen)(?=\/v1)/;
let gateway: Gateway;

beforeAll(async () => {
  await mock.start();
  gateway = createGateway({
    accounts: gatewayAccounts({ baseUrl: mock.baseUrl.replace(/\/v1$/, ''), apiKey: API_KEY }),
    fetch: (url, init) => globalThis.fetch(url.replace(WITHOUT_NAMESPACE, ''), init),
    now: Date.now,
    elapsed: Date.now,
    random: Math.random,
    sleep: async () => undefined,
  });
});
afterAll(() => mock.stop());
beforeEach(() => {
  mock.reset();
});

const LIGHT = 'Because the light is scattered 🌧 on its way.';
const usage = {
  prompt_tokens: 7,
  completion_tokens: 9,
  input_tokens: 7,
  output_tokens: 9,
  promptTokenCount: 7,
  candidatesTokenCount: 9,
};

async function drain(stream: AsyncIterable<AnswerEvent>) {
  const events: AnswerEvent[] = [];
  for await (const event of stream) events.push(event);
  const text = events.flatMap((event) =>
    event.type === 'part' && event.part.type === 'text' ? event.part.text : [],
  );
  return { text: text.join(''), last: events.at(-1) };
}

const CALLS = {
  chat: () => wholeOf(gateway.chat.stream(QUESTION)),
  msg: () => gateway.msg.complete(QUESTION),
  gen: () => wholeOf(gateway.gen.stream(QUESTION)),
  'gen, thinking': () => gateway.gen.think(QUESTION),
};

describe('against an independent mock', () => {
  it.each(Object.entries(CALLS))('%s: an answer with its finish reason and usage', async (_, ask) => {
    mock.onMessage('rain', { content: LIGHT, usage });
    expect(await ask()).toMatchObject({
      parts: [{ type: 'text', text: LIGHT }],
      finish: { reason: 'stop' },
      usage: { inputTokens: 7, outputTokens: 9 },
    });
  });

  it.each(Object.entries(CALLS))('%s: an answer cut at its maximum length', async (name, ask) => {
    mock.onMessage('rain', { content: LIGHT, finishReason: 'length' });
    expect((await ask()).finish, name).toMatchObject({ reason: 'length' });
  });

  it.each(['chat', 'gen'] as const)('%s, streamed: the same text', async (dialect) => {
    mock.onMessage('rain', { content: LIGHT, usage });
    const { text, last } = await drain(gateway[dialect].stream(QUESTION));
    expect(text).toBe(LIGHT);
    expect(last).toMatchObject({ type: 'finish', finish: { reason: 'stop' } });
  });

  it.each(['chat', 'gen'] as const)(
    '%s, streamed: an interrupted connection is an error',
    async (dialect) => {
      mock.onMessage('rain', { content: LIGHT }, { truncateAfterChunks: 4, latency: 10 });
      let text = '';
      const read = async () => {
        for await (const event of gateway[dialect].stream(QUESTION))
          if (event.type === 'part' && event.part.type === 'text') text += event.part.text;
      };
      expect((await errorOf(read())).code).toBe('broken-stream');
      expect(text.length > 0 && LIGHT.startsWith(text)).toBe(true);
    },
  );

  it('gen: a function call', async () => {
    mock.onMessage('rain', { toolCalls: [{ name: 'weather', arguments: '{"where":"Oslo"}' }] });
    const tools = [
      {
        name: 'weather',
        description: 'Whether it rains',
        parameters: {
          type: 'object',
          properties: { where: { type: 'string', description: 'a town' } },
          required: ['where'],
        },
      },
    ];
    expect(await gateway.gen.callTools({ ...QUESTION, tools })).toMatchObject({
      parts: [{ type: 'tool-call', name: 'weather', arguments: { where: 'Oslo' } }],
      finish: { reason: 'tool-calls' },
    });
    expect(mock.getLastRequest()?.path).toMatch(/^\/v1beta\/models\/some-model:generateContent/);
  });

  it.each(Object.entries(CALLS))('%s: an error in its dialect', async (_, ask) => {
    mock.onMessage('rain', { error: { message: 'slower, please', type: 'rate_limit_error' }, status: 429 });
    expect(await errorOf(ask())).toMatchObject({
      code: 'rate',
      status: 429,
      taken: 'no',
      message: expect.stringContaining('slower, please'),
    });
  });

  it('the request contains system prompt, history and question', async () => {
    mock.onMessage('Which?', { content: 'Rain.' });
    const conversation = {
      model: 'some-model',
      system: 'Be brief.',
      turns: [
        { role: 'user' as const, parts: [{ type: 'text' as const, text: 'Rain or snow?' }] },
        { role: 'assistant' as const, parts: [{ type: 'text' as const, text: 'One of them.' }] },
        { role: 'user' as const, parts: [{ type: 'text' as const, text: 'Which?' }] },
      ],
    };
    for (const ask of [
      () => wholeOf(gateway.chat.stream(conversation)),
      () => gateway.msg.complete(conversation),
      () => wholeOf(gateway.gen.stream(conversation)),
    ]) {
      expect((await ask()).parts).toEqual([{ type: 'text', text: 'Rain.' }]);
      const requestText = JSON.stringify(mock.getLastRequest()?.body);
      for (const words of ['Be brief.', 'Rain or snow?', 'One of them.', 'Which?'])
        expect(requestText).toContain(words);
    }
  });

  it('the model list', async () => {
    mock.on({ model: 'some-model' }, { content: 'x' });
    expect((await gateway.models.refresh()).map(({ id }) => id)).toContain('some-model');
  });
});
