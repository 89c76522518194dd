/** Metrics for operators in Prometheus' format. They hold no names of people. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Routes } from './server.ts';

export interface MetricsOptions {
  /** With numbers of the process: memory, event loop, garbage collection. */
  readonly process: boolean;
  /** Ready or not, by chat. */
  readonly platforms: () => readonly { readonly name: string; readonly ready: boolean }[];
}

interface Usage {
  readonly platform: string;
  readonly family: string;
  readonly model: string | undefined;
  readonly units: number;
}

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics(options: MetricsOptions) {
  const registry = new Registry();
  const registers = [registry];
  if (options.process) collectDefaultMetrics({ register: registry });
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const usage = (name: string, help: string) => counter(name, help, ['platform', 'family', 'model']);
  const requests = usage(
    'minstrel_usage_requests_total',
    'Requests whose result was made, by family and model.',
  );
  const units = usage('minstrel_usage_units_total', 'What these requests cost, in the units of USAGE_COSTS.');
  const refusals = counter(
    'minstrel_limit_refusals_total',
    'Requests that a limit refused, by what the limit is on.',
    ['platform', 'scope', 'family'],
  );
  const denials = counter(
    'minstrel_access_denials_total',
    'Requests by people who may not use the command there.',
    ['platform', 'command'],
  );
  new Gauge({
    name: 'minstrel_platform_ready',
    help: 'Whether the chat is connected (1) or not (0).',
    labelNames: ['platform'],
    registers,
    collect() {
      for (const { name, ready } of options.platforms()) this.set({ platform: name }, ready ? 1 : 0);
    },
  });
  return {
    settled({ platform, family, model = 'none', units: cost }: Usage): void {
      requests.inc({ platform, family, model });
      units.inc({ platform, family, model }, cost);
    },
    refused: ({ platform, scope, family }: Record<'platform' | 'scope' | 'family', string>) =>
      refusals.inc({ platform, scope, family }),
    /** A person may not use a command. */
    denied: ({ platform, command }: Record<'platform' | 'command', string>) =>
      denials.inc({ platform, command }),
    contentType: registry.contentType,
    /** Everything, as Prometheus reads it. */
    render: () => registry.metrics(),
  };
}

/** `GET /metrics`, for Prometheus. Only for a listener of its own, never for the public one. */
export function metricsRoutes({ contentType, render }: Pick<Metrics, 'contentType' | 'render'>): Routes {
  return (scope) => {
    scope.get('/metrics', async (_request, reply) =>
      reply
        .header('cache-control', 'no-store')
        .type(contentType)
        .send(await render()),
    );
  };
}
