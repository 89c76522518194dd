/** Metrics and traces. */
import type { System } from '../../core/system.ts';
import type { Log } from '../../core/telemetry/log.ts';
import type { Metrics } from '../../http/metrics.ts';
import { createHttpServer, type HttpServer } from '../../http/server.ts';
import type { Config } from '../config/read.ts';
import { type CollectorOptions, createCollector } from './collector.ts';
import type { Traces } from './traces.ts';

/** Each is imported only if it is turned on. */
export interface Observability {
  readonly metrics: Metrics | undefined;
  readonly traces: Traces | undefined;
}

/** Must be called before anything observed is opened, so that it is closed last. */
export async function openObservability(
  { admin, traces: traceSettings }: Config,
  tools: Pick<System, 'now' | 'log'>,
  opened: AsyncDisposableStack,
): Promise<Observability> {
  const metrics = admin && (await import('../../http/metrics.ts')).createMetrics();
  const traces = traceSettings && (await import('./traces.ts')).openTraces(traceSettings, tools);
  opened.defer(async () => traces?.close());
  return { metrics, traces };
}

/** Serves metrics to operators. Throws ListenError if the port is not available. */
export async function serveMetrics(
  at: { readonly host: string; readonly port: number },
  options: CollectorOptions & { readonly metrics: Metrics; readonly log: Log },
): Promise<HttpServer> {
  const { metricsRoutes } = await import('../../http/metrics.ts');
  const routes = [metricsRoutes(options.metrics, { collect: createCollector(options), host: at.host })];
  return createHttpServer({ ...at, setting: 'ADMIN_PORT', log: options.log, routes });
}
