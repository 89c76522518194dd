/** Prometheus metrics. They contain no personal data. */
import { isIPv4 } from 'node:net';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Measure, SERIES, type Series, type SeriesName } from '../core/telemetry/series.ts';
import { sendNotFound } from './not-found.ts';
import type { Routes } from './server.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** Includes Node.js metrics: memory, event loop, garbage collection. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const series = new Map<string, ReturnType<typeof seriesOf>>(
    Object.entries(SERIES).map(([name, declaration]) => [name, seriesOf(name, declaration, registry)]),
  );
  const measure: Measure = (name: SeriesName, labels: Record<string, string>, value = 1) =>
    series.get(name)?.add(labels, value);
  return {
    measure,
    contentType: registry.contentType,
    /** All metrics in the Prometheus text format. */
    render: () => registry.metrics(),
    /** Clears a gauge, so that removed label values disappear. */
    reset: (name: SeriesName) => series.get(name)?.reset(),
  };
}

function seriesOf(name: string, declaration: Series, registry: Registry) {
  const { type, help, labels, buckets = [] } = declaration;
  const settings = { name, help, labelNames: [...labels], registers: [registry] };
  switch (type) {
    case 'counter': {
      const counter = new Counter(settings);
      return {
        add: (labels: Labels, value: number) => counter.inc(labels, value),
        reset: () => counter.reset(),
      };
    }
    case 'gauge': {
      const gauge = new Gauge(settings);
      return { add: (labels: Labels, value: number) => gauge.set(labels, value), reset: () => gauge.reset() };
    }
    case 'histogram': {
      const histogram = new Histogram({ ...settings, buckets: [...buckets] });
      return {
        add: (labels: Labels, value: number) => histogram.observe(labels, value),
        reset: () => histogram.reset(),
      };
    }
    default:
      return type satisfies never;
  }
}

type Labels = Record<string, string>;

/**
 * Whether a request names this listener: by an address, a name without dots or the `host` it listens at. A page of another site
 * that resolves its name to this machine names its site.
 */
function isOwnHost(header: string | undefined, host: string): boolean {
  const name = URL.parse(`http://${header}`)?.hostname;
  return name !== undefined && (isIPv4(name) || !name.includes('.') || name === host);
}

/**
 * `GET /metrics`. `collect` updates gauges first and never rejects. For a separate listener, never the public one.
 * @param host where it listens
 */
export function metricsRoutes(
  { contentType, render }: Pick<Metrics, 'contentType' | 'render'>,
  { collect, host }: { readonly collect: () => Promise<void>; readonly host: string },
): Routes {
  return (scope) => {
    scope.addHook('onRequest', async ({ headers }, reply) =>
      isOwnHost(headers.host, host) ? undefined : sendNotFound(reply),
    );
    scope.get('/metrics', async (_request, reply) => {
      await collect();
      return reply
        .header('cache-control', 'no-store')
        .type(contentType)
        .send(await render());
    });
  };
}
