/** Spans in the JSON of OTLP 1: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
import { ATTRIBUTES, type AttributeValue, SPANS } from '../../../core/telemetry/trace.ts';
import type { FinishedSpan } from './tracer.ts';

/** Numbers of the protocol: `SpanKind`, and `Status.StatusCode`. */
const KINDS = { internal: 1, server: 2, client: 3, consumer: 5 } as const;
const STATUS_ERROR = 2;
/** `SpanFlags`: sampled; the next bit says whether the parent is from elsewhere, and the last that this is known. */
const FLAGS = 0x101;
const REMOTE_PARENT = 0x200;

const CONVENTIONS = 'https://opentelemetry.io/schemas/1.41.0';

/** The body of one request. `resource` says which process these spans are from. */
export function encodeSpans(
  spans: readonly FinishedSpan[],
  resource: Readonly<Record<string, string>>,
): string {
  const attributes = Object.entries(resource).map(([key, value]) => ({ key, value: { stringValue: value } }));
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes },
        scopeSpans: [{ scope: { name: 'minstrel' }, spans: spans.map(encodeSpan), schemaUrl: CONVENTIONS }],
      },
    ],
  });
}

function encodeSpan({ traceId, spanId, parent, span, name, from, to, attributes, isFailed }: FinishedSpan) {
  return {
    traceId,
    spanId,
    ...(parent && { parentSpanId: parent.spanId }),
    flags: parent?.isRemote ? FLAGS | REMOTE_PARENT : FLAGS,
    name,
    kind: KINDS[SPANS[span].kind],
    startTimeUnixNano: nanoseconds(from),
    endTimeUnixNano: nanoseconds(to),
    attributes: [...attributes].map(([key, value]) => ({ key, value: encodeValue(key, value) })),
    status: isFailed ? { code: STATUS_ERROR } : {},
  };
}

/** 64 bits are text in JSON. A number of milliseconds is exact to the microsecond. */
function nanoseconds(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds * 1_000)) * 1_000n);
}

const types: ReadonlyMap<string, { readonly type: string }> = new Map(Object.entries(ATTRIBUTES));

function encodeValue(key: string, value: AttributeValue): object {
  switch (typeof value) {
    case 'string':
      return { stringValue: value };
    case 'boolean':
      return { boolValue: value };
    case 'number':
      return types.get(key)?.type === 'double' ? { doubleValue: value } : { intValue: String(value) };
    case 'object':
      return { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } };
    default:
      return value satisfies never;
  }
}
