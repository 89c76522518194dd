/** Traces of this process, sent to the operator's collector. Loaded only where operators ask for them. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import type { Bot } from '../../../core/bot/bot.ts';
import type { System } from '../../../core/system.ts';
import type { Tracer } from '../../../core/telemetry/trace.ts';
import type { Gateway } from '../../../gateway/client.ts';
import type { FinishedRequest } from '../../../gateway/transport/options.ts';
import type { Media } from '../../../media/media.ts';
import type { Platform } from '../../../platforms/platform.ts';
import { systemClock } from '../../../storage/schedule.ts';
import type { Config } from '../../config/config.ts';
import { createSpanExporter, type ExporterOptions } from './exporter.ts';
import { tracedGateway } from './gateway.ts';
import { tracedBot, tracedMedia, tracedPlatform } from './traced.ts';
import { createTracer, type Sampler } from './tracer.ts';

type TraceConfig = NonNullable<Config['traces']>;

export interface Traces {
  readonly tracer: Tracer;
  /** The same, with spans for what they do. */
  readonly bot: (bot: Bot, by: 'person' | 'model') => Bot;
  readonly gateway: (gateway: Gateway, baseUrl: string) => Gateway;
  readonly media: (media: Media) => Media;
  readonly platform: (platform: Platform) => Platform;
  /** Told of each request to the gateway. */
  readonly saw: (request: FinishedRequest) => void;
  /** What a request to the gateway carries of the trace: nothing unless the operator wants that. */
  readonly headers: () => { traceparent?: string };
  /** Sends what waits, within two seconds. */
  close(): Promise<void>;
}

export interface TraceTools extends Pick<System, 'now' | 'random' | 'log'> {
  /** To the collector; connections of its own unless said. */
  readonly fetch?: ExporterOptions['fetch'];
}

/** Nothing is sent yet. */
export function openTraces(config: TraceConfig, tools: TraceTools): Traces {
  // Node keeps random numbers for UUIDs ready; asking the system for each id cost more than the rest of a span.
  const randomHex = (bytes: number) =>
    randomUUID()
      .replaceAll('-', '')
      .slice(-2 * bytes);
  const dispatcher = new Agent();
  const exporter = createSpanExporter({
    ...config,
    fetch: (url, init) => fetch(url, { ...init, dispatcher }),
    ...tools,
    // Which of several replicas, and which of its starts.
    resource: { 'service.instance.id': randomHex(8), ...config.resource },
    // Keeps no process alive.
    sleep: (ms, signal) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined),
  });
  const tracer = createTracer({
    sampler: samplerOf(config),
    send: exporter.add,
    now: tools.now,
    elapsed: systemClock.elapsed,
    randomHex,
  });
  return {
    tracer,
    bot: (bot, by) => tracedBot(bot, tracer, by),
    gateway: (gateway, baseUrl) => tracedGateway(gateway, baseUrl, tracer),
    media: (media) => tracedMedia(media, tracer),
    platform: (platform) => tracedPlatform(platform, tracer),
    saw: ({ status, tries }) =>
      tracer.annotate({ 'http.response.status_code': status, 'minstrel.gateway.tries': tries }),
    headers: () => {
      const traceparent = config.tellGateway ? tracer.traceparent() : undefined;
      return traceparent === undefined ? {} : { traceparent };
    },
    async close() {
      await exporter.close();
      await dispatcher.destroy();
    },
  };
}

/** https://opentelemetry.io/docs/specs/otel/trace/sdk/#built-in-samplers. A double holds 13 digits of a trace id. */
function samplerOf({ sampler, ratio }: Pick<TraceConfig, 'sampler' | 'ratio'>): Sampler {
  const parts = {
    always_on: 1,
    always_off: 0,
    traceidratio: ratio,
    parentbased_always_on: 1,
    parentbased_always_off: 0,
    parentbased_traceidratio: ratio,
  } as const satisfies Record<typeof sampler, number>;
  const part = parts[sampler];
  return {
    root: (traceId) => Number.parseInt(traceId.slice(-13), 16) / 16 ** 13 < part,
    followsParent: sampler.startsWith('parentbased_'),
  };
}
