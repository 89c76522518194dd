import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway/client.ts';
import { readMusicCallback } from '../../src/gateway/music/callback.ts';
import { gatewayAccounts } from '../../src/gateway/routes.ts';
import { GatewayError } from '../../src/gateway/transport/errors.ts';
import { createEventDecoder } from '../../src/gateway/transport/sse.ts';
import { codePoint } from '../fixtures/code-point.ts';
import { ROUTE_CASES } from './route-cases.ts';
import { API_KEY, QUESTION } from './support.ts';

/** A gateway with a fixed response and no network. */
function gatewayAnswering(respond: () => Response): Gateway {
  return createGateway({
    accounts: gatewayAccounts({ baseUrl: 'http://gateway.example', apiKey: API_KEY }),
    fetch: async () => respond(),
    now: () => 0,
    elapsed: () => 0,
    random: () => 0,
    sleep: async () => undefined,
  });
}

/** Bytes cut at the given positions. */
function cut(bytes: Uint8Array, places: number[]): Uint8Array[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort(
    (one, other) => one - other,
  );
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

/** Returns the value or the GatewayError of a call. Other errors fail the test. */
async function settle<T>(call: Promise<T>): Promise<T | GatewayError> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

async function textOf(gateway: Gateway, dialect: 'chat' | 'gen'): Promise<string> {
  let text = '';
  for await (const event of gateway[dialect].stream(QUESTION)) {
    if (event.type !== 'part' || event.part.type !== 'text') continue;
    expect(event.part.text.isWellFormed()).toBe(true);
    text += event.part.text;
  }
  return text;
}

const anyText = fc.string({ unit: codePoint, maxLength: 12 });
const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const places = fc.array(fc.nat(), { maxLength: 12 });

describe('server-sent events', () => {
  it('cut at any byte, give the same events', () => {
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1, maxLength: 6 }), lineEnd, places, (texts, end, cuts) => {
        const wire = texts
          .map((text) => `: note${end}event: x${end}data: ${JSON.stringify(text.toWellFormed())}${end}${end}`)
          .join('');
        const decoder = createEventDecoder(1_000_000);
        const events = cut(new TextEncoder().encode(wire), cuts).flatMap((bytes) => decoder.push(bytes));
        expect([...events, ...decoder.end()].map(({ data }) => JSON.parse(data))).toEqual(
          texts.map((text) => text.toWellFormed()),
        );
      }),
    );
  });

  it.each(['chat', 'gen'] as const)(
    'of %s, cut at any byte, give the same text in whole characters',
    async (dialect) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anyText, { minLength: 1, maxLength: 6 }),
          lineEnd,
          places,
          async (texts, end, cuts) => {
            const expected = texts.join('').toWellFormed();
            fc.pre(expected !== '');
            const chunks = texts.map((text) =>
              dialect === 'chat'
                ? { choices: [{ delta: { content: text } }] }
                : { candidates: [{ content: { parts: [{ text }] } }] },
            );
            const last = dialect === 'chat' ? '[DONE]' : '{"candidates":[{"finishReason":"STOP"}]}';
            const wire = [...chunks.map((chunk) => JSON.stringify(chunk)), last]
              .map((data) => `data: ${data}${end}${end}`)
              .join('');
            const bytes = cut(new TextEncoder().encode(wire), cuts);
            expect(
              await textOf(
                gatewayAnswering(() => new Response(streamOf(bytes))),
                dialect,
              ),
            ).toBe(expected);
          },
        ),
      );
    },
  );

  it.each(['chat', 'gen'] as const)('of %s, ended at any byte, are never a whole answer', async (dialect) => {
    const chunk =
      dialect === 'chat'
        ? { choices: [{ delta: { content: 'Rain ☔ falls' } }] }
        : { candidates: [{ content: { parts: [{ text: 'Rain ☔ falls' }] } }] };
    const event = `data: ${JSON.stringify(chunk)}\n\n`;
    const bytes = new TextEncoder().encode(event.repeat(3));
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length), async (length) => {
        const gateway = gatewayAnswering(() => new Response(streamOf([bytes.subarray(0, length)])));
        expect(await settle(textOf(gateway, dialect))).toBeInstanceOf(GatewayError);
      }),
    );
  });

  it('of any bytes end in text or a GatewayError', async () => {
    const anyLine = fc.oneof(
      fc.string().map((text) => `data: ${text}\n\n`),
      fc.json().map((json) => `data: ${json}\n\n`),
      fc.uint8Array({ maxLength: 50 }),
      fc.constantFrom('data: [DONE]\n\n', 'event: error\n', 'data:\n', '\n\n', '{', '['),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyLine, { maxLength: 8 }),
        fc.constantFrom('chat', 'gen'),
        async (lines, dialect) => {
          const chunks = lines.map((line) =>
            typeof line === 'string' ? new TextEncoder().encode(line) : line,
          );
          await settle(
            textOf(
              gatewayAnswering(() => new Response(streamOf(chunks))),
              dialect,
            ),
          );
        },
      ),
    );
  });
});

/** JSON that resembles the gateway's, with misplaced members. */
const names = [
  ...[
    'code',
    'msg',
    'message',
    'data',
    'error',
    'status',
    'type',
    'success',
    'taskId',
    'task_id',
    'callbackType',
    'id',
  ],
  ...[
    'response',
    'result',
    'output',
    'sunoData',
    'audio_url',
    'streamAudioUrl',
    'images',
    'text',
    'title',
    'duration',
  ],
  ...[
    'vocal_removal_info',
    'vocalUrl',
    'stems',
    'audioWavUrl',
    'video_url',
    'errorMessage',
    'successFlag',
    'tags',
  ],
  ...[
    'alignedWords',
    'startS',
    'endS',
    'word',
    'personaId',
    'choices',
    'message',
    'delta',
    'content',
    'tool_calls',
  ],
  ...[
    'finish_reason',
    'usage',
    'candidates',
    'parts',
    'inlineData',
    'functionCall',
    'name',
    'args',
    'promptFeedback',
  ],
  ...[
    'input_tokens',
    'task_status',
    'choices',
    'image',
    'url',
    'has_more',
    'last_id',
    '__proto__',
    'constructor',
    'toString',
  ],
];
const leaf = fc.oneof(
  fc.constantFrom(
    null,
    true,
    false,
    '',
    0,
    200,
    429,
    -1,
    1e308,
    'complete',
    'error',
    'SUCCEEDED',
    'FAILED',
    'STOP',
  ),
  fc.constantFrom('https://cdn.example/a.mp3', 'http://[', 'constructor', '__proto__', '2', 'iVBORw0KGgo'),
  fc.string(),
  fc.double(),
);
const { likely } = fc.letrec<{ likely: unknown }>((tie) => ({
  likely: fc.oneof(
    { maxDepth: 6, depthSize: 'medium' },
    leaf,
    fc.array(tie('likely'), { maxLength: 4 }),
    fc
      .array(fc.tuple(fc.constantFrom(...names), tie('likely')), { maxLength: 6 })
      .map((entries) => Object.fromEntries(entries)),
  ),
}));
const anyJson = fc.oneof(likely, likely, fc.jsonValue());

describe('any JSON', () => {
  it('as a callback never throws, and has a failure only if it failed', () => {
    fc.assert(
      fc.property(anyJson, (body) => {
        const callback = readMusicCallback(body);
        expect(callback.failure !== undefined).toBe(callback.stage === 'failed');
        for (const { audioUrl } of callback.result.songs)
          if (audioUrl !== undefined) expect(audioUrl).toMatch(/^https?:/i);
        expect(readMusicCallback(JSON.stringify(body))).toEqual(
          readMusicCallback(JSON.parse(JSON.stringify(body))),
        );
      }),
    );
  });

  it.each(ROUTE_CASES)('as a response of $route ends in a value or a GatewayError', async ({ call }) => {
    await fc.assert(
      fc.asyncProperty(anyJson, fc.constantFrom(200, 202, 400, 429, 500), async (body, status) => {
        await settle(call(gatewayAnswering(() => Response.json(body, { status }))));
      }),
    );
  });

  it('as a model list ends in a finite list or a GatewayError', async () => {
    await fc.assert(
      fc.asyncProperty(anyJson, async (body) => {
        let requests = 0;
        await settle(
          gatewayAnswering(() => {
            requests++;
            return Response.json(body);
          }).models.refresh(),
        );
        expect(requests).toBeLessThanOrEqual(100);
      }),
    );
  });
});

describe('huge and malformed bodies', () => {
  const deep = (open: string, close: string, levels: number) =>
    `${open.repeat(levels)}1${close.repeat(levels)}`;
  const wide = (item: string) =>
    `{"code":200,"data":{"callbackType":"complete","data":[${Array.from({ length: 100_000 }, () => item).join(',')}]}}`;
  const bodies: Record<string, string> = {
    'a hundred thousand levels of lists': deep('[', ']', 100_000),
    'a hundred thousand levels of objects': deep('{"data":', '}', 100_000),
    'a hundred thousand songs': wide('{"id":"a","audio_url":"https://c.example/a"}'),
    'a hundred thousand empty objects': wide('{}'),
    'a hundred thousand keys': `{${Array.from({ length: 100_000 }, (_, nth) => `"key_${nth}_url":"https://c.example/${nth}"`).join(',')}}`,
    'one long text': JSON.stringify({ data: { text: 'la '.repeat(1_000_000) } }),
    'one long message': JSON.stringify({ code: 400, msg: 'exceeds the maximum length '.repeat(100_000) }),
    'backslashes without end': `{"data":"${'\\'.repeat(2_000_000)}`,
    'one long address': JSON.stringify({ data: { audio_url: `https://c.example/${'a'.repeat(3_000_000)}` } }),
  };

  it.each(Object.entries(bodies))('%s: read in bounded time to a bounded result', async (_, body) => {
    const before = process.threadCpuUsage();
    const callback = readMusicCallback(body);
    expect(JSON.stringify(callback).length).toBeLessThan(500_000);
    const outcome = await settle(
      gatewayAnswering(() => new Response(body)).music.styleGenerate({ content: 'x' }),
    );
    if (outcome instanceof GatewayError) expect(outcome.message.length).toBeLessThan(10_000);
    // CPU time, which other load does not affect. Quadratic work would take minutes.
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(30_000);
  });
});
