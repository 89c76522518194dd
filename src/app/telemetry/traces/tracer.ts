/** Spans of this process, and the trace context that leads from one to the next: https://www.w3.org/TR/trace-context-1 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { System } from '../../../core/system.ts';
import {
  type AttributeName,
  type AttributeValue,
  type OpenSpan,
  SPANS,
  type SpanName,
  type SpanStart,
  type Tracer,
} from '../../../core/telemetry/trace.ts';

/** A span that ended, to be sent. */
export interface FinishedSpan {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: { readonly spanId: string; readonly isRemote: boolean } | undefined;
  readonly span: SpanName;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly attributes: ReadonlyMap<string, AttributeValue>;
  readonly isFailed: boolean;
}

interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
  /** It was made by another process, or long ago. */
  readonly isRemote: boolean;
}

/** Whether the spans of a trace are sent. */
export interface Sampler {
  /** Decides for a trace that begins here. */
  readonly root: (traceId: string) => boolean;
  /** Whether what was decided where the trace began holds. */
  readonly followsParent: boolean;
}

export interface TracerOptions extends Pick<System, 'now' | 'elapsed'> {
  readonly sampler: Sampler;
  readonly send: (span: FinishedSpan) => void;
  /** As many random bytes as hexadecimal digits. */
  readonly randomHex: (bytes: number) => string;
}

interface Active {
  readonly context: TraceContext;
  annotate(attributes: Attributes): void;
}

type Attributes = { readonly [Attribute in AttributeName]?: AttributeValue | undefined };

function setAll(attributes: Map<string, AttributeValue>, given: Attributes): void {
  for (const [name, value] of Object.entries(given)) if (value !== undefined) attributes.set(name, value);
}

export function createTracer({ sampler, send, now, elapsed, randomHex }: TracerOptions): Tracer {
  const active = new AsyncLocalStorage<Active>();

  function contextOf(parent: TraceContext | undefined): TraceContext {
    const traceId = parent?.traceId ?? randomHex(16);
    const isSampled = parent && sampler.followsParent ? parent.isSampled : sampler.root(traceId);
    return { traceId, spanId: randomHex(8), isSampled, isRemote: false };
  }

  const parentOf = (given: string | undefined): TraceContext | undefined =>
    given === undefined ? active.getStore()?.context : readTraceparent(given);

  function begin<Name extends SpanName>(start: SpanStart<Name>): OpenSpan<Name> {
    const parent = parentOf(start.parent);
    const context = contextOf(parent);
    const attributes = new Map<string, AttributeValue>();
    const [from, began] = [now(), elapsed()];
    const set = (given: Attributes) => setAll(attributes, given);
    set(start.attributes);
    const declared: readonly string[] = SPANS[start.span].attributes;
    const own: Active = {
      context,
      annotate: (given) =>
        set(Object.fromEntries(Object.entries(given).filter(([name]) => declared.includes(name)))),
    };
    let isEnded = false;
    return {
      set,
      within: (work) => active.run(own, work),
      seconds: () => (elapsed() - began) / 1000,
      end(error) {
        if (isEnded) return;
        isEnded = true;
        if (!context.isSampled) return;
        if (error !== undefined) set({ 'error.type': errorType(error) });
        send({
          ...finished(start.span, context, parent, attributes),
          from,
          to: from + elapsed() - began,
          isFailed: error !== undefined,
        });
      },
    };
  }

  return {
    begin,
    async run(start, work) {
      const span = begin(start);
      try {
        const result = await span.within(() => work(span));
        span.end();
        return result;
      } catch (error) {
        span.end(error ?? new Error());
        throw error;
      }
    },
    record({ span, attributes: given, parent: named }, { from, to }) {
      const parent = parentOf(named);
      const context = contextOf(parent);
      if (!context.isSampled) return;
      const attributes = new Map<string, AttributeValue>();
      setAll(attributes, given);
      send({ ...finished(span, context, parent, attributes), from, to: Math.max(from, to), isFailed: false });
    },
    annotate: (attributes) => active.getStore()?.annotate(attributes),
    traceparent() {
      const context = active.getStore()?.context;
      return context && writeTraceparent(context);
    },
  };
}

function finished(
  span: SpanName,
  { traceId, spanId }: TraceContext,
  parent: TraceContext | undefined,
  attributes: ReadonlyMap<string, AttributeValue>,
) {
  return {
    traceId,
    spanId,
    parent: parent && { spanId: parent.spanId, isRemote: parent.isRemote },
    span,
    name: SPANS[span].name
      .replace(/\{([\w.]+)\}/g, (_, attribute: string) => String(attributes.get(attribute) ?? ''))
      .trim(),
    attributes,
  };
}

/** Version 00 of the format; a later version may have more behind it. Undefined for anything else. */
function readTraceparent(text: string): TraceContext | undefined {
  const [, version = 'ff', traceId = '', spanId = '', flags = '', more] =
    /^([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/.exec(text) ?? [];
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1, isRemote: true };
}

function writeTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** A code or the name of a class: words of programs. What an error says may quote people, and is never read. */
function errorType(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  const code = 'code' in error ? String(error.code) : '';
  return [code, error.name].find((word) => /^[\w.-]{1,64}$/.test(word)) ?? '_OTHER';
}
