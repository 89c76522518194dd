import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSpanExporter, type SpanExporter } from '../../../../src/app/telemetry/traces/exporter.ts';
import type { FinishedSpan } from '../../../../src/app/telemetry/traces/tracer.ts';
import { ManualClock } from '../../../storage/manual-clock.ts';
import { RecordingLog } from '../../../storage/recording-log.ts';

const DELAY_MS = 5_000;
const TIMEOUT_MS = 10_000;

type Reply = { status: number; retryAfter?: string; text?: string } | 'hangs' | Error;

let clock: ManualClock;
let log: RecordingLog;
let exporter: SpanExporter;
/** The names of the spans of each request. */
let requests: string[][];
let reply: (request: number) => Reply;

beforeEach(() => {
  clock = new ManualClock();
  log = new RecordingLog();
  requests = [];
  reply = () => ({ status: 200 });
  exporter = createSpanExporter({
    url: 'http://collector.example/v1/traces',
    headers: { 'x-key': 'secret' },
    delayMs: DELAY_MS,
    resource: { 'service.name': 'minstrel' },
    now: clock.now,
    random: () => 0.5,
    sleep: (ms, signal) => clock.sleep(ms, signal),
    log,
    async fetch(_url, { body, headers, signal }) {
      expect(headers).toMatchObject({ 'x-key': 'secret', 'content-type': 'application/json' });
      requests.push([...body.matchAll(/"name":"(span \d+)"/g)].map(([, name = '']) => name));
      const told = reply(requests.length);
      if (told instanceof Error) throw told;
      if (told === 'hangs')
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      const { status, retryAfter = null, text = '{}' } = told;
      return {
        status,
        headers: { get: (name) => (name === 'retry-after' ? retryAfter : null) },
        text: async () => text,
      };
    },
  });
});

/** What is under way and waits for no time. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
}

/** Lets time pass. */
async function pass(milliseconds: number): Promise<void> {
  await settled();
  clock.advance(milliseconds);
  await settled();
}

let made = 0;
beforeEach(() => {
  made = 0;
});
function add(count: number): void {
  for (let index = 0; index < count; index += 1) {
    const span: FinishedSpan = {
      traceId: '1'.repeat(32),
      spanId: '2'.repeat(16),
      parent: undefined,
      span: 'step',
      name: `span ${++made}`,
      from: 1,
      to: 2,
      attributes: new Map(),
      isFailed: false,
    };
    exporter.add(span);
  }
}
const told = () => log.lines.map(({ level, sentence }) => `${level}: ${sentence}`);

afterEach(() => exporter.close());

describe('spans', () => {
  it('wait for others, and are sent with them', async () => {
    add(2);
    await pass(DELAY_MS - 1);
    expect(requests).toEqual([]);
    add(1);
    await pass(1);
    expect(requests).toEqual([['span 1', 'span 2', 'span 3']]);
    add(1);
    await pass(DELAY_MS);
    expect(requests).toHaveLength(2);
    expect(clock.timers).toBe(0);
  });

  it('that are many do not wait', async () => {
    add(600);
    await settled();
    expect(requests.map(({ length }) => length)).toEqual([512]);
    await pass(DELAY_MS);
    expect(requests.map(({ length }) => length)).toEqual([512, 88]);
  });

  it('that came while a few waited are sent as soon as they are many', async () => {
    add(1);
    await settled();
    add(511);
    await settled();
    expect(requests.map(({ length }) => length)).toEqual([512]);
  });
});

describe('a collector that is away', () => {
  it.each<[string, Reply]>([
    ['refuses connections', new TypeError('fetch failed')],
    ['answers 503', { status: 503 }],
    ['answers 429', { status: 429 }],
    ['does not answer', 'hangs'],
  ])('and %s gets the same again, ever later, and is told of once', async (_name, fault) => {
    reply = (request) => (request <= 3 ? fault : { status: 200 });
    add(1);
    await pass(DELAY_MS);
    for (const pause of [1_000, 2_000, 4_000]) {
      if (fault === 'hangs') await pass(TIMEOUT_MS);
      const before = requests.length;
      await pass(pause - 1);
      expect(requests).toHaveLength(before);
      await pass(1);
      await pass(DELAY_MS);
    }
    expect(requests).toEqual([['span 1'], ['span 1'], ['span 1'], ['span 1']]);
    expect(told()).toEqual([
      'warn: Traces could not be sent: the newest 2048 spans wait until they can be',
      'info: Traces are sent again',
    ]);
  });

  it('keeps the newest spans, and no more than it may', async () => {
    reply = () => ({ status: 503 });
    add(1);
    await pass(DELAY_MS);
    add(100_000);
    reply = () => ({ status: 200 });
    await pass(1_000);
    expect(requests.slice(1).flat()).toHaveLength(2_048);
    expect(requests.at(-1)?.at(-1)).toBe('span 100001');
    expect(log.lines.at(-1)).toMatchObject({ fields: { lost: 100_001 - 2_048 } });
  });

  it('is not hurried past its Retry-After by spans that come', async () => {
    reply = (request) => (request === 1 ? { status: 503, retryAfter: '90' } : { status: 200 });
    add(1);
    await pass(DELAY_MS);
    add(600);
    await pass(89_999);
    expect(requests).toHaveLength(1);
    await pass(1);
    expect(requests.slice(1).flat()[0]).toBe('span 1');
  });

  it('and refuses for good is not asked twice for the same', async () => {
    reply = () => ({ status: 401 });
    add(1);
    await pass(DELAY_MS);
    add(1);
    await pass(DELAY_MS);
    await pass(3_600_000);
    expect(requests).toEqual([['span 1'], ['span 2']]);
    expect(told()).toHaveLength(1);
  });
});

it('spans that the collector refuses are told of', async () => {
  reply = () => ({ status: 200, text: '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}}' });
  add(3);
  await pass(DELAY_MS);
  expect(log.lines).toEqual([
    { level: 'warn', fields: { rejected: 2 }, sentence: 'The collector of traces refused some spans' },
  ]);
});

it.each([['nonsense'], [''], ['[]'], ['{"partialSuccess":{}}'], ['{"partialSuccess":null}']])(
  'an answer of %j is taken as good',
  async (text) => {
    reply = () => ({ status: 200, text });
    add(1);
    await pass(DELAY_MS);
    expect(log.lines).toEqual([]);
  },
);

describe('at the end', () => {
  it('what waits is sent at once, in as many requests as it needs', async () => {
    add(1_200);
    await exporter.close();
    expect(requests.map(({ length }) => length)).toEqual([512, 512, 176]);
    add(1);
    await pass(DELAY_MS);
    expect(requests).toHaveLength(3);
  });

  it('a collector that does not answer is given up after two seconds', async () => {
    reply = () => 'hangs';
    add(600);
    const closed = exporter.close();
    await pass(1_999);
    let isClosed = false;
    void closed.then(() => (isClosed = true));
    await settled();
    expect(isClosed).toBe(false);
    await pass(1);
    await closed;
    expect(requests).toHaveLength(1);
    expect(clock.timers).toBe(0);
  });

  it('a collector that is away is asked once, and not waited for', async () => {
    reply = () => ({ status: 503, retryAfter: '90' });
    add(1);
    await pass(DELAY_MS);
    await exporter.close();
    expect(requests).toHaveLength(2);
    expect(clock.timers).toBe(0);
  });
});
