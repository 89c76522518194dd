import { describe, expect, it } from 'vitest';
import {
  createTracer,
  type FinishedSpan,
  type Sampler,
} from '../../../../src/app/telemetry/traces/tracer.ts';
import type { Tracer } from '../../../../src/core/telemetry/trace.ts';
import { GatewayError } from '../../../../src/gateway/transport/errors.ts';

const ALL: Sampler = { root: () => true, followsParent: true };
const NONE: Sampler = { root: () => false, followsParent: true };
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const STORED = `00-${TRACE}-00f067aa0ba902b7-01`;

function traced(sampler = ALL) {
  const spans: FinishedSpan[] = [];
  let made = 0;
  let time = 0;
  const tracer = createTracer({
    sampler,
    send: (span) => spans.push(span),
    now: () => 1_000,
    elapsed: () => (time += 5),
    randomHex: (bytes) => (++made).toString(16).padStart(bytes * 2, '0'),
  });
  return { tracer, spans };
}

const step = (tracer: Tracer, parent: string | undefined, work: () => Promise<void> = async () => {}) =>
  tracer.run({ span: 'step', parent, attributes: { 'minstrel.state': 'waiting' } }, work);

describe('a span', () => {
  it('is a child of the span that it begins in, also after a pause and beside others', async () => {
    const { tracer, spans } = traced();
    await step(tracer, 'none', async () => {
      const media = (operation: string) =>
        tracer.run({ span: 'media', attributes: { 'minstrel.operation': operation } }, async () => {
          await new Promise(setImmediate);
          tracer.record({ span: 'callback', attributes: {} }, { from: 10, to: 20 });
        });
      await Promise.all([media('keep'), media('tag')]);
    });
    const named = (name: string) => spans.find((span) => span.name === name);
    const root = named('step waiting');
    expect(root?.parent).toBeUndefined();
    for (const name of ['media keep', 'media tag'])
      expect(named(name)).toMatchObject({ traceId: root?.traceId, parent: { spanId: root?.spanId } });
    const parents = spans.filter(({ name }) => name === 'callback').map(({ parent }) => parent?.spanId);
    expect(parents.toSorted()).toEqual([named('media keep')?.spanId, named('media tag')?.spanId].toSorted());
  });

  it('goes on with a trace that was stored, whatever span is around it', async () => {
    const { tracer, spans } = traced();
    let sent: string | undefined;
    await step(tracer, 'none', async () => {
      await step(tracer, STORED, async () => {
        sent = tracer.traceparent();
      });
    });
    const [stored] = spans;
    expect(stored).toMatchObject({ traceId: TRACE, parent: { spanId: '00f067aa0ba902b7', isRemote: true } });
    expect(sent).toBe(`00-${TRACE}-${stored?.spanId}-01`);
    expect(tracer.traceparent()).toBeUndefined();
  });

  it.each([
    ['none'],
    [''],
    [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
    [`00-${TRACE}-${'0'.repeat(16)}-01`],
    [`ff-${TRACE}-00f067aa0ba902b7-01`],
    [`00-${TRACE}-00f067aa0ba902b7-01-more`],
    [STORED.toUpperCase()],
    [`00-${TRACE}-00f067aa0ba902b7`],
  ])('begins a trace of its own where %j was stored', async (parent) => {
    const { tracer, spans } = traced();
    await step(tracer, parent);
    expect(spans[0]?.parent).toBeUndefined();
  });

  it('takes a version of the format that is to come', async () => {
    const { tracer, spans } = traced();
    await step(tracer, `cc-${TRACE}-00f067aa0ba902b7-01-more`);
    expect(spans[0]?.traceId).toBe(TRACE);
  });

  it('that fails tells the code of its error, and no word of it', async () => {
    const { tracer, spans } = traced();
    const secret = 'my grandmother’s letter';
    const failed = new GatewayError({
      code: 'rate',
      route: 'music/generate',
      explanation: secret,
      taken: 'no',
      retryable: true,
    });
    const errors = [
      failed,
      new TypeError(secret),
      Object.assign(new Error(secret), { code: secret }),
      secret,
    ];
    for (const error of errors)
      await expect(step(tracer, 'none', () => Promise.reject(error))).rejects.toBe(error);
    expect(spans.map(({ attributes }) => attributes.get('error.type'))).toEqual([
      'rate',
      'TypeError',
      'Error',
      '_OTHER',
    ]);
    expect(spans.every(({ isFailed }) => isFailed)).toBe(true);
    expect(JSON.stringify(spans.map((span) => [...span.attributes]))).not.toContain('grandmother');
  });

  it('is told from outside only what it declares', async () => {
    const { tracer, spans } = traced();
    const told = { 'http.response.status_code': 503, 'minstrel.gateway.tries': 4 };
    tracer.annotate(told);
    await step(tracer, 'none', async () => {
      tracer.annotate(told);
      await tracer.run({ span: 'read', attributes: {} }, async () => tracer.annotate(told));
    });
    const [read, around] = spans;
    expect([...(read?.attributes ?? [])]).toEqual(Object.entries(told));
    expect([...(around?.attributes ?? [])]).toEqual([['minstrel.state', 'waiting']]);
  });

  it('that is ended twice is sent once, and what is set later is not waited for', () => {
    const { tracer, spans } = traced();
    const span = tracer.begin({ span: 'delivery', attributes: {} });
    span.end();
    span.end(new Error('late'));
    expect(spans).toHaveLength(1);
    expect(spans[0]).toMatchObject({ isFailed: false, from: 1_000, to: 1_005 });
  });

  it('never ends before it begins, although two clocks told its times', () => {
    const { tracer, spans } = traced();
    tracer.record({ span: 'queue', attributes: {} }, { from: 2_000, to: 1_990 });
    expect(spans[0]).toMatchObject({ from: 2_000, to: 2_000 });
  });
});

describe('what is sent', () => {
  it('is decided where the trace begins, and holds in every process', async () => {
    const begins = traced(NONE);
    let stored: string | undefined;
    await step(begins.tracer, 'none', async () => {
      stored = begins.tracer.traceparent();
      await step(begins.tracer, undefined);
      begins.tracer.record({ span: 'queue', attributes: {} }, { from: 1, to: 2 });
    });
    expect(stored).toMatch(/-00$/);
    const goesOn = traced(ALL);
    await step(goesOn.tracer, stored);
    await step(goesOn.tracer, STORED);
    expect([begins.spans.length, goesOn.spans.length]).toEqual([0, 1]);
  });

  it('is decided anew by a sampler that follows no parent', async () => {
    const { tracer, spans } = traced({ root: () => false, followsParent: false });
    await step(tracer, STORED);
    expect(spans).toEqual([]);
  });
});
