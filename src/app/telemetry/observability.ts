/** What operators watch the bot by: metrics and traces. Each is loaded only where they ask for it. */

import type { System } from '../../core/system.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { Config } from '../config/read.ts';
import type { Traces } from './traces.ts';

export interface Observability {
  readonly metrics: Metrics | undefined;
  readonly traces: Traces | undefined;
}

/** Called before all that is watched, so that it is closed after that. */
export async function openObservability(
  { admin, traces: traceSettings }: Config,
  tools: Pick<System, 'now' | 'log' | 'newId'>,
  opened: AsyncDisposableStack,
): Promise<Observability> {
  const metrics = admin && (await import('../../http/metrics.ts')).createMetrics();
  const traces = traceSettings && (await import('./traces.ts')).openTraces(traceSettings, tools);
  opened.defer(async () => traces?.close());
  return { metrics, traces };
}
