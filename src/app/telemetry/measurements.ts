/** What is measured where the parts are put together: open jobs, connections, acknowledgements, storage, kept bytes. */
import type { Bot } from '../../core/bot/create-bot.ts';
import type { Outcome } from '../../core/bot/outcome.ts';
import type { Invocation } from '../../core/invocation.ts';
import type { System } from '../../core/system.ts';
import type { Log } from '../../core/telemetry/log.ts';
import type { Measure } from '../../core/telemetry/series.ts';
import type { Tracer } from '../../core/telemetry/tracer.ts';
import type { Metrics } from '../../http/metrics.ts';
import { CALLBACK_OUTCOMES } from '../../http/music-callback.ts';
import { createHttpServer, type HttpServer } from '../../http/server.ts';
import type { MediaStore } from '../../media/store/media-store.ts';
import type { Platform } from '../../platforms/platform.ts';
import { FAMILY_OF } from '../../settings/limits/meter.ts';
import { type OpenCount, type Storage, StorageError } from '../../storage/storage.ts';
import type { Config } from '../config/read.ts';
import type { Traces } from './traces.ts';

/** What operators watch the bot by. Each is loaded only where they ask for it. */
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

/** Counting open jobs reads all of them, so it is done this often at the most. */
const FRESH_MS = 15_000;

export interface CollectorOptions extends Pick<System, 'now' | 'elapsed'> {
  readonly metrics: Pick<Metrics, 'measure' | 'reset'>;
  readonly storage: Pick<Storage, 'jobs'>;
  readonly platforms: readonly Platform[];
}

/** Resolves when the gauges are set. Those of jobs are absent while jobs cannot be counted. Never rejects. */
export function createCollector({ metrics, storage, platforms, now, elapsed }: CollectorOptions) {
  const { measure, reset } = metrics;
  let counted = Number.NEGATIVE_INFINITY;
  beginAtZero(platforms, measure);

  return async (): Promise<void> => {
    for (const platform of platforms) {
      const labels = { platform: platform.name };
      measure('minstrel_platform_ready', labels, platform.status().ready ? 1 : 0);
      if (platform.connections) measure('minstrel_platform_connections', labels, platform.connections());
    }
    if (elapsed() - counted < FRESH_MS) return;
    const counts = await storage.jobs.openCounts().catch(() => undefined);
    reset('minstrel_jobs');
    reset('minstrel_queue_length');
    reset('minstrel_oldest_job_age_seconds');
    if (!counts) return;
    counted = elapsed();
    setGauges(counts, now(), measure);
  };
}

/** Serves the metrics to operators. Throws ListenError when its port cannot be had. */
export async function serveMetrics(
  at: { readonly host: string; readonly port: number },
  options: CollectorOptions & { readonly metrics: Metrics; readonly log: Log },
): Promise<HttpServer> {
  const { metricsRoutes } = await import('../../http/metrics.ts');
  const routes = [metricsRoutes(options.metrics, createCollector(options))];
  return createHttpServer({ ...at, log: options.log, routes });
}

/** Prometheus sees no increase in the first sample of a series, so what alerts count is there before it happens. */
function beginAtZero(platforms: readonly Platform[], measure: Measure): void {
  for (const outcome of CALLBACK_OUTCOMES) measure('minstrel_callbacks_total', { outcome }, 0);
  for (const { name } of platforms) measure('minstrel_undelivered_total', { platform: name }, 0);
}

function setGauges(counts: readonly OpenCount[], now: number, measure: Measure): void {
  // Routes of a newer version are counted under their own name.
  const known = counts.map((one) => ({ ...one, family: FAMILIES.get(one.route) ?? one.route }));
  for (const [family, ofFamily] of Map.groupBy(known, (one) => one.family)) {
    measure('minstrel_queue_length', { family }, sum(ofFamily.map(({ queued }) => queued)));
    for (const [state, some] of Map.groupBy(ofFamily, (one) => one.state))
      measure('minstrel_jobs', { family, state }, sum(some.map(({ count }) => count)));
  }
  for (const [state, some] of Map.groupBy(known, (one) => one.state)) {
    const oldest = Math.min(...some.map(({ oldestAt }) => oldestAt));
    measure('minstrel_oldest_job_age_seconds', { state }, Math.max(0, now - oldest) / 1000);
  }
}

const FAMILIES: ReadonlyMap<string, string> = new Map(Object.entries(FAMILY_OF));
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

export interface Observers {
  readonly measure: Measure;
  readonly tracer?: Tracer | undefined;
  readonly elapsed: () => number;
}

/** Buttons that every command has. */
const COMMON_ACTIONS = ['cancel', 'show', 'again'];

/**
 * Times invocations from their arrival to the end of their acknowledgement, which is when work begins. Each is a span: the
 * root of a trace where a person asks, a part of the answer's trace where a model does.
 */
export function observedBot(bot: Bot, by: 'person' | 'model', { measure, tracer, elapsed }: Observers): Bot {
  // Names that people typed are told only where they are ours.
  const attributesOf = ({ command, action, address }: Invocation) => {
    const found = bot.commands.find(({ name }) => name === command);
    const actions = [...COMMON_ACTIONS, ...Object.keys(found?.actions ?? {})];
    return {
      'minstrel.platform': address.platform,
      'minstrel.command': found?.name,
      'minstrel.action': actions.find((name) => name === action?.name),
    };
  };
  const run = (invocation: Invocation): Promise<Outcome> => {
    if (!tracer) return bot.run(invocation);
    const attributes = attributesOf(invocation);
    const name = `command ${attributes['minstrel.command'] ?? 'unknown'}`;
    const parent = by === 'person' ? 'none' : undefined;
    return tracer.run({ name, attributes, parent }, async (span) => {
      const outcome = await bot.run(invocation);
      span.set({
        'minstrel.outcome': outcome.type,
        'minstrel.job': outcome.type === 'accepted' ? outcome.job : undefined,
      });
      return outcome;
    });
  };
  return {
    ...bot,
    async run(invocation) {
      const { platform } = invocation.address;
      const arrivedAt = elapsed();
      const outcome = await run(invocation);
      if (by === 'model' || outcome.type !== 'accepted') return outcome;
      return {
        ...outcome,
        begin: () => {
          measure('minstrel_acknowledged_seconds', { platform }, (elapsed() - arrivedAt) / 1000);
          outcome.begin();
        },
      };
    },
  };
}

/** Operations of storage on jobs are timed. */
export function measuredStorage(storage: Storage, measure: Measure, elapsed: () => number): Storage {
  async function timed<Value>(operation: string, run: () => Promise<Value>): Promise<Value> {
    const began = elapsed();
    const report = (outcome: string) =>
      measure('minstrel_storage_seconds', { operation, outcome }, (elapsed() - began) / 1000);
    try {
      const value = await run();
      report('ok');
      return value;
    } catch (error) {
      report(error instanceof StorageError ? error.code : 'error');
      throw error;
    }
  }
  return {
    ...storage,
    accept: (acceptance) => timed('accept', () => storage.accept(acceptance)),
    receive: (callback) => timed('receive', () => storage.receive(callback)),
    check: () => timed('check', () => storage.check()),
    jobs: {
      ...storage.jobs,
      read: (id) => timed('read', () => storage.jobs.read(id)),
      replace: (job) => timed('replace', () => storage.jobs.replace(job)),
    },
    schedule: {
      ...storage.schedule,
      wake: (job) => timed('wake', () => storage.schedule.wake(job)),
    },
  };
}

/** Kept and pruned bytes are counted. */
export function measuredStore(store: MediaStore, measure: Measure): MediaStore {
  return {
    ...store,
    async put(source, hint) {
      const file = await store.put(source, hint);
      measure('minstrel_media_kept_bytes_total', { extension: hint.extension }, file.bytes);
      return file;
    },
    async prune() {
      const report = await store.prune();
      measure('minstrel_media_pruned_bytes_total', {}, report.removedBytes);
      return report;
    },
  };
}
