/** A gateway that streams one long answer in each dialect as fast as it is read. Tells its address. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { tell } from './program.ts';

/** Of one answer's stream. */
const STREAM_BYTES = 4_000_000;
/** About what a busy gateway has ready when its reader comes. */
const WRITTEN_AT_ONCE = 16_384;

const WORDS = 'Rain taps the window and a slow lamp warms the quiet room while **somebody** hums. '.split(
  /(?<= )/,
);

const head = {
  id: 'chatcmpl-0123456789abcdef',
  object: 'chat.completion.chunk',
  created: 1_767_225_600,
  model: 'chat-small',
  service_tier: 'default',
  system_fingerprint: 'fp_0123456789',
};
const chatChunk = (delta: object, finishReason: string | null) => ({
  ...head,
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
});
const genChunk = (text: string, finishReason?: string) => ({
  candidates: [
    { content: { role: 'model', parts: [{ text }] }, index: 0, ...(finishReason ? { finishReason } : {}) },
  ],
  usageMetadata: {
    promptTokenCount: 9,
    candidatesTokenCount: 20_000,
    totalTokenCount: 20_009,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 9 }],
  },
  modelVersion: 'gen-small',
  responseId: 'response-0123456789abcdef',
});

const STREAMS = {
  '/chat/v1/chat/completions': streamOf(
    (word) => chatChunk({ content: word }, null),
    [
      event(chatChunk({}, 'stop')),
      event({
        ...head,
        choices: [],
        usage: { prompt_tokens: 9, completion_tokens: 20_000, total_tokens: 20_009 },
      }),
      'data: [DONE]\n\n',
    ],
  ),
  '/gen/v1beta/models/gen-small:streamGenerateContent': streamOf(
    (word) => genChunk(word),
    [event(genChunk('.', 'STOP'))],
  ),
} as const satisfies Record<string, Buffer>;

/** A whole answer of the dialect that is never streamed. */
const MESSAGE = Buffer.from(
  JSON.stringify({
    id: 'msg_0123456789abcdef',
    type: 'message',
    role: 'assistant',
    model: 'msg-small',
    content: [{ type: 'text', text: textOf(16_000) }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 4_000 },
  }),
);

function* piecesOf(stream: Buffer): Generator<Buffer> {
  for (let at = 0; at < stream.length; at += WRITTEN_AT_ONCE) yield stream.subarray(at, at + WRITTEN_AT_ONCE);
}

function event(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function textOf(length: number): string {
  return WORDS.join('')
    .repeat(Math.ceil(length / WORDS.join('').length))
    .slice(0, length);
}

function streamOf(chunk: (word: string) => object, closing: readonly string[]): Buffer {
  const round = WORDS.map((word) => event(chunk(word))).join('');
  return Buffer.from(round.repeat(Math.ceil(STREAM_BYTES / round.length)) + closing.join(''));
}

const server = createServer(async (request, response) => {
  for await (const _ of request);
  const path = new URL(request.url ?? '/', 'http://gateway').pathname;
  if (path === '/msg/v1/messages') {
    response.writeHead(200, { 'content-type': 'application/json' }).end(MESSAGE);
    return;
  }
  const stream = Object.entries(STREAMS).find(([route]) => path === route)?.[1];
  if (!stream) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  // A reader that leaves is no failure.
  await pipeline(Readable.from(piecesOf(stream)), response).catch(() => undefined);
});
server.listen(0, '127.0.0.1', () => {
  // Sound: it listens on a port, not on a pipe.
  const { port } = server.address() as AddressInfo;
  tell({
    url: `http://127.0.0.1:${port}`,
    bytes: {
      chat: STREAMS['/chat/v1/chat/completions'].length,
      gen: STREAMS['/gen/v1beta/models/gen-small:streamGenerateContent'].length,
      msg: MESSAGE.length,
    },
  });
});
