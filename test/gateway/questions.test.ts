import { describe, expect, it } from 'vitest';
import type { Gateway } from '../../src/gateway/client.ts';
import type { Question } from '../../src/gateway/questions.ts';
import { answer, errorOf, gatewayAt, startServer, wholeOf } from './support.ts';

const text = (words: string) => ({ type: 'text' as const, text: words });
const picture = { type: 'image' as const, mimeType: 'image/png', data: 'AAAA' };

const conversation: Question = {
  model: 'some-model',
  system: 'Be brief.',
  maxTokens: 100,
  turns: [
    { role: 'user', parts: [text('What is this?'), picture] },
    { role: 'assistant', parts: [text('Rain.')] },
    { role: 'assistant', parts: [text(''), text('Or snow.')] },
    { role: 'user', parts: [text('Which?')] },
  ],
};

/** Returns the request body of a call and ignores the response. */
async function sent(call: (gateway: Gateway) => Promise<unknown>): Promise<unknown> {
  const server = await startServer((_, response) => answer(response, {}));
  await errorOf(call(gatewayAt(server.url).gateway));
  return server.received[0]?.body;
}

describe('one conversation, in three dialects', () => {
  it('chat: messages with a system message, images as data URLs', async () => {
    expect(await sent(({ chat }) => wholeOf(chat.stream(conversation)))).toEqual({
      model: 'some-model',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 100,
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
        { role: 'assistant', content: 'Rain.\n\nOr snow.' },
        { role: 'user', content: 'Which?' },
      ],
    });
  });

  it('msg: alternating turns of blocks, the system prompt before the first text', async () => {
    expect(await sent(({ msg }) => msg.complete(conversation))).toEqual({
      model: 'some-model',
      max_tokens: 100,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Be brief.' },
            { type: 'text', text: 'What is this?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Rain.' },
            { type: 'text', text: 'Or snow.' },
          ],
        },
        { role: 'user', content: 'Which?' },
      ],
    });
  });

  it('gen: contents of parts, the system prompt before the first text', async () => {
    expect(await sent(({ gen }) => wholeOf(gen.stream(conversation)))).toEqual({
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'Be brief.' },
            { text: 'What is this?' },
            { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
          ],
        },
        { role: 'model', parts: [{ text: 'Rain.' }, { text: 'Or snow.' }] },
        { role: 'user', parts: [{ text: 'Which?' }] },
      ],
      generationConfig: { maxOutputTokens: 100 },
    });
  });

  it('msg: starts with a user turn if the assistant spoke first', async () => {
    const body = await sent(({ msg }) =>
      msg.complete({
        model: 'm',
        turns: [
          { role: 'assistant', parts: [text('Hello.'), picture] },
          { role: 'user', parts: [text('Hi.')] },
        ],
      }),
    );
    expect(body).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', content: [{ text: 'Hello.' }, { type: 'text', text: '(an image)' }] },
        { role: 'user' },
      ],
    });
  });

  it('gen: sends calls and results back with their IDs and signatures', async () => {
    const tools = [
      { name: 'rain', description: 'd', parameters: { type: 'object', properties: {}, required: [] } },
    ];
    const body = await sent(({ gen }) =>
      gen.callTools({
        model: 'models/some/model:free',
        tools,
        turns: [
          { role: 'user', parts: [text('Rain?')] },
          {
            role: 'assistant',
            parts: [
              { type: 'tool-call', name: 'rain', arguments: { where: 'Oslo' }, id: 'c1', signature: 's' },
            ],
          },
          { role: 'user', parts: [{ type: 'tool-result', name: 'rain', result: { rain: true }, id: 'c1' }] },
        ],
      }),
    );
    expect(body).toMatchObject({
      contents: [
        { role: 'user' },
        {
          role: 'model',
          parts: [
            { functionCall: { name: 'rain', args: { where: 'Oslo' }, id: 'c1' }, thoughtSignature: 's' },
          ],
        },
        { role: 'user', parts: [{ functionResponse: { name: 'rain', response: { rain: true }, id: 'c1' } }] },
      ],
    });
  });

  it('gen: escapes any model ID in the path', async () => {
    const server = await startServer((_, response) => answer(response, {}));
    const { gen } = gatewayAt(server.url).gateway;
    for (const model of ['models/g-1', 'maker/g 1:free', 'g?alt=json#'])
      await errorOf(wholeOf(gen.stream({ ...conversation, model })));
    expect(server.received.map(({ path }) => path)).toEqual([
      '/gen/v1beta/models/g-1:streamGenerateContent?alt=sse',
      '/gen/v1beta/models/maker/g%201%3Afree:streamGenerateContent?alt=sse',
      '/gen/v1beta/models/g%3Falt%3Djson%23:streamGenerateContent?alt=sse',
    ]);
  });
});

describe('an empty answer', () => {
  it.each([
    ['chat', { choices: [] }],
    ['chat', { choices: [{ message: { content: '' }, finish_reason: 'stop' }] }],
    ['msg', { content: [], stop_reason: 'end_turn' }],
    ['msg', {}],
    ['gen', { candidates: [] }],
    ['gen', { candidates: [{ finishReason: 'STOP' }] }],
    ['gen', { candidates: [{ content: { parts: [{ text: 'Hm.', thought: true }] }, finishReason: 'STOP' }] }],
  ] as const)('of %s is nonsense: %j', async (family, body) => {
    const server = await startServer((_, response) => answer(response, body));
    const { chat, msg, gen } = gatewayAt(server.url).gateway;
    const calls = {
      chat: () => wholeOf(chat.stream(conversation)),
      msg: () => msg.complete(conversation),
      gen: () => gen.generateImage(conversation),
    };
    const error = await errorOf(calls[family]());
    expect(error).toMatchObject({ code: 'nonsense', taken: 'unknown' });
  });
});
