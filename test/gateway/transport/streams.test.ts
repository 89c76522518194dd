import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import type { AnswerEvent } from '../../../src/gateway/answers.ts';
import type { Gateway } from '../../../src/gateway/client.ts';
import { GatewayError } from '../../../src/gateway/transport/errors.ts';
import { answer, gatewayAt, QUESTION, type Script, startServer, stopTimers, timeUntil } from '../support.ts';

type Dialect = 'chat' | 'gen';

/** The wire format of each dialect; sources in src/gateway/chat.ts and gen.ts. */
const WIRE = {
  chat: {
    text: (content: string) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
    end: { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    mark: 'data: [DONE]\n\n',
    usage: { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } },
    whole: { choices: [{ message: { content: 'Light.' }, finish_reason: 'stop' }] },
    detail: 'stop',
  },
  gen: {
    text: (text: string) => ({ candidates: [{ content: { parts: [{ text }] } }] }),
    end: { candidates: [{ content: { parts: [] }, finishReason: 'STOP' }] },
    mark: '',
    usage: { usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 2 } },
    whole: { candidates: [{ content: { parts: [{ text: 'Light.' }] }, finishReason: 'STOP' }] },
    detail: 'STOP',
  },
} as const;

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

function begin(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' });
}

const says =
  (...chunks: readonly (string | Uint8Array)[]): Script =>
  async (_, response) => {
    begin(response);
    for (const chunk of chunks) await new Promise((resolve) => response.write(chunk, resolve));
    response.end();
  };

const start = (gateway: Gateway, dialect: Dialect, signal?: AbortSignal) =>
  gateway[dialect].stream(QUESTION, { signal });

/** All events of a stream, and the error it ended with, if any. */
async function drain(stream: AsyncIterable<AnswerEvent>, onText: (text: string) => void = () => undefined) {
  const events: AnswerEvent[] = [];
  let error: GatewayError | undefined;
  try {
    for await (const each of stream) {
      events.push(each);
      if (each.type === 'part' && each.part.type === 'text') onText(each.part.text);
    }
  } catch (failure) {
    if (!(failure instanceof GatewayError)) throw failure;
    error = failure;
  }
  const text = events
    .map((each) => (each.type === 'part' && each.part.type === 'text' ? each.part.text : ''))
    .join('');
  const finish = events.find((each) => each.type === 'finish');
  return { events, text, finish, error };
}

async function streamed(dialect: Dialect, script: Script, timeouts = {}) {
  const server = await startServer(script);
  // The length of a stream is real time here.
  const { gateway } = gatewayAt(server.url, { timeouts, elapsed: () => performance.now() });
  const result = await drain(start(gateway, dialect));
  return { ...result, server };
}

const light = (dialect: Dialect) => event(WIRE[dialect].text('Li')) + event(WIRE[dialect].text('ght.'));
const whole = (dialect: Dialect) =>
  light(dialect) + event(WIRE[dialect].end) + event(WIRE[dialect].usage) + WIRE[dialect].mark;

describe.each(['chat', 'gen'] as const)('a %s stream', (dialect) => {
  const wire = WIRE[dialect];

  it('yields text in order, then one finish event with the usage', async () => {
    const { events, server } = await streamed(dialect, says(whole(dialect)));
    expect(events).toEqual([
      // Fragments that arrived together are one part.
      { type: 'part', part: { type: 'text', text: 'Light.' } },
      {
        type: 'finish',
        finish: { reason: 'stop', detail: wire.detail },
        usage: { inputTokens: 7, outputTokens: 2 },
      },
    ]);
    expect(server.received[0]).toMatchObject(
      dialect === 'chat'
        ? { path: '/chat/v1/chat/completions', body: { stream: true } }
        : { path: '/gen/v1beta/models/some-model:streamGenerateContent?alt=sse' },
    );
  });

  it('yields text as it arrives', async () => {
    const next = Promise.withResolvers<void>();
    const server = await startServer(async (_, response) => {
      begin(response).write(event(wire.text('Li')));
      await next.promise;
      response.end(event(wire.text('ght.')) + event(wire.end) + wire.mark);
    });
    const texts: string[] = [];
    for await (const each of start(gatewayAt(server.url).gateway, dialect)) {
      if (each.type === 'part' && each.part.type === 'text') texts.push(each.part.text);
      next.resolve();
    }
    expect(texts).toEqual(['Li', 'ght.']);
  });

  it.each([
    ['CRLF and comments', (text: string) => `: hello\r\n\r\n${text.replaceAll('\n', '\r\n')}: bye\r\n\r\n`],
    ['CR only', (text: string) => text.replaceAll('\n', '\r')],
    ['no space after the colon', (text: string) => text.replaceAll('data: ', 'data:')],
    ['a byte order mark', (text: string) => `\ufeff${text}`],
    [
      'other fields and pings',
      (text: string) => `event: ping\ndata: {"type":"ping"}\n\nid: 7\nretry: 10\n\n${text}`,
    ],
    ['no blank line at the end', (text: string) => text.trimEnd()],
    ['data in two lines', (text: string) => text.replaceAll(',"', ',\ndata: "')],
  ])('is read with %s', async (_, framing) => {
    const { text, finish, error } = await streamed(dialect, says(framing(whole(dialect))));
    expect({ text, finish: finish?.type, error }).toEqual({
      text: 'Light.',
      finish: 'finish',
      error: undefined,
    });
  });

  it('never yields half a character', async () => {
    const [high, low] = ['\ud83c', '\udf27'];
    const script = says(
      Buffer.from(`data: {"x":"`),
      Buffer.from('é'),
      Buffer.from(`"}\n\n`),
      `data: ${JSON.stringify(wire.text('@')).replace('@', `Rain \\u${high.charCodeAt(0).toString(16)}`)}\n\n`,
      `data: ${JSON.stringify(wire.text('@')).replace('@', `\\u${low.charCodeAt(0).toString(16)}!`)}\n\n`,
      event(wire.end) + wire.mark,
    );
    const { events, text } = await streamed(dialect, script);
    expect(text).toBe('Rain 🌧!');
    for (const each of events) {
      if (each.type === 'part' && each.part.type === 'text') expect(each.part.text.isWellFormed()).toBe(true);
    }
  });

  it('replaces a character whose second half never arrives', async () => {
    const half = JSON.stringify(wire.text('@')).replace('@', 'Rain \\ud83c');
    expect((await streamed(dialect, says(`data: ${half}\n\n${event(wire.end)}${wire.mark}`))).text).toBe(
      'Rain \ufffd',
    );
  });

  it.each([
    ['ends without an end marker', says(light('chat')), says(light('gen'))],
    ['ends within an event', says(`${light('chat')}data: {"choi`), says(`${light('gen')}data: {"cand`)],
    [
      'contains an event that is not JSON',
      says(`${light('chat')}data: hello\n\n`),
      says(`${light('gen')}data: hello\n\n`),
    ],
  ])('that %s is broken and keeps its text', async (_, chat, gen) => {
    const { text, error } = await streamed(dialect, { chat, gen }[dialect]);
    expect(error).toMatchObject({ code: 'broken-stream', taken: 'unknown', retryable: false });
    expect(text).toBe('Light.');
  });

  it('whose connection is cut is broken and keeps its text', async () => {
    const { text, error } = await streamed(dialect, (_, response) => {
      begin(response).write(light(dialect), () => response.destroy());
    });
    expect(error?.code).toBe('broken-stream');
    expect(text).toBe('Light.');
  });

  it('that goes silent has stalled and keeps its text', async () => {
    const server = await startServer(
      (_, response) => void begin(response).write(light(dialect) + event(wire.usage)),
    );
    stopTimers();
    const { promise: arrived, resolve } = Promise.withResolvers<void>();
    const result = drain(start(gatewayAt(server.url).gateway, dialect), (text) => {
      if (text.endsWith('ght.')) resolve();
    });
    await arrived;
    const { error, text } = await timeUntil(result, 90_000);
    expect({ code: error?.code, text }).toEqual({ code: 'stalled', text: 'Light.' });
    await server.received[0]?.closed;
  });

  it('has not stalled if only its consumer is slow', async () => {
    const next = Promise.withResolvers<void>();
    const server = await startServer(async (_, response) => {
      begin(response).write(event(wire.text('Li')));
      await next.promise;
      response.end(event(wire.text('ght.')) + event(wire.end) + wire.mark);
    });
    stopTimers();
    const texts: string[] = [];
    for await (const each of start(gatewayAt(server.url).gateway, dialect)) {
      if (each.type === 'part' && each.part.type === 'text') texts.push(each.part.text);
      // Twice the timeout of a stall.
      await vi.advanceTimersByTimeAsync(180_000);
      next.resolve();
    }
    expect(texts).toEqual(['Li', 'ght.']);
  });

  it('that is silent from the start has stalled too', async () => {
    const server = await startServer((_, response) => void begin(response).flushHeaders());
    const stream = start(gatewayAt(server.url, { timeouts: { stallMs: 20 } }).gateway, dialect);
    expect((await drain(stream)).error?.code).toBe('stalled');
  });

  it('with only keep-alives ends after its timeout', async () => {
    const { error } = await streamed(
      dialect,
      (request, response) => {
        begin(response);
        const timer = setInterval(() => response.write(': keep-alive\n\n'), 5);
        return request.closed.then(() => clearInterval(timer));
      },
      { stallMs: 10_000, streamMs: 0 },
    );
    expect(error?.code).toBe('stalled');
  });

  it('is whole if only the connection does not end', async () => {
    const { text, finish, error } = await streamed(
      dialect,
      (_, response) => void begin(response).write(light(dialect) + event(wire.end)),
      { lingerMs: 30 },
    );
    expect({ text, finish: finish?.type, error }).toEqual({
      text: 'Light.',
      finish: 'finish',
      error: undefined,
    });
  });

  it('is whole despite keep-alives after its end', async () => {
    const { finish, server } = await streamed(
      dialect,
      (request, response) => {
        begin(response).write(light(dialect) + event(wire.end));
        const timer = setInterval(() => response.write(': keep-alive\n\n'), 10);
        return request.closed.then(() => clearInterval(timer));
      },
      { lingerMs: 100 },
    );
    expect(finish?.type).toBe('finish');
    await server.received[0]?.closed;
  });

  it('continues past the linger time if its chunks contain a premature finish reason', async () => {
    const unfinished = (text: string) =>
      dialect === 'chat'
        ? { choices: [{ index: 0, delta: { content: text }, finish_reason: 'unknown' }] }
        : { candidates: [{ content: { parts: [{ text }] }, finishReason: 'UNKNOWN' }] };
    const { text } = await streamed(
      dialect,
      async (_, response) => {
        begin(response);
        for (let chunk = 0; chunk < 15; chunk += 1) {
          response.write(event(unfinished('rain ')));
          await new Promise((resolve) => setTimeout(resolve, 60));
        }
        response.end();
      },
      { lingerMs: 700 },
    );
    expect(text).toBe('rain '.repeat(15));
  });

  it.each([
    ['an error of the chat dialect', { error: { message: 'slower', code: 'rate_limit_exceeded' } }, 'rate'],
    [
      'an error of the gen dialect',
      { error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } },
      'unavailable',
    ],
    [
      'an error of the msg dialect',
      { type: 'error', error: { type: 'overloaded_error', message: 'busy' } },
      'unavailable',
    ],
    ['a vLLM error', { object: 'error', message: 'maximum context length exceeded', code: 400 }, 'too-long'],
  ])('with %s ends with it and keeps its text', async (_, body, code) => {
    const { error, text } = await streamed(dialect, says(light(dialect) + event(body)));
    expect(error).toMatchObject({ code, taken: 'unknown', retryable: false });
    expect(text).toBe('Light.');
  });

  it('with an event named error ends with it', async () => {
    const { error, text } = await streamed(dialect, says(`${light(dialect)}event: error\ndata: oh no\n\n`));
    expect({ code: error?.code, text }).toEqual({ code: 'unavailable', text: 'Light.' });
  });

  it('that is refused throws the refusal, and nothing was accepted', async () => {
    const { error } = await streamed(dialect, (_, response) =>
      answer(response, { error: { message: 'no key' } }, { status: 401 }),
    );
    expect(error).toMatchObject({ code: 'auth', taken: 'no', status: 401 });
  });

  it('that is refused in a successful response throws it too', async () => {
    const { error } = await streamed(dialect, (_, response) =>
      answer(response, { error: { code: 402, message: 'x' } }),
    );
    expect(error).toMatchObject({ code: 'credits', taken: 'no' });
  });

  it('that arrives as one body or as a list is an answer', async () => {
    for (const body of [wire.whole, [wire.text('Li'), wire.text('ght.'), wire.end]]) {
      const { text, finish } = await streamed(dialect, (_, response) => answer(response, body));
      expect({ text, finish: finish?.type }).toEqual({ text: 'Light.', finish: 'finish' });
    }
  });

  it.each(['<html>Welcome</html>', '{"half":'])('with another body is not an answer: %s', async (body) => {
    const { error } = await streamed(dialect, (_, response) => answer(response, body));
    expect(['no-api', 'broken-stream']).toContain(error?.code);
  });

  it('that finishes without text is nonsense', async () => {
    expect((await streamed(dialect, says(event(wire.end) + wire.mark))).error?.code).toBe('nonsense');
  });

  it('that does not end is read up to a limit', async () => {
    const { error, server } = await streamed(dialect, async (request, response) => {
      begin(response);
      const chunk = `data: ${'x'.repeat(1 << 20)}`;
      let isClosed = false;
      void request.closed.then(() => {
        isClosed = true;
      });
      while (!isClosed) await new Promise<void>((resolve) => void response.write(chunk, () => resolve()));
    });
    expect(error?.code).toBe('broken-stream');
    await server.received[0]?.closed;
  });

  it('of usual chunks is read to its end, though the frames are many times the text', async () => {
    const frame = { id: 'x'.repeat(20_000), object: 'chunk', model: 'some-model' };
    const chunk = event({ ...frame, ...wire.text('rain ') });
    const { text, finish, error } = await streamed(
      dialect,
      says(...Array.from({ length: 60 }, () => chunk.repeat(10)), event(wire.end) + wire.mark),
    );
    expect({ text, finish: finish?.type, error }).toEqual({
      text: 'rain '.repeat(600),
      finish: 'finish',
      error: undefined,
    });
  });

  it('that is one body has the limit of a body', async () => {
    const { error, server } = await streamed(dialect, async (request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('[');
      const { promise, resolve } = Promise.withResolvers<void>();
      void request.closed.then(resolve);
      for (let written = 0; written < 10 * 2 ** 20; written += 2 ** 16)
        await Promise.race([promise, new Promise((done) => response.write(' '.repeat(2 ** 16), done))]);
    });
    expect(error).toMatchObject({ code: 'broken-stream', message: expect.stringContaining('longer than') });
    await server.received[0]?.closed;
  });

  it('of small events is read up to a total limit', async () => {
    const { error, server } = await streamed(dialect, async (request, response) => {
      begin(response);
      const chunk = event(wire.text('x'.repeat(100_000)));
      let isClosed = false;
      void request.closed.then(() => {
        isClosed = true;
      });
      while (!isClosed) await new Promise<void>((resolve) => void response.write(chunk, () => resolve()));
    });
    expect(error).toMatchObject({ code: 'broken-stream', message: expect.stringContaining('longer than') });
    await server.received[0]?.closed;
  });

  it('that is cut after chunks with finish reasons is broken, not finished', async () => {
    const finishing = (text: string) =>
      dialect === 'chat'
        ? { choices: [{ index: 0, delta: { content: text }, finish_reason: 'stop' }] }
        : { candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }] };
    const chunks = event(finishing('Li')) + event(finishing('ght.'));
    const broken = await streamed(dialect, (_, response) => {
      begin(response).write(chunks, () => response.destroy());
    });
    expect({ code: broken.error?.code, text: broken.text }).toEqual({
      code: 'broken-stream',
      text: 'Light.',
    });
    const ended = await streamed(dialect, says(chunks));
    expect({ text: ended.text, finish: ended.finish?.type }).toEqual({ text: 'Light.', finish: 'finish' });
  });

  it('continues after a pause between chunks with finish reasons', async () => {
    const finishing = (text: string) =>
      dialect === 'chat'
        ? { choices: [{ index: 0, delta: { content: text }, finish_reason: 'stop' }] }
        : { candidates: [{ content: { parts: [{ text }] }, finishReason: 'STOP' }] };
    const next = Promise.withResolvers<void>();
    const server = await startServer(async (_, response) => {
      begin(response).write(event(finishing('Li')));
      await next.promise;
      response.end(event(finishing('ght.')));
    });
    stopTimers();
    const { promise: arrived, resolve } = Promise.withResolvers<void>();
    const result = drain(start(gatewayAt(server.url).gateway, dialect), () => resolve());
    await arrived;
    // Past the linger time of a finished stream.
    for (let tick = 0; tick < 20; tick++) {
      await new Promise((settled) => setImmediate(settled));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    next.resolve();
    expect((await result).text).toBe('Light.');
  });

  it('stops when it is aborted, even without more data from the server', async () => {
    const controller = new AbortController();
    const server = await startServer((_, response) => void begin(response).write(light(dialect)));
    stopTimers();
    const stream = start(gatewayAt(server.url).gateway, dialect, controller.signal);
    const { error, text: arrived } = await drain(stream, (text) => {
      // Once the client waits for the next bytes. The clock is stopped, so no timeout ends the stream.
      if (text.endsWith('ght.')) setImmediate(() => controller.abort());
    });
    expect({ code: error?.code, arrived }).toEqual({ code: 'aborted', arrived: 'Light.' });
    await server.received[0]?.closed;
  });

  it('stops the request when the caller leaves the loop', async () => {
    const server = await startServer((_, response) => void begin(response).write(light(dialect)));
    for await (const _ of start(gatewayAt(server.url).gateway, dialect)) break;
    await server.received[0]?.closed;
  });

  it('is opened once, and reports whether the request was accepted', async () => {
    const refused = await streamed(dialect, (_, response) =>
      answer(response, { error: { code: 503, status: 'UNAVAILABLE' } }, { status: 503 }),
    );
    expect(refused.error).toMatchObject({ code: 'unavailable', taken: 'no', retryable: true });
    expect(refused.server.received).toHaveLength(1);
    const broken = await streamed(dialect, (_, response) => void response.destroy());
    expect(broken.error).toMatchObject({ code: 'network', taken: 'unknown' });
    expect(broken.server.received).toHaveLength(1);
  });
});

describe('special cases of a dialect', () => {
  it('chat: reports an end for function calls, which it does not support', async () => {
    const { events } = await streamed(
      'chat',
      says(event({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }) + WIRE.chat.mark),
    );
    expect(events).toEqual([{ type: 'finish', finish: { reason: 'tool-calls', detail: 'tool_calls' } }]);
  });

  it('chat: reads only the first of several choices', async () => {
    const second = event({ choices: [{ index: 1, delta: { content: 'Other' }, finish_reason: 'stop' }] });
    expect((await streamed('chat', says(second + whole('chat')))).text).toBe('Light.');
  });

  it('chat: [DONE] ends the stream, whatever follows', async () => {
    const { text, finish } = await streamed(
      'chat',
      says(`${light('chat')}data: [DONE]\n\ndata: {"error":"late"}\n\n`),
    );
    expect({ text, finish }).toEqual({
      text: 'Light.',
      finish: { type: 'finish', finish: { reason: 'other' } },
    });
  });

  it('gen: a blocked prompt is a finish, not an error', async () => {
    const { finish, error } = await streamed(
      'gen',
      says(event({ promptFeedback: { blockReason: 'SAFETY' } })),
    );
    expect(error).toBeUndefined();
    expect(finish).toEqual({ type: 'finish', finish: { reason: 'blocked', detail: 'SAFETY' } });
  });

  it('gen: separates thoughts from text', async () => {
    const { events, text } = await streamed(
      'gen',
      says(event({ candidates: [{ content: { parts: [{ text: 'Hm.', thought: true }] } }] }) + whole('gen')),
    );
    expect(text).toBe('Light.');
    expect(events[0]).toEqual({ type: 'part', part: { type: 'thought', text: 'Hm.' } });
  });
});
