/** What operators watch: numbers in Prometheus' format, without a name of anybody in them. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export interface MetricsOptions {
  /** Numbers of the process too: memory, event loop, garbage collection. */
  readonly process: boolean;
  /** Ready or not, by chat. */
  readonly platforms: () => readonly { readonly name: string; readonly ready: boolean }[];
}

export interface Metrics {
  settled(usage: {
    readonly platform: string;
    readonly family: string;
    readonly model: string | undefined;
    readonly units: number;
  }): void;
  refused(refusal: { readonly platform: string; readonly scope: string; readonly family: string }): void;
  /** Somebody was told that they may not. */
  denied(denial: { readonly platform: string; readonly command: string }): void;
  readonly contentType: string;
  /** Everything, as Prometheus reads it. */
  render(): Promise<string>;
}

export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (options.process) collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'minstrel_usage_requests_total',
    help: 'Requests whose result was made, by family and model.',
    labelNames: ['platform', 'family', 'model'],
    registers,
  });
  const units = new Counter({
    name: 'minstrel_usage_units_total',
    help: 'What these requests cost, in the units of USAGE_COSTS.',
    labelNames: ['platform', 'family', 'model'],
    registers,
  });
  const refusals = new Counter({
    name: 'minstrel_limit_refusals_total',
    help: 'Requests that a limit refused, by what the limit is on.',
    labelNames: ['platform', 'scope', 'family'],
    registers,
  });
  const denials = new Counter({
    name: 'minstrel_access_denials_total',
    help: 'Requests by people who may not use the command there.',
    labelNames: ['platform', 'command'],
    registers,
  });
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
    settled({ platform, family, model = 'none', units: cost }) {
      requests.inc({ platform, family, model });
      units.inc({ platform, family, model }, cost);
    },
    refused: ({ platform, scope, family }) => refusals.inc({ platform, scope, family }),
    denied: ({ platform, command }) => denials.inc({ platform, command }),
    contentType: registry.contentType,
    render: () => registry.metrics(),
  };
}
