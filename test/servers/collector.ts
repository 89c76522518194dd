/**
 * A local trace collector: OTLP 1 over HTTP in JSON, https://opentelemetry.io/docs/specs/otlp/#otlphttp. It rejects anything
 * outside the protocol.
 */
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { untilChanged } from './until.ts';

const unsigned64 = z.string().regex(/^\d{1,20}$/);
const signed64 = z.string().regex(/^-?\d{1,19}$/);
const traceId = z.string().regex(/^(?!0{32})[\da-f]{32}$/);
const spanId = z.string().regex(/^(?!0{16})[\da-f]{16}$/);
const one = (value: object) => Object.keys(value).length === 1;
const single = z
  .strictObject({
    stringValue: z.string().optional(),
    boolValue: z.boolean().optional(),
    intValue: z.union([signed64, z.int()]).optional(),
    doubleValue: z.number().optional(),
  })
  .refine(one, 'a value must have one type');
const anyValue = z.union([
  single,
  z.strictObject({ arrayValue: z.strictObject({ values: z.array(single) }) }),
]);
const attributes = z
  .array(z.strictObject({ key: z.string().min(1), value: anyValue }))
  .refine((list) => new Set(list.map(({ key }) => key)).size === list.length, 'duplicate key');

const spanSchema = z
  .strictObject({
    traceId,
    spanId,
    parentSpanId: spanId.optional(),
    traceState: z.string().optional(),
    flags: z.int().min(0).max(0x3ff).optional(),
    name: z.string().min(1),
    /** From SPAN_KIND_INTERNAL to SPAN_KIND_CONSUMER. */
    kind: z.int().min(1).max(5),
    startTimeUnixNano: unsigned64,
    endTimeUnixNano: unsigned64,
    attributes: attributes.optional(),
    droppedAttributesCount: z.int().optional(),
    events: z.array(z.never()).optional(),
    droppedEventsCount: z.int().optional(),
    links: z.array(z.never()).optional(),
    droppedLinksCount: z.int().optional(),
    status: z.strictObject({ code: z.int().min(0).max(2).optional() }),
  })
  .refine((span) => BigInt(span.startTimeUnixNano) <= BigInt(span.endTimeUnixNano), 'ends before it starts')
  .refine((span) => BigInt(span.startTimeUnixNano) > 10n ** 18n, 'times are nanoseconds since the epoch')
  .refine((span) => span.parentSpanId !== span.spanId, 'parent is the span itself');

const requestSchema = z.strictObject({
  resourceSpans: z
    .array(
      z.strictObject({
        resource: z.strictObject({ attributes, droppedAttributesCount: z.int().optional() }),
        scopeSpans: z
          .array(
            z.strictObject({
              scope: z.strictObject({ name: z.string().min(1), version: z.string().optional() }),
              spans: z.array(spanSchema).min(1),
              schemaUrl: z.url().optional(),
            }),
          )
          .min(1),
        schemaUrl: z.url().optional(),
      }),
    )
    .min(1),
});

type Value = string | number | boolean | readonly (string | number | boolean)[];

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  /** Nanoseconds since the epoch. */
  readonly from: bigint;
  readonly to: bigint;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly isFailed: boolean;
  /** `service.instance.id` of the process. */
  readonly process: Value | undefined;
  readonly resource: Readonly<Record<string, Value>>;
}

export interface SpanTree {
  readonly span: CollectedSpan;
  readonly children: readonly SpanTree[];
}

/** The fault for the next requests: a status, or no response until the caller gives up. */
export type CollectorFault = { readonly status: number; readonly retryAfter?: string } | 'hangs';

export interface Collector extends AsyncDisposable {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** All received bytes, including headers and paths. */
  readonly bodies: string[];
  /** The reasons of rejected requests. */
  readonly refused: string[];
  /** Called for every request; returns undefined to accept it. */
  decide: () => CollectorFault | undefined;
  until<Found>(condition: (spans: readonly CollectedSpan[]) => Found | undefined | false): Promise<Found>;
  /** Returns span trees, oldest first. Roots are spans without a received parent. */
  trees(): SpanTree[];
}

export async function startCollector(port = 0): Promise<Collector> {
  const emitter = new EventEmitter();
  const [spans, bodies, refused]: [CollectedSpan[], string[], string[]] = [[], [], []];
  const refuse = (response: ServerResponse, status: number, reason: string) => {
    refused.push(reason);
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ message: reason }));
  };

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(request);
    const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
    bodies.push(`${request.method} ${request.url}\n${JSON.stringify(request.headers)}\n${text}`);
    const fault = collector.decide();
    if (fault === 'hangs') return;
    if (fault) {
      response.writeHead(fault.status, fault.retryAfter ? { 'retry-after': fault.retryAfter } : {}).end();
      return;
    }
    if (request.method !== 'POST' || request.url !== '/v1/traces')
      return refuse(response, 404, `${request.method} ${request.url} is not a route`);
    if (request.headers['content-type'] !== 'application/json')
      return refuse(response, 415, `${request.headers['content-type']} is not supported`);
    const parsed = requestSchema.safeParse(JSON.parse(text));
    if (!parsed.success) return refuse(response, 400, z.prettifyError(parsed.error));
    spans.push(...parsed.data.resourceSpans.flatMap(spansOf));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    emitter.emit('change');
  }

  const server = createServer((request, response) => {
    receive(request, response).catch((error: unknown) => refuse(response, 400, String(error)));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const collector: Collector = {
    // Sound: a TCP server that listens has an AddressInfo.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    refused,
    decide: () => undefined,
    until: (condition) =>
      untilChanged(() => condition(spans), {
        emitter,
        event: 'change',
        explain: () =>
          `Timed out waiting for spans. Received:\n${collector
            .trees()
            .map((tree) => drawTree(tree))
            .join('\n')}`,
      }),
    trees() {
      const ids = new Set(spans.map(({ spanId }) => spanId));
      const tree = (span: CollectedSpan): SpanTree => ({
        span,
        children: spans
          .filter(({ parentSpanId, traceId }) => parentSpanId === span.spanId && traceId === span.traceId)
          .toSorted(byTime)
          .map(tree),
      });
      return spans
        .filter(({ parentSpanId }) => parentSpanId === undefined || !ids.has(parentSpanId))
        .toSorted(byTime)
        .map(tree);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return collector;
}

function spansOf({ resource, scopeSpans }: z.infer<typeof requestSchema>['resourceSpans'][number]) {
  const from = valuesOf(resource.attributes);
  return scopeSpans.flatMap(({ spans }) =>
    spans.map(
      (span): CollectedSpan => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId,
        name: span.name,
        kind: span.kind,
        from: BigInt(span.startTimeUnixNano),
        to: BigInt(span.endTimeUnixNano),
        attributes: valuesOf(span.attributes ?? []),
        isFailed: span.status.code === 2,
        process: from['service.instance.id'],
        resource: from,
      }),
    ),
  );
}

function valuesOf(list: z.infer<typeof attributes>): Record<string, Value> {
  return Object.fromEntries(
    list.map(({ key, value }): [string, Value] => [
      key,
      'arrayValue' in value ? value.arrayValue.values.map(scalar) : scalar(value),
    ]),
  );
}

function scalar({ stringValue, boolValue, intValue, doubleValue }: z.infer<typeof single>) {
  return stringValue ?? boolValue ?? doubleValue ?? Number(intValue);
}

const byTime = (a: CollectedSpan, b: CollectedSpan) => Number(a.from - b.from);

/** Formats a tree with one line per span, with its duration and attributes. */
function drawTree({ span, children }: SpanTree, depth = 0): string {
  const milliseconds = (Number(span.to - span.from) / 1e6).toFixed(1);
  const details = Object.entries(span.attributes).map(([key, value]) => `${key}=${String(value)}`);
  const line = `${'  '.repeat(depth)}${span.name}${span.isFailed ? ' FAILED' : ''} ${milliseconds} ms  ${details.join(' ')}`;
  return [line, ...children.map((child) => drawTree(child, depth + 1))].join('\n');
}
