import Anthropic from '@anthropic-ai/sdk';
import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import { runEmulator } from './harness.ts';

async function connect() {
  const emulator = await runEmulator();
  const client = new Anthropic({
    apiKey: emulator.apiKey,
    baseURL: `${emulator.url}/msg`,
    // The library sends its key as a Bearer token, which the contract forbids on msg routes.
    defaultHeaders: { 'x-api-key': emulator.apiKey, authorization: null, 'vendor-version': '2023-06-01' },
    maxRetries: 0,
  });
  return { emulator, client };
}
const model = 'scribe-large';

test('the Anthropic client gets a message, and the conversation is remembered', async () => {
  const { client } = await connect();
  const message = await client.messages.create({
    model,
    max_tokens: 200,
    messages: [
      { role: 'user', content: 'Hi, my name is Ada.' },
      { role: 'assistant', content: 'Nice to meet you.' },
      { role: 'user', content: [{ type: 'text', text: 'What is my name?' }] },
    ],
  });
  expect(message.content).toEqual([{ type: 'text', text: 'Your name is **Ada**.' }]);
  expect(message.stop_reason).toBe('end_turn');
  expect(message.usage.input_tokens).toBeGreaterThan(0);
});

test('the unmodified Anthropic client is refused, because its headers differ from the contract', async () => {
  const emulator = await runEmulator();
  const client = new Anthropic({ apiKey: emulator.apiKey, baseURL: `${emulator.url}/msg`, maxRetries: 0 });
  const call = client.messages.create({ model, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] });
  await expect(call).rejects.toBeInstanceOf(Anthropic.APIError);
});

test('an image is described by type, size and colour', async () => {
  const { client } = await connect();
  const picture = new PNG({ width: 20, height: 10 });
  for (let at = 0; at < picture.data.length; at += 4) picture.data.writeUInt32BE(0xc82828ff, at);
  const message = await client.messages.create({
    model,
    max_tokens: 200,
    messages: [
      {
        role: 'user',
        content: [
          {
            type: 'image',
            source: {
              type: 'base64',
              media_type: 'image/png',
              data: PNG.sync.write(picture).toString('base64'),
            },
          },
          { type: 'text', text: 'What is this?' },
        ],
      },
    ],
  });
  const [block] = message.content;
  expect(block?.type === 'text' && block.text).toContain('a PNG image of 20 × 10 pixels');
});

test('the token count matches the message’s usage, and max_tokens limits the output', async () => {
  const { client } = await connect();
  const messages = [{ role: 'user' as const, content: 'Write an essay about tea' }];
  const counted = await client.messages.countTokens({ model, messages });
  const message = await client.messages.create({ model, max_tokens: 12, messages });
  expect(message.usage.input_tokens).toBe(counted.input_tokens);
  expect(message.usage.output_tokens).toBeLessThanOrEqual(12);
  expect(message.stop_reason).toBe('max_tokens');
});

test('the Anthropic client pages through the model list', async () => {
  const { client } = await connect();
  const ids: string[] = [];
  for await (const item of client.models.list({ limit: 3 })) ids.push(item.id);
  expect(ids).toContain(model);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThan(6);
});

test('errors have a type and the request ID', async () => {
  const { client } = await connect();
  const failure = await client.messages
    .create({ model: 'Scribe Large', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] })
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Anthropic.NotFoundError);
  if (!(failure instanceof Anthropic.NotFoundError)) return;
  expect(failure.message).toContain("the model id is 'scribe-large'");
  expect(failure.requestID).toMatch(/^[\w-]{20,}$/);
});

test.each([
  [429, Anthropic.RateLimitError],
  [529, Anthropic.InternalServerError],
])('an injected %i is a known error of the client', async (status, type) => {
  const { client } = await connect();
  const call = client.messages.create(
    { model, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] },
    { headers: { 'x-emulator-fault': `status=${status}:3` } },
  );
  await expect(call).rejects.toBeInstanceOf(type);
});
