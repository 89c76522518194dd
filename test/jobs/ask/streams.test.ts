import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Message } from '../../../src/core/message.ts';
import type { JobDependencies } from '../../../src/jobs/dependencies.ts';
import { gatewayAt, stopTimers, timeUntil } from '../../gateway/support.ts';
import { advanceOnce, createWorld, QUESTION, type World } from '../world.ts';
import { chatEvent, chatStream, events, json, type Reply, startUpstream, type Upstream } from './upstream.ts';

/** Tests jobs with the real gateway client, against a gateway that the test controls byte by byte. */
let world: World;
let upstream: Upstream;
let dependencies: JobDependencies;

const CHAT = '/chat/completions';
const MSG = '/messages';
const SILENCE_MS = 3_600_000;

beforeEach(async () => {
  world = await createWorld();
  upstream = await startUpstream();
  connect();
});

function connect(sleep = async (): Promise<void> => undefined): void {
  // Only silence ends an answer, and the test controls the clock.
  const timeouts = { stallMs: SILENCE_MS, answerMs: 2 ** 31 - 1 };
  const { gateway } = gatewayAt(upstream.url, { sleep, timeouts });
  dependencies = { ...world.dependencies, gateway };
}

afterEach(async () => {
  await upstream[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const step = (job: string, signal = new AbortController().signal) =>
  advanceOnce(dependencies, job, { signal });

async function ask(reply: Reply): Promise<Message> {
  upstream.next(CHAT, reply);
  const job = await world.start(QUESTION);
  await step(job);
  const message = world.message();
  if (!message) throw new Error('The channel is empty');
  return message;
}

/** Texts in the channel while the answer was written. */
const shown = () => world.platform.history.flatMap(({ text, progress }) => (progress && text ? [text] : []));
const labels = ({ actions = [] }: Message) => actions.map(({ label }) => label);

describe('a cut stream', () => {
  const WORDS = ['Ein ', '**schöner** ', 'Tag 🎵', ', `x', ' * y`', '.'];
  const WHOLE = WORDS.join('');
  const stream = Buffer.from(chatStream(WORDS));

  it('is complete or marked at any byte, and never contains more than was sent', async () => {
    for (let at = 0; at <= stream.length; at += 1) {
      const { text = '', footer = '' } = await ask((response) => {
        events(response).write(stream.subarray(0, at), () => response.socket?.end());
      });
      const isMarked =
        footer.includes('The answer was cut off here. Press Again for a complete one.') ||
        text.includes('before the first word') ||
        text.includes("didn't ask twice");
      if (text === WHOLE && !isMarked) continue;
      expect(isMarked, `cut at ${at}: ${text} ${footer}`).toBe(true);
      if (footer.includes('The answer was cut off here. Press Again for a complete one.'))
        expect(WHOLE.startsWith(text.trim()), `cut at ${at}: ${text}`).toBe(true);
      expect(labels(world.message() ?? {})).toEqual(['Again']);
    }
  });

  it('in chunks of one byte gives the same answer', async () => {
    const { text, footer } = await ask(async (response) => {
      events(response);
      for (const byte of stream) await new Promise((resolve) => response.write(Buffer.from([byte]), resolve));
      response.end();
    });
    expect(text).toBe(WHOLE);
    expect(footer).toBe('chat-small');
  });
});

describe('a broken stream', () => {
  it('keeps the text and shows a note after silence', async () => {
    stopTimers();
    const answering = ask((response) => {
      events(response).write(chatEvent('Half an ans'));
    });
    await expect.poll(() => shown()).toContain('Half an ans');
    const { text, footer } = await timeUntil(answering, SILENCE_MS);
    expect(text).toBe('Half an ans');
    expect(footer).toContain('The answer was cut off here. Press Again for a complete one.');
    await expect.poll(() => upstream.abandoned).toBe(1);
  });

  it('shows a failure with Again after silence before the first word', async () => {
    stopTimers();
    const answering = ask((response) => {
      events(response).flushHeaders();
    });
    await expect.poll(() => upstream.requests).toHaveLength(1);
    const message = await timeUntil(answering, SILENCE_MS);
    expect(message.text).toContain('stopped responding');
    expect(labels(message)).toEqual(['Again']);
  });

  it('keeps the text after an error in the middle', async () => {
    const { text, footer } = await ask((response) => {
      events(response).end(`${chatEvent('So far')}data: {"error":{"message":"overloaded"}}\n\n`);
    });
    expect(text).toBe('So far');
    expect(footer).toContain('The answer was cut off here. Press Again for a complete one.');
  });

  it('that never ends is stopped, and its connection closed', async () => {
    const chunk = chatEvent('and on '.repeat(1000));
    const { text = '', footer } = await ask((response) => {
      events(response);
      const write = () => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    });
    expect(footer).toContain(
      'The answer became too long, so I stopped it here. Press Again, or ask for a shorter answer.',
    );
    expect(text.length).toBeLessThan(250_000);
    await expect.poll(() => upstream.abandoned).toBe(1);
  });

  it('without any content shows a failure', async () => {
    expect((await ask((response) => void events(response).end(chatStream([])))).text).toContain(
      'answer was empty',
    );
  });
});

describe('an end reported by the gateway', () => {
  it.each([
    ['length', 'reached the length limit', 'reached its'],
    ['content_filter', 'content filter stopped the answer here', 'content filter blocked this'],
    ['tool_calls', "functions that aren't available", 'none are available here'],
  ])('shows a note for %s, with and without text', async (reason, note, sentence) => {
    const answer = await ask((response) => void events(response).end(chatStream(['Once upon'], reason)));
    expect(answer.text).toBe('Once upon');
    expect(answer.footer).toContain(note);
    const job = await world.start({
      ...QUESTION,
      work: { ...QUESTION.work, request: { ...QUESTION.work.request, maxTokens: 9 } } as typeof QUESTION.work,
    });
    upstream.next(
      CHAT,
      (response) => void events(response).end(`${chatEvent(' ')}${chatStream([], reason)}`),
    );
    await step(job);
    expect(world.message()?.text).toContain(sentence);
  });

  it('shows a refusal of the model', async () => {
    const refusal = {
      choices: [{ index: 0, delta: { refusal: 'I cannot help with that.' }, finish_reason: 'stop' }],
    };
    const { text, footer } = await ask(
      (response) => void events(response).end(`data: ${JSON.stringify(refusal)}\n\ndata: [DONE]\n\n`),
    );
    expect(text).toBe('I cannot help with that.');
    expect(footer).toContain('declined');
  });
});

describe('while streaming', () => {
  it('each state starts the next one, with unfinished markup closed', async () => {
    const text = 'This is **bold and *slanted* words**, `code`, and [a page](https://example.org) to read.';
    // The start of a link is not shown, so it needs a word before it.
    const words = text.split(/(?<= )(?!\[)/);
    const message = await ask(async (response) => {
      events(response);
      for (const word of words) {
        const before = world.platform.history.length;
        response.write(chatEvent(word));
        await expect.poll(() => world.platform.history.length).toBeGreaterThan(before);
        world.clock.advance(100);
      }
      response.end(chatStream([]));
    });
    expect(message.text).toBe(text);
    const states = shown();
    expect(states).toHaveLength(words.length);
    for (const state of states) {
      expect((state.match(/\*\*/g) ?? []).length % 2).toBe(0);
      expect((state.match(/`/g) ?? []).length % 2).toBe(0);
    }
    const bare = states.map((state) => state.replace(/[*`[\]]|\(https?:[^)]*\)?/g, '').trim());
    for (const [index, state] of bare.entries())
      expect(bare[index + 1] ?? state).toMatch(
        new RegExp(`^${state.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`),
      );
  });
});

describe('Stop', () => {
  const begun: Reply = (response) => void events(response).write(chatEvent('I was about to say'));

  it('aborts the request immediately, and keeps and marks the text', async () => {
    upstream.next(CHAT, begun);
    const job = await world.start(QUESTION);
    const answering = step(job);
    await expect.poll(() => shown()).toContain('I was about to say');
    await world.jobs.cancel(job, 'ada');
    await expect.poll(() => upstream.abandoned).toBe(1);
    await answering;
    expect(world.message()?.text).toBe('I was about to say');
    expect(world.message()?.footer).toContain('Stopped');
    expect(labels(world.message() ?? {})).toEqual(['Again']);
    expect((await world.read(job)).state).toBe('delivered');
  });

  it('before the first word shows that the answer was stopped', async () => {
    upstream.next(CHAT, (response) => void events(response).flushHeaders());
    const job = await world.start(QUESTION);
    const answering = step(job);
    await expect.poll(() => upstream.requests).toHaveLength(1);
    await world.jobs.cancel(job, 'ada');
    await answering;
    expect(world.message()?.text).toBe('Stopped before the first word. Press Again to start over.');
  });

  it('is read from the record without a notification', async () => {
    upstream.next(CHAT, begun);
    dependencies = {
      ...dependencies,
      storage: {
        ...dependencies.storage,
        notifications: { publish: async () => {}, subscribe: () => () => {} },
      },
    };
    const job = await world.start(QUESTION);
    const answering = step(job);
    await expect.poll(() => shown()).toContain('I was about to say');
    await world.jobs.cancel(job, 'ada');
    world.clock.advance(1_000);
    await answering;
    expect(world.message()?.footer).toContain('Stopped');
    expect((await world.read(job)).state).toBe('delivered');
  });
});

describe('a shutdown', () => {
  it('keeps and marks the text, and aborts the request', async () => {
    upstream.next(CHAT, (response) => void events(response).write(chatEvent('Half')));
    const job = await world.start(QUESTION);
    const shutdown = new AbortController();
    const answering = step(job, shutdown.signal);
    await expect.poll(() => shown()).toContain('Half');
    shutdown.abort();
    await answering;
    expect(world.log.lines.filter(({ level }) => level !== 'debug' && level !== 'info')).toEqual([]);
    await step(job);
    expect(world.message()?.footer).toContain('The answer was cut off here. Press Again for a complete one.');
  });

  it('before the request leads to a retry at the next start', async () => {
    const shutdown = new AbortController();
    const { notifications } = dependencies.storage;
    // Between the stored claim and the request.
    const subscribe: typeof notifications.subscribe = (...how) => {
      shutdown.abort();
      return notifications.subscribe(...how);
    };
    const storage = { ...dependencies.storage, notifications: { ...notifications, subscribe } };
    const job = await world.start(QUESTION);
    await advanceOnce({ ...dependencies, storage }, job, { signal: shutdown.signal });
    expect(upstream.requests).toHaveLength(0);
    expect((await world.read(job)).state).toBe('accepted');
    upstream.next(CHAT, (response) => void events(response).end(chatStream(['Here I am.'])));
    await step(job);
    expect(world.message()?.text).toBe('Here I am.');
  });

  it('while waiting for a retry leads to a retry at the next start', async () => {
    const shutdown = new AbortController();
    connect(async () => shutdown.abort());
    const job = await world.start(QUESTION);
    upstream.next(CHAT, (response) => void response.writeHead(429).end('{}'));
    await step(job, shutdown.signal);
    expect((await world.read(job)).state).toBe('accepted');
    connect();
    upstream.next(CHAT, (response) => void events(response).end(chatStream(['Here I am.'])));
    await step(job);
    expect(world.message()?.text).toBe('Here I am.');
    expect(upstream.requests).toHaveLength(2);
  });

  it('before the first word shows that the bot was restarted', async () => {
    upstream.next(CHAT, (response) => void events(response).flushHeaders());
    const job = await world.start(QUESTION);
    const shutdown = new AbortController();
    const answering = step(job, shutdown.signal);
    await expect.poll(() => upstream.requests).toHaveLength(1);
    shutdown.abort();
    await answering;
    await step(job);
    expect(world.message()?.text).toContain('restarted in the middle');
  });
});

describe('an answer with tools', () => {
  it('is not repeated if a request is refused after an accepted one', async () => {
    const toolResponse = {
      candidates: [{ content: { parts: [{ functionCall: { name: 'nothing', args: {} } }] } }],
    };
    const refused = json({ error: { code: 429, message: 'slow down' } }, 429);
    upstream.next('generateContent', json(toolResponse), refused);
    const way = { type: 'tools', commands: ['song'] } as const;
    const turns = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Sing!' }] }];
    const request = { model: 'small', turns };
    const job = await world.start({ title: 'Sing', work: { route: 'answer', dialect: 'gen', request, way } });
    await step(job);
    expect((await world.read(job)).failure).toMatchObject({ code: 'rate', taken: 'unknown' });
    expect(upstream.requests).toHaveLength(2);
  });
});

describe('a question rejected by the model', () => {
  const refusal: Reply = (response) => {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"error":{"type":"invalid_request_error","message":"Could not process image"}}');
  };

  it('is repeated once without the images of earlier messages', async () => {
    const file = { name: 'cat.png', bytes: 4, contentType: 'image/png' };
    const turns = [
      { role: 'user' as const, parts: [{ type: 'image' as const, file, name: 'cat.jpg' }] },
      { role: 'assistant' as const, parts: [{ type: 'text' as const, text: 'A cat.' }] },
      { role: 'user' as const, parts: [{ type: 'text' as const, text: 'What is 2 + 2?' }] },
    ];
    upstream.next(
      MSG,
      refusal,
      json({ content: [{ type: 'text', text: 'Four.' }], stop_reason: 'end_turn' }),
    );
    const job = await world.start({
      title: '“sum”',
      work: { route: 'answer', dialect: 'msg', request: { model: 'scribe', turns } },
    });
    await step(job);
    expect(upstream.requests).toHaveLength(2);
    expect(JSON.stringify(upstream.requests[1]?.body)).toContain('(an image)');
    expect((await world.read(job)).result?.answer).toMatchObject({
      text: 'Four.',
      leftOut: { images: ['cat.jpg'] },
    });
  });

  it('is cut at the end if it is too long and no earlier message is left', async () => {
    const text = `Summarise: ${'word '.repeat(4_000)}`;
    const tooLong: Reply = (response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(
        '{"error":{"message":"maximum context length exceeded","code":"context_length_exceeded"}}',
      );
    };
    upstream.next(CHAT, tooLong, (response) => void events(response).end(chatStream(['Words.'])));
    const turns = [{ role: 'user' as const, parts: [{ type: 'text' as const, text }] }];
    const job = await world.start({
      title: '“sum”',
      work: { route: 'answer', dialect: 'chat', request: { model: 'small', turns } },
    });
    await step(job);
    const { result } = await world.read(job);
    expect(result?.answer?.leftOut?.characters).toBeGreaterThan(9_000);
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('Summarise: word');
  });
});

describe('a conversation that is too long for the model', () => {
  it('is shortened until it fits', async () => {
    const turns = Array.from({ length: 9 }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      parts: [{ type: 'text' as const, text: `${index} ${'word '.repeat(40)}` }],
    }));
    const tooLong: Reply = (response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(
        '{"error":{"message":"maximum context length exceeded","type":"invalid_request_error","code":"context_length_exceeded"}}',
      );
    };
    upstream.next(CHAT, tooLong, tooLong, (response) => void events(response).end(chatStream(['Fits.'])));
    const job = await world.start({
      title: '“8”',
      work: { route: 'answer', dialect: 'chat', request: { model: 'small', turns } },
    });
    await step(job);
    expect(world.message()?.text).toBe('Fits.');
    const lengths = upstream.requests.map(({ body }) => JSON.stringify(body).length);
    expect(lengths).toEqual(lengths.toSorted((one, other) => other - one));
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('"8 word');
  });
});
