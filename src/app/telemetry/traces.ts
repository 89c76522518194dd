/** Traces through OpenTelemetry's SDK, which reads the OTEL_ variables. Imported only if a collector is set. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node';
import type { System } from '../../core/system.ts';
import type { Log } from '../../core/telemetry/log.ts';
import type { SpanStart, Tracer } from '../../core/telemetry/tracer.ts';
import { REPLICA } from '../system.ts';

export interface Traces {
  readonly tracer: Tracer;
  /** Sends the remaining spans, for up to two seconds. */
  close(): Promise<void>;
}

/** SIGTERM allows ten seconds for the whole shutdown. */
const CLOSE_WITHIN_MS = 2_000;
/** https://www.w3.org/TR/trace-context/#traceparent-header-field-values */
const TRACEPARENT = /^00-([\da-f]{32})-([\da-f]{16})-0([01])$/;

/** @param settings the OTEL_ variables; the SDK reads only the environment, not `.env` */
export function openTraces(
  settings: Readonly<Record<string, string>>,
  { now, log }: Pick<System, 'now' | 'log'>,
): Traces {
  Object.assign(process.env, settings);
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'minstrel', 'service.instance.id': REPLICA }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    spanProcessors: [new BatchSpanProcessor(reportFailures(new OTLPTraceExporter(), log))],
  });
  const spans = provider.getTracer('minstrel');
  const active = new AsyncLocalStorage<Context>();
  const contextOf = (parent: string | undefined): Context =>
    parent === undefined ? (active.getStore() ?? ROOT_CONTEXT) : contextFrom(parent);

  const tracer: Tracer = {
    run({ name, attributes, parent }: SpanStart, work) {
      const context = contextOf(parent);
      const span = spans.startSpan(name, { attributes }, context);
      return active.run(trace.setSpan(context, span), async () => {
        try {
          return await work({ set: (extra) => void span.setAttributes(extra) });
        } catch (error) {
          // Only the class, because a message may quote people.
          span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
          span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      });
    },

    recordRequest({ route, code, status, milliseconds, tries }) {
      const end = now();
      const span = spans.startSpan(
        `gateway ${route}`,
        {
          kind: SpanKind.CLIENT,
          startTime: end - milliseconds,
          attributes: {
            'minstrel.gateway.route': route,
            'minstrel.gateway.tries': tries,
            ...(status !== undefined && { 'http.response.status_code': status }),
            ...(code !== 'ok' && { 'error.type': code }),
          },
        },
        contextOf(undefined),
      );
      if (code !== 'ok') span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(end);
    },

    traceparent() {
      const context = active.getStore();
      const span = context && trace.getSpanContext(context);
      return span && `00-${span.traceId}-${span.spanId}-0${span.traceFlags & 1}`;
    },
  };

  return {
    tracer,
    close: () => Promise.race([provider.shutdown(), sleep(CLOSE_WITHIN_MS, undefined, { ref: false })]),
  };
}

/** Starts a new trace if the text is not a trace context. */
function contextFrom(traceparent: string): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number(flags), isRemote: true });
}

/** Logs when sending fails, because the SDK drops spans silently. */
function reportFailures(exporter: OTLPTraceExporter, log: Log): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const isFailed = result.error !== undefined;
        if (isFailed && !isFailing) log.warn({ err: result.error }, 'Could not send traces to the collector');
        if (!isFailed && isFailing) log.info({}, 'Sending traces to the collector works again');
        isFailing = isFailed;
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}
