import { GoogleGenAI, Type } from '@google/genai';
import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import { openStudio } from '../../src/emulator/studio/studio.ts';
import type { FaultyOptions } from './faulty.ts';
import { runEmulator } from './harness.ts';

/** The library's client for the paths with the `gen` segment, or for those without. */
async function connect(segment: '/gen' | '', options: FaultyOptions = {}) {
  const emulator = await runEmulator(options);
  const client = new GoogleGenAI({
    apiKey: 'sent in a header that the gateway does not read',
    httpOptions: {
      baseUrl: emulator.url + segment,
      apiVersion: 'v1beta',
      headers: { authorization: `Bearer ${emulator.apiKey}` },
    },
  });
  return { emulator, client };
}

test('the genai client gets a whole answer', async () => {
  const { client } = await connect('/gen');
  const response = await client.models.generateContent({
    model: 'facet-text',
    contents: 'What is 2 + 3 * 4?',
  });
  expect(response.text).toBe('2 + 3 * 4 = **14**');
  expect(response.candidates?.[0]?.finishReason).toBe('STOP');
  expect(response.usageMetadata?.totalTokenCount).toBeGreaterThan(3);
});

test('the genai client streams the same text as the whole answer', async () => {
  const { client } = await connect('/gen');
  const question = { model: 'facet-text', contents: 'Explain tides' };
  const whole = await client.models.generateContent(question);
  let text = '';
  let chunks = 0;
  let finish: string | undefined;
  for await (const chunk of await client.models.generateContentStream(question)) {
    text += chunk.text ?? '';
    finish = chunk.candidates?.[0]?.finishReason ?? finish;
    chunks += 1;
  }
  expect(text).toBe(whole.text);
  expect(chunks).toBeGreaterThan(5);
  expect(finish).toBe('STOP');
});

test('the genai client gets an image with its text', async () => {
  const { client } = await connect('/gen');
  const response = await client.models.generateContent({
    model: 'facet-picture',
    contents: 'a boat at sunset',
    config: { responseModalities: ['TEXT', 'IMAGE'] },
  });
  const parts = response.candidates?.[0]?.content?.parts ?? [];
  expect(parts.some((part) => part.text?.includes('a boat at sunset'))).toBe(true);
  const inline = parts.find((part) => part.inlineData !== undefined)?.inlineData;
  expect(inline?.mimeType).toBe('image/png');
  const picture = PNG.sync.read(Buffer.from(inline?.data ?? '', 'base64'));
  expect([picture.width, picture.height]).toEqual([768, 768]);
});

test('the genai client changes an image, and the result keeps its size and colours', async () => {
  const { client } = await connect('/gen', { studio: openStudio() });
  const photo = new PNG({ width: 300, height: 200 });
  for (let at = 0; at < photo.data.length; at += 4) photo.data.set([220, 30, 30, 255], at);
  const image = (bytes: Buffer) => ({
    inlineData: { mimeType: 'image/png', data: bytes.toString('base64') },
  });
  const change = async (text: string, ...images: readonly Buffer[]) => {
    const response = await client.models.generateContent({
      model: 'facet-picture',
      contents: [{ role: 'user', parts: [...images.map(image), { text }] }],
      config: { responseModalities: ['TEXT', 'IMAGE'] },
    });
    const parts = response.candidates?.[0]?.content?.parts ?? [];
    const data = parts.find(({ inlineData }) => inlineData)?.inlineData?.data ?? '';
    return { text: parts[0]?.text, picture: PNG.sync.read(Buffer.from(data, 'base64')) };
  };
  const red = PNG.sync.write(photo);
  const { text, picture } = await change('add a cat', red);
  expect(text).toBe('I changed the image: “add a cat”.');
  expect([picture.width, picture.height]).toEqual([300, 200]);
  const corner = (150 * 300 + 2) * 4;
  const [r = 0, g = 0, b = 0] = picture.data.subarray(corner, corner + 3);
  expect(r).toBeGreaterThan(2 * Math.max(g, b));
  const both = await change('add a cat', red, red);
  expect(both.picture.data.equals(picture.data)).toBe(false);
  await expect(change('add a cat', Buffer.from('nonsense'))).rejects.toMatchObject({ status: 400 });
});

const declaration = {
  name: 'get_weather',
  description: 'Tells the weather of a city',
  parameters: {
    type: Type.OBJECT,
    properties: {
      city: { type: Type.STRING, description: 'the city' },
      days: { type: Type.INTEGER, description: 'how many' },
    },
    required: ['city'],
  },
};

test('the genai client gets a function call, and a text for its result', async () => {
  const { client } = await connect('');
  const config = { tools: [{ functionDeclarations: [declaration] }] };
  const question = { role: 'user', parts: [{ text: 'What is the weather in Paris?' }] };
  const called = await client.models.generateContent({ model: 'facet-tools', contents: [question], config });
  expect(called.functionCalls).toEqual([{ name: 'get_weather', args: { city: 'Paris' } }]);
  const call = called.candidates?.[0]?.content ?? { parts: [] };
  const result = {
    role: 'user',
    parts: [{ functionResponse: { name: 'get_weather', response: { sky: 'clear' } } }],
  };
  const answered = await client.models.generateContent({
    model: 'facet-tools',
    contents: [question, call, result],
    config,
  });
  expect(answered.text).toContain('sky is **clear**');
});

test('a question without a matching function gets a text', async () => {
  const { client } = await connect('');
  const config = { tools: [{ functionDeclarations: [declaration] }] };
  const response = await client.models.generateContent({
    model: 'facet-tools',
    contents: 'What is 1 + 1?',
    config,
  });
  expect(response.functionCalls).toBeUndefined();
  expect(response.text).toBe('1 + 1 = **2**');
});

test('the thinking preview thinks within its budget, and not at all with a budget of zero', async () => {
  const { client } = await connect('');
  const ask = (thinkingBudget: number) =>
    client.models.generateContent({
      model: 'facet-thinker-preview',
      contents: 'What is 2 + 2?',
      config: { thinkingConfig: { thinkingBudget, includeThoughts: true } },
    });
  const thoughtful = await ask(16);
  expect(thoughtful.text).toBe('2 + 2 = **4**');
  expect(thoughtful.usageMetadata?.thoughtsTokenCount).toBeLessThanOrEqual(16);
  expect(thoughtful.candidates?.[0]?.content?.parts?.[0]?.thought).toBe(true);
  const quick = await ask(0);
  expect(quick.usageMetadata?.thoughtsTokenCount).toBeUndefined();
  expect(quick.candidates?.[0]?.content?.parts).toHaveLength(1);
});
