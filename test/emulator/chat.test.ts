import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { get, post, runEmulator } from './harness.ts';

async function connect() {
  const emulator = await runEmulator();
  return {
    emulator,
    client: new OpenAI({ apiKey: emulator.apiKey, baseURL: `${emulator.url}/chat/v1`, maxRetries: 0 }),
  };
}

test('the openai client gets a whole answer with usage', async () => {
  const { client } = await connect();
  const completion = await client.chat.completions.create({
    model: 'chat-small',
    messages: [{ role: 'user', content: 'What is 6 times 7?' }],
  });
  expect(completion.choices[0]?.message).toMatchObject({ role: 'assistant', content: '6 * 7 = **42**' });
  expect(completion.choices[0]?.finish_reason).toBe('stop');
  expect(completion.usage?.total_tokens).toBeGreaterThan(5);
});

test('the openai client streams the same words, the finish reason and the usage', async () => {
  const { client } = await connect();
  const question = {
    model: 'chat-small',
    messages: [{ role: 'user' as const, content: 'Write a haiku about otters' }],
  };
  const whole = await client.chat.completions.create(question);
  const stream = await client.chat.completions.create({
    ...question,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = '';
  let finish: string | null = null;
  let tokens = 0;
  let chunks = 0;
  for await (const chunk of stream) {
    chunks += 1;
    text += chunk.choices[0]?.delta.content ?? '';
    finish = chunk.choices[0]?.finish_reason ?? finish;
    tokens = chunk.usage?.total_tokens ?? tokens;
  }
  expect(text).toBe(whole.choices[0]?.message.content);
  expect(text).toContain('Otters');
  expect(chunks).toBeGreaterThan(5);
  expect(finish).toBe('stop');
  expect(tokens).toBe(whole.usage?.total_tokens);
});

test('the openai client lists models', async () => {
  const { client } = await connect();
  const ids: string[] = [];
  for await (const model of client.models.list()) ids.push(model.id);
  expect(ids).toContain('chat-small');
  expect(new Set(ids).size).toBe(ids.length);
});

test('max_tokens cuts an answer and sets the finish reason', async () => {
  const { client } = await connect();
  const completion = await client.chat.completions.create({
    model: 'chat-small',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'Write a long essay about tea' }],
  });
  expect(completion.choices[0]?.finish_reason).toBe('length');
  expect(completion.choices[0]?.message.content?.length).toBeLessThanOrEqual(40);
});

test.each([
  ['stream=break', /terminated|premature|network|fetch failed|closed|socket/i],
  ['stream=error', /the model stopped/],
])('a stream with %s fails in the client after part of the text', async (fault, message) => {
  const { client } = await connect();
  const stream = await client.chat.completions.create(
    { model: 'chat-small', stream: true, messages: [{ role: 'user', content: 'Explain rivers' }] },
    { headers: { 'x-emulator-fault': fault } },
  );
  let text = '';
  await expect(async () => {
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  }).rejects.toThrow(message);
  expect(text.length).toBeGreaterThan(0);
});

test('a stream without an end marker ends early, and a stalled one goes silent', async () => {
  const { emulator } = await connect();
  const body = { model: 'chat-small', stream: true, messages: [{ role: 'user', content: 'Explain rivers' }] };
  const path = '/chat/v1/chat/completions';
  const ended = await post(emulator, path, body, { 'x-emulator-fault': 'stream=no-end' });
  expect(ended.body).not.toContain('[DONE]');
  expect(ended.body).not.toContain('"finish_reason":"stop"');
  const patience = new AbortController();
  const response = await fetch(emulator.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${emulator.apiKey}`,
      'content-type': 'application/json',
      'x-emulator-fault': 'stream=stall',
    },
    body: JSON.stringify(body),
    signal: patience.signal,
  });
  setTimeout(() => patience.abort(), 400);
  await expect(response.text()).rejects.toThrow(/timeout|aborted/i);
});

test('the model list is paged by limit and cursor, without overlap', async () => {
  const emulator = await runEmulator({ modelsPerPage: 4 });
  const ids: string[] = [];
  let query = '';
  for (let page = 0; page < 20; page++) {
    const { body } = await get(emulator, `/chat/v1/models${query}`);
    ids.push(...body.data.map((model: { id: string }) => model.id));
    expect(body.first_id).toBe(body.data[0].id);
    query = `?after_id=${body.last_id}`;
    if (!body.has_more) break;
  }
  const { body } = await get(emulator, '/chat/v1/models?limit=1000');
  expect(ids).toEqual(body.data.map((model: { id: string }) => model.id));
  expect(body.data[0]).toMatchObject({
    display_name: expect.any(String),
    type: 'model',
    created_at: expect.any(String),
  });
  expect((await get(emulator, '/chat/v1/models?after_id=nothing')).status).toBe(400);
  expect((await get(emulator, '/chat/v1/models?limit=0')).status).toBe(400);
});
