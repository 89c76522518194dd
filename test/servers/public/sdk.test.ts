/** The SDKs of the services against their doubles: a double that no real client could use is wrong. */
import Anthropic from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { anthropicError, startAnthropic } from './anthropic.ts';
import { googleError, startGoogle } from './google.ts';
import { openAiError, openAiStream, startOpenAi } from './openai.ts';
import { type Double, SERVICE_KEY } from './service.ts';

async function started(start: () => Promise<Double>): Promise<Double> {
  const double = await start();
  onTestFinished(() => double[Symbol.asyncDispose]());
  return double;
}

const errorOf = (call: PromiseLike<unknown>) =>
  Promise.resolve(call).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('the double of OpenAI', () => {
  async function openai(apiKey = SERVICE_KEY) {
    const double = await started(startOpenAi);
    return { double, client: new OpenAI({ apiKey, baseURL: double.url, maxRetries: 0 }) };
  }
  const question = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Why is rain grey?' }] };

  it('answers the SDK, whole and streamed', async () => {
    const { client, double } = await openai();
    const whole = await client.chat.completions.create(question);
    const text = 'Answer 1 to “Why is rain grey?”.';
    expect(whole.choices[0]).toMatchObject({ message: { content: text }, finish_reason: 'stop' });
    const stream = client.chat.completions.stream({ ...question, stream_options: { include_usage: true } });
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]?.message.content).toBe(text);
    expect(streamed.usage).toEqual(whole.usage);
    expect(double.refused).toEqual([]);
  });

  it('lists its models, chat models or not', async () => {
    const { client } = await openai();
    const ids = (await Array.fromAsync(client.models.list())).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['gpt-4o', 'text-embedding-3-small', 'whisper-1']));
    expect(await client.models.retrieve('gpt-4o')).toMatchObject({ object: 'model', owned_by: 'system' });
  });

  it('refuses with the errors of the SDK', async () => {
    const { client } = await openai('sk-wrong');
    expect(await errorOf(client.models.list())).toBeInstanceOf(OpenAI.AuthenticationError);
    const { client: known, double } = await openai();
    expect(await errorOf(known.chat.completions.create({ ...question, model: 'gpt-9' }))).toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
    expect(await errorOf(known.chat.completions.create({ ...question, model: 'whisper-1' }))).toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    const reasoning = { ...question, model: 'gpt-5-mini' };
    expect(await errorOf(known.chat.completions.create({ ...reasoning, max_tokens: 9 }))).toMatchObject({
      status: 400,
      param: 'max_tokens',
      code: 'unsupported_parameter',
    });
    await known.chat.completions.create({ ...reasoning, max_completion_tokens: 9 });
    double.next('/chat/completions', openAiError(429, 'Slow down.', { code: 'rate_limit_exceeded' }));
    expect(await errorOf(known.chat.completions.create(question))).toBeInstanceOf(OpenAI.RateLimitError);
    double.next('/chat/completions', {
      chunks: [...openAiStream(['Half']).slice(0, 2), 'data: {"error":{"message":"lost"}}\n\n'],
    });
    const stream = await known.chat.completions.create({ ...question, stream: true });
    expect(await errorOf(Array.fromAsync(stream))).toBeInstanceOf(OpenAI.APIError);
  });
});

describe('the double of Anthropic', () => {
  async function anthropic(apiKey = SERVICE_KEY) {
    const double = await started(startAnthropic);
    return { double, client: new Anthropic({ apiKey, baseURL: double.url, maxRetries: 0 }) };
  }
  const question = {
    model: 'claude-sonnet-5',
    max_tokens: 500,
    messages: [{ role: 'user' as const, content: 'Why is rain grey?' }],
  };

  it('answers the SDK, whole and streamed, and counts tokens', async () => {
    const { client, double } = await anthropic();
    const whole = await client.messages.create(question);
    expect(whole).toMatchObject({
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: 'Answer 1 to “Why is rain grey?”.' }],
    });
    const streamed = await client.messages.stream(question).finalMessage();
    expect(streamed.content).toEqual(whole.content);
    expect(streamed.stop_reason).toBe('end_turn');
    const { max_tokens: _, ...counted } = question;
    expect((await client.messages.countTokens(counted)).input_tokens).toBeGreaterThan(5);
    expect(double.refused).toEqual([]);
  });

  it('lists its models on several pages', async () => {
    const { client } = await anthropic();
    const first = await client.models.list();
    expect(first.data).toHaveLength(20);
    const ids = (await Array.fromAsync(first)).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(20);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('refuses with the errors of the SDK', async () => {
    const { client: stranger } = await anthropic('sk-wrong');
    expect(await errorOf(stranger.models.list())).toBeInstanceOf(Anthropic.AuthenticationError);
    const { client, double } = await anthropic();
    expect(await errorOf(client.messages.create({ ...question, model: 'claude-9' }))).toMatchObject({
      status: 404,
      error: { error: { type: 'not_found_error' } },
    });
    expect(
      await errorOf(
        client.messages.create({ ...question, model: 'claude-3-haiku-20240307', max_tokens: 5_000 }),
      ),
    ).toMatchObject({
      message: expect.stringContaining('max_tokens: 5000 > 4096'),
    });
    double.next('/v1/messages', anthropicError(529, 'overloaded_error', 'Overloaded'));
    expect(await errorOf(client.messages.create(question))).toMatchObject({ status: 529 });
    const response = await fetch(`${double.url}/v1/models`, { headers: { 'x-api-key': SERVICE_KEY } });
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({
        error: { type: 'invalid_request_error', message: 'anthropic-version: header is required' },
      }),
    ]);
  });
});

describe('the double of Google', () => {
  async function google(apiKey = SERVICE_KEY) {
    const double = await started(startGoogle);
    return { double, client: new GoogleGenAI({ apiKey, httpOptions: { baseUrl: double.url } }) };
  }
  const question = { model: 'gemini-2.5-flash', contents: 'Why is rain grey?' };
  const text = 'Answer 1 to “Why is rain grey?”.';

  it('answers the SDK, whole and streamed', async () => {
    const { client, double } = await google();
    expect((await client.models.generateContent(question)).text).toBe(text);
    const chunks = await Array.fromAsync(await client.models.generateContentStream(question));
    expect(chunks.map((chunk) => chunk.text ?? '').join('')).toBe(text);
    expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP');
    expect(double.refused).toEqual([]);
  });

  it('creates images and calls functions', async () => {
    const { client } = await google();
    const drawn = await client.models.generateContent({
      ...question,
      model: 'gemini-3-pro-image',
      config: { responseModalities: ['TEXT', 'IMAGE'] },
    });
    expect(drawn.candidates?.[0]?.content?.parts?.filter(({ inlineData }) => inlineData)).toHaveLength(2);
    const tools = [{ functionDeclarations: [{ name: 'weather', description: 'Whether it rains' }] }];
    const contents = 'Call weather.';
    const called = await client.models.generateContent({
      model: 'gemini-3-pro',
      contents,
      config: { tools },
    });
    expect(called.functionCalls).toMatchObject([{ name: 'weather' }]);
    const turn = called.candidates?.[0]?.content ?? {};
    const result = { functionResponse: { name: 'weather', response: { rains: true } } };
    const userTurn = { role: 'user', parts: [{ text: contents }] };
    const answered = await client.models.generateContent({
      model: 'gemini-3-pro',
      contents: [userTurn, turn, { role: 'user', parts: [result] }],
      config: { tools },
    });
    expect(answered.text).toContain('Answer 1');
    const unsigned = { role: 'model', parts: [{ functionCall: { name: 'weather' } }] };
    const forged = [userTurn, unsigned, { role: 'user', parts: [result] }];
    expect(
      await errorOf(
        client.models.generateContent({ model: 'gemini-3-pro', contents: forged, config: { tools } }),
      ),
    ).toMatchObject({ status: 400, message: expect.stringContaining('thought_signature') });
  });

  it('lists its models on several pages', async () => {
    const { client, double } = await google();
    const models = await Array.fromAsync(await client.models.list());
    expect(models.length).toBeGreaterThan(50);
    expect(models).toContainEqual(
      expect.objectContaining({ name: 'models/gemini-embedding-001', supportedActions: ['embedContent'] }),
    );
    expect(double.refused).toEqual([]);
  });

  it('refuses with the errors of the SDK', async () => {
    const { client: stranger } = await google('sk-wrong');
    const refused = await errorOf(stranger.models.generateContent(question));
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({ status: 400, message: expect.stringContaining('API_KEY_INVALID') });
    const { client, double } = await google();
    for (const [model, status] of [
      ['gemini-9', 404],
      ['gemini-embedding-001', 404],
    ] as const)
      expect(await errorOf(client.models.generateContent({ ...question, model }))).toMatchObject({ status });
    const config = { responseModalities: ['TEXT', 'IMAGE'] };
    expect(await errorOf(client.models.generateContent({ ...question, config }))).toMatchObject({
      message: expect.stringContaining('response modalities'),
    });
    double.next(':generateContent', googleError(503, 'UNAVAILABLE', 'The model is overloaded.'));
    expect(await errorOf(client.models.generateContent(question))).toMatchObject({ status: 503 });
    const url = `${double.url}/v1beta/models`;
    expect((await fetch(url)).status).toBe(403);
    expect((await fetch(url, { headers: { authorization: `Bearer ${SERVICE_KEY}` } })).status).toBe(401);
    const page = await fetch(`${double.url}/v1/chat/completions`, { method: 'POST', body: '{}' });
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=UTF-8']);
  });
});
