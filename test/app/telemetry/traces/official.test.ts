/** What is sent, compared with what OpenTelemetry's own packages send for the same. */
import { context, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, it } from 'vitest';
import { encodeSpans } from '../../../../src/app/telemetry/traces/otlp.ts';
import type { FinishedSpan } from '../../../../src/app/telemetry/traces/tracer.ts';
import { startCollector } from '../../../servers/collector.ts';

const FROM = 1_763_800_000_000.5;
const TO = FROM + 250.25;
const PARENT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const ATTRIBUTES = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.stream': true,
  'gen_ai.usage.input_tokens': 12,
  'gen_ai.request.temperature': 0.5,
  'gen_ai.response.finish_reasons': ['stop'],
  'error.type': 'rate',
};

it('a span is sent as the official exporter sends it, and a strict collector takes both', async () => {
  await using collector = await startCollector();
  const provider = new TracerProvider({
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${collector.url}/v1/traces` }) }),
    ],
  });
  const tracer = provider.getTracer('minstrel', undefined, {
    schemaUrl: 'https://opentelemetry.io/schemas/1.41.0',
  });
  const parent = { ...PARENT, traceFlags: TraceFlags.SAMPLED, isRemote: true };
  const official = tracer.startSpan(
    'chat some-model',
    { kind: SpanKind.CLIENT, startTime: FROM, attributes: ATTRIBUTES },
    trace.setSpanContext(context.active(), parent),
  );
  official.setStatus({ code: SpanStatusCode.ERROR });
  official.end(TO);
  await provider.shutdown();

  const own: FinishedSpan = {
    traceId: PARENT.traceId,
    spanId: official.spanContext().spanId,
    parent: { spanId: PARENT.spanId, isRemote: true },
    span: 'inference',
    name: 'chat some-model',
    from: FROM,
    to: TO,
    attributes: new Map(Object.entries(ATTRIBUTES)),
    isFailed: true,
  };
  const body = encodeSpans([own], { 'service.name': 'minstrel' });
  const headers = { 'content-type': 'application/json' };
  const { status } = await fetch(`${collector.url}/v1/traces`, { method: 'POST', headers, body });

  expect(status, collector.refused.join()).toBe(200);
  const [theirs, ours] = collector.spans.map(({ resource: _, process: __, ...span }) => span);
  expect(ours).toEqual(theirs);
  // Numbers of 64 bits are text in the JSON of protocol buffers, where the official packages write numbers.
  const scopes = collector.bodies.map(
    (text) => JSON.parse(text.slice(text.lastIndexOf('\n'))).resourceSpans[0].scopeSpans[0],
  );
  expect({ ...scopes[1], spans: [] }).toEqual({ ...scopes[0], spans: [] });
  expect(scopes[0].spans[0]).toMatchObject({ ...scopes[1].spans[0], attributes: expect.any(Array) });
});
