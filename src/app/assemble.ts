/** Builds everything from the settings, starts it, and drains it. */
import type { Bot } from '../core/bot/create-bot.ts';
import type { JobView } from '../core/job.ts';
import type { System } from '../core/system.ts';
import type { Gateway } from '../gateway/client.ts';
import {
  type Application,
  type ApplicationOptions,
  createApplication,
  type Platforms,
} from './application.ts';
import { watchParties } from './parties.ts';
import { createPlatforms, type MakePlatforms } from './platforms.ts';
import { playgroundOf, routesOf } from './routes/listener.ts';
import { openServices, type ServiceOptions, type Services, unmeasured } from './services.ts';
import { openObservability, serveMetrics } from './telemetry/observability.ts';
import { observedBot } from './telemetry/observed-bot.ts';
import { createTimers } from './timers.ts';

export interface AssembleOptions extends Omit<ServiceOptions, 'measure' | 'traces'> {
  readonly platforms: MakePlatforms;
}

export interface Minstrel {
  /** The listener's URL on this machine. */
  readonly url: string;
  readonly gateway: Gateway;
  /** Undefined if metrics are off. */
  readonly metricsUrl: string | undefined;
  /** Undefined if the playground is off. Contains its secret, so it is never logged. */
  readonly playgroundUrl: string | undefined;
  readonly bot: Bot;
  readonly job: (id: string) => Promise<JobView | undefined>;
  /** Stops accepting jobs, hands over running ones and closes everything. */
  stop(): Promise<void>;
}

/** The time for running steps, out of the 10 s that Docker and most platforms allow after SIGTERM. */
const DRAIN_MS = 7_000;

/** Builds and starts everything. Throws StorageError or ListenError with a message for the operator. */
export async function assemble(options: AssembleOptions): Promise<Minstrel> {
  // Closes in reverse order, and continues after a failure.
  const opened = new AsyncDisposableStack();
  const close = () =>
    opened.disposeAsync().catch((error: unknown) => {
      options.log.error({ err: error }, 'Error during shutdown');
    });
  try {
    const { metrics, traces } = await openObservability(options.config, options, opened);
    const measured = { ...options, metrics, measure: metrics?.measure ?? unmeasured, traces };
    const services = await openServices(measured, opened);
    const platforms = await createPlatforms(services, options.platforms, measured);
    const { admin } = options.config;
    const collectorOptions = metrics && {
      ...measured,
      metrics,
      storage: services.storage,
      platforms: [...platforms.values()],
      dataDirectory: options.config.dataDirectory,
    };
    const metricsServer = admin && collectorOptions && (await serveMetrics(admin, collectorOptions));
    opened.defer(async () => metricsServer?.close());
    const application = createApplication(services, platforms, measured, opened);
    const playground = playgroundOf(services, platforms);
    await services.listener.serve([
      ...routesOf(services, platforms, application, measured),
      ...(playground?.routes ?? []),
    ]);
    await start(services, platforms, application, measured, opened);
    return {
      url: services.listener.url,
      gateway: services.gateway,
      metricsUrl: metricsServer && `${metricsServer.url}/metrics`,
      playgroundUrl: playground?.url,
      bot: application.bot,
      job: (id) => application.jobs.find(id),
      stop: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(
  { gateway, storage }: Services,
  platforms: Platforms,
  { jobs, parties, schedules, contests, bot }: Application,
  options: ApplicationOptions,
  opened: AsyncDisposableStack,
): Promise<void> {
  gateway.models.startRefreshing();
  const { measure, traces, elapsed } = options;
  const observers = { measure, tracer: traces?.tracer, elapsed };
  const botForModels = observedBot(bot, 'model', observers);
  // Platforms close after jobs, so that steps ending meanwhile can still post their results.
  for (const platform of platforms.values()) opened.defer(() => platform.close());
  const timers = createTimers(
    { schedules: schedules.run(bot), contests: contests.run },
    { storage, ...options },
  );
  await jobs.run((invocation) => botForModels.run(invocation), timers);
  void timers.setAll();
  opened.defer(() => drain(jobs.stop(), options));
  const botForPeople = observedBot(bot, 'person', observers);
  await Promise.all([...platforms.values()].map((platform) => platform.start(botForPeople)));
  opened.defer(async () => {
    await Promise.all([...platforms.values()].map((platform) => platform.stop()));
  });
  if (!parties) return;
  const watching = watchParties(parties);
  opened.defer(async () => {
    await watching.stop();
    await parties.stop();
  });
}

/** Waits for running steps. Longer ones resume from their record at the next start. */
async function drain(stopped: Promise<void>, { sleep, log }: Pick<System, 'sleep' | 'log'>): Promise<void> {
  const timer = new AbortController();
  const timeout = sleep(DRAIN_MS, timer.signal).then(() => true);
  const isTimedOut = await Promise.race([stopped.then(() => false), timeout]);
  timer.abort();
  if (isTimedOut) log.warn({}, 'Open jobs were interrupted and resume at the next start');
}
