/** Compares parsing streamed answers with the SDK of each dialect. All candidates read the same bytes from memory. */
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import type { AnswerEvent } from '../../src/gateway/answers.ts';
import { createGateway } from '../../src/gateway/client.ts';
import type { Question } from '../../src/gateway/questions.ts';
import { gatewayAccounts } from '../../src/gateway/routes.ts';
import { chatStream } from '../jobs/ask/upstream.ts';
import { cpuMs, type Figure, medianCosts, type Row } from './measure.ts';

const WORDS = Array.from({ length: 4_000 }, (_, index) => (index % 12 === 0 ? '**word** ' : 'another '));
const TEXT = WORDS.join('');
const ROUNDS = 9;
/** CPU time per candidate and round. */
const ROUND_MS = 150;

const URL = 'http://gateway.invalid';
const PROMPT = 'Tell me about rain.';
const CHAT = { model: 'small', messages: [{ role: 'user' as const, content: PROMPT }] };
const turns = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: PROMPT }] }];
const QUESTION: Question = { model: 'small', turns };

const genEvent = (text: string, finishReason?: 'STOP'): string => {
  const candidates = [{ content: { role: 'model', parts: [{ text }] }, index: 0, finishReason }];
  const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 4_000, totalTokenCount: 4_009 };
  return `data: ${JSON.stringify({ candidates, usageMetadata, modelVersion: 'small', responseId: 'id' })}\n\n`;
};

/** Creates a fetch that answers every request with these events. */
function answering(text: string): () => Promise<Response> {
  const bytes = new Blob([text]);
  return async () => new Response(bytes.stream(), { headers: { 'content-type': 'text/event-stream' } });
}
const chatFetch = answering(chatStream(WORDS));
const genFetch = answering(WORDS.map((word) => genEvent(word)).join('') + genEvent('', 'STOP'));

const client = {
  accounts: gatewayAccounts({ baseUrl: URL, apiKey: 'key' }),
  now: Date.now,
  elapsed: Date.now,
  random: () => 0.5,
  sleep: async () => {},
};
const { chat } = createGateway({ ...client, fetch: chatFetch });
const { gen } = createGateway({ ...client, fetch: genFetch });
const openai = new OpenAI({ baseURL: URL, apiKey: 'key', fetch: chatFetch });
const genai = new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: URL } });

async function joined<Part>(parts: AsyncIterable<Part>, textOf: (part: Part) => string | null | undefined) {
  let text = '';
  for await (const part of parts) text += textOf(part) ?? '';
  return text;
}
const eventText = (event: AnswerEvent) =>
  event.type === 'part' && event.part.type === 'text' ? event.part.text : '';

/** The bot's client and the SDK; both resolve to the parsed text. */
const DIALECTS: Readonly<Record<string, readonly (() => Promise<string>)[]>> = {
  'chat stream, speed relative to openai': [
    () => joined(chat.stream(QUESTION), eventText),
    async () =>
      joined(
        await openai.chat.completions.create({ ...CHAT, stream: true }),
        ({ choices }) => choices[0]?.delta.content,
      ),
  ],
  'gen stream, speed relative to @google/genai': [
    () => joined(gen.stream(QUESTION), eventText),
    async () =>
      joined(
        await genai.models.generateContentStream({ model: 'small', contents: PROMPT }),
        ({ text }) => text,
      ),
  ],
};

export const parsing: Row = async () => {
  // This SDK has no option for fetch.
  const { fetch } = globalThis;
  globalThis.fetch = genFetch;
  try {
    const figures: Figure[] = [];
    for (const [name, readers] of Object.entries(DIALECTS)) {
      const candidates = readers.map((read) => () => costOf(read));
      const [bot = Number.NaN, sdk = Number.NaN] = await medianCosts(ROUNDS, candidates);
      figures.push({ name, measured: sdk / bot, budget: 1.5, atLeast: true, unit: 'times' });
    }
    return figures;
  } finally {
    globalThis.fetch = fetch;
  }
};

/** Returns the CPU time of one answer in milliseconds. */
async function costOf(read: () => Promise<string>): Promise<number> {
  const before = cpuMs();
  for (let answers = 1; ; answers += 1) {
    if ((await read()) !== TEXT) throw new Error('A candidate read another text');
    const cost = cpuMs() - before;
    if (cost > ROUND_MS) return cost / answers;
  }
}
