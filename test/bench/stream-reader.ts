/** Reads answers with one candidate, for `seconds` of CPU. Tells how many, the CPU seconds, and the characters of one. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { streamText } from 'ai';
import { createParser } from 'eventsource-parser';
import OpenAI from 'openai';
import { Agent, fetch, request } from 'undici';
import { z } from 'zod';
import type { AnswerEvent } from '../../src/gateway/answers.ts';
import { createGateway } from '../../src/gateway/client.ts';
import type { Question } from '../../src/gateway/questions.ts';
import { cpuSeconds } from './measure.ts';
import { programInput, tell } from './program.ts';

const { url, candidate, seconds } = programInput(
  z.object({ url: z.url(), candidate: z.string(), seconds: z.number() }),
);

const PROMPT = 'Tell me about rain.';
const CHAT = { model: 'chat-small', messages: [{ role: 'user' as const, content: PROMPT }] };
const GEN = { contents: [{ role: 'user', parts: [{ text: PROMPT }] }] };
const CHAT_PATH = '/chat/v1/chat/completions';
const GEN_PATH = '/gen/v1beta/models/gen-small:streamGenerateContent';

/** With the connections that the bot has. */
function product() {
  const dispatcher = new Agent({ connect: { timeout: 10_000 }, bodyTimeout: 0, headersTimeout: 0 });
  return createGateway({
    baseUrl: url,
    apiKey: 'key',
    fetch: (address, init) => fetch(address, { ...init, dispatcher }),
    now: Date.now,
    elapsed: () => performance.now(),
    random: Math.random,
    sleep: (ms, signal) => sleep(ms, undefined, signal ? { signal } : {}),
  });
}

const question = (model: string): Question => ({
  model,
  turns: [{ role: 'user', parts: [{ type: 'text', text: PROMPT }] }],
});

async function read(events: AsyncIterable<AnswerEvent>): Promise<number> {
  let characters = 0;
  for await (const event of events)
    if (event.type === 'part' && event.part.type === 'text') characters += event.part.text.length;
  return characters;
}

/** Only what cannot be avoided: bytes, events, JSON. */
async function bare(
  path: string,
  body: object,
  textOf: (data: string) => string | undefined,
): Promise<number> {
  const answer = await request(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer key' },
    body: JSON.stringify(body),
  });
  let characters = 0;
  const parser = createParser({
    onEvent: ({ data }) => {
      characters += textOf(data)?.length ?? 0;
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of answer.body) parser.feed(decoder.decode(bytes, { stream: true }));
  return characters;
}

const CANDIDATES: Readonly<Record<string, () => () => Promise<number>>> = {
  'product chat': () => {
    const gateway = product();
    return () => read(gateway.chat.stream(question('chat-small')));
  },
  'product gen': () => {
    const gateway = product();
    return () => read(gateway.gen.stream(question('gen-small')));
  },
  'product msg': () => {
    const gateway = product();
    return async () => {
      const { parts } = await gateway.msg.complete(question('msg-small'));
      return parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0);
    };
  },
  'bare chat': () => () =>
    bare(CHAT_PATH, { ...CHAT, stream: true }, (data) =>
      data === '[DONE]' ? undefined : JSON.parse(data).choices[0]?.delta.content,
    ),
  'bare gen': () => () =>
    bare(`${GEN_PATH}?alt=sse`, GEN, (data) => JSON.parse(data).candidates[0]?.content.parts[0]?.text),
  openai: () => {
    const client = new OpenAI({ baseURL: `${url}/chat/v1`, apiKey: 'key' });
    return async () => {
      let characters = 0;
      for await (const chunk of await client.chat.completions.create({ ...CHAT, stream: true }))
        characters += chunk.choices[0]?.delta.content?.length ?? 0;
      return characters;
    };
  },
  ai: () => {
    const provider = createOpenAICompatible({ name: 'gateway', baseURL: `${url}/chat/v1`, apiKey: 'key' });
    return async () => {
      let characters = 0;
      for await (const words of streamText({ model: provider('chat-small'), prompt: PROMPT }).textStream)
        characters += words.length;
      return characters;
    };
  },
  genai: () => {
    const client = new GoogleGenAI({
      apiKey: 'key',
      httpOptions: { baseUrl: `${url}/gen`, apiVersion: 'v1beta' },
    });
    return async () => {
      let characters = 0;
      for await (const chunk of await client.models.generateContentStream({ model: 'gen-small', ...GEN }))
        characters += chunk.text?.length ?? 0;
      return characters;
    };
  },
  anthropic: () => {
    const client = new Anthropic({ baseURL: `${url}/msg`, apiKey: 'key' });
    return async () => {
      const { content } = await client.messages.create({ ...CHAT, max_tokens: 4_096 });
      return content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0);
    };
  },
};

const answer =
  CANDIDATES[candidate]?.() ?? (() => Promise.reject(new TypeError(`no candidate ${candidate}`)));
/** Reads answers until they have taken so many CPU seconds; resolves to what they took. */
async function readFor(seconds: number) {
  const before = process.cpuUsage();
  const taken = { answers: 0, characters: 0, cpu: 0 };
  while (taken.cpu < seconds) {
    taken.characters = await answer();
    taken.answers += 1;
    taken.cpu = cpuSeconds(before);
  }
  return taken;
}

// A bot runs for weeks: what is compiled and connected once is not what is compared.
await readFor(seconds);
tell(await readFor(seconds));
