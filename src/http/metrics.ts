/** Metrics for operators in Prometheus' format. They hold no names of people. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Measure, SERIES, type Series, type SeriesName } from '../core/telemetry/series.ts';
import type { Routes } from './server.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** With numbers of the process: memory, event loop, garbage collection. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const series = new Map<string, ReturnType<typeof seriesOf>>(
    Object.entries(SERIES).map(([name, declared]) => [name, seriesOf(name, declared, registry)]),
  );
  const measure: Measure = (name: SeriesName, labels: Record<string, string>, value = 1) =>
    series.get(name)?.add(labels, value);
  return {
    measure,
    contentType: registry.contentType,
    /** Everything, as Prometheus reads it. */
    render: () => registry.metrics(),
    /** Clears a gauge, so that removed label values disappear. */
    reset: (name: SeriesName) => series.get(name)?.reset(),
  };
}

function seriesOf(name: string, declared: Series, registry: Registry) {
  const { type, help, labels, buckets = [] } = declared;
  const settings = { name, help, labelNames: [...labels], registers: [registry] };
  switch (type) {
    case 'counter': {
      const counter = new Counter(settings);
      return { add: (of: Labels, value: number) => counter.inc(of, value), reset: () => counter.reset() };
    }
    case 'gauge': {
      const gauge = new Gauge(settings);
      return { add: (of: Labels, value: number) => gauge.set(of, value), reset: () => gauge.reset() };
    }
    case 'histogram': {
      const histogram = new Histogram({ ...settings, buckets: [...buckets] });
      return {
        add: (of: Labels, value: number) => histogram.observe(of, value),
        reset: () => histogram.reset(),
      };
    }
    default:
      return type satisfies never;
  }
}

type Labels = Record<string, string>;

/** `GET /metrics`, for Prometheus. `collect` sets gauges first and never rejects. Only for a listener of its own, never for the public one. */
export function metricsRoutes(
  { contentType, render }: Pick<Metrics, 'contentType' | 'render'>,
  collect: () => Promise<void>,
): Routes {
  return (scope) => {
    scope.get('/metrics', async (_request, reply) => {
      await collect();
      return reply
        .header('cache-control', 'no-store')
        .type(contentType)
        .send(await render());
    });
  };
}
