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

export interface AssembleOptions extends Omit<ServiceOptions, 'measure' | 'traces'> {
  readonly platforms: MakePlatforms;
}

export interface Minstrel {
  /** Where this machine reaches the listener. */
  readonly url: string;
  /** Where the gateway is; the emulator's address when that is the gateway. */
  readonly gatewayUrl: string;
  readonly gateway: Gateway;
  /** Where operators read metrics; undefined where they did not ask for it. */
  readonly metricsUrl: string | undefined;
  /** Where the chat in the browser is, if it is on. As good as a password, so it is never logged. */
  readonly playgroundUrl: string | undefined;
  readonly bot: Bot;
  readonly job: (id: string) => Promise<JobView | undefined>;
  /** Stops accepting jobs, hands over running ones and closes everything. */
  stop(): Promise<void>;
}

/** SIGTERM has 10 s in all (the platform's and Docker's default): running steps get this much of it. */
const DRAIN_MS = 7_000;

/** Builds and starts everything, part by part. Throws StorageError or ListenError with a sentence for the operator. */
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
    const collecting = metrics && {
      ...measured,
      metrics,
      storage: services.storage,
      platforms: [...platforms.values()],
    };
    const operators = admin && collecting && (await serveMetrics(admin, collecting));
    opened.defer(async () => operators?.close());
    const application = createApplication(services, platforms, measured, opened);
    const playground = playgroundOf(services, platforms);
    await services.listener.serve([
      ...routesOf(services, platforms, application, measured),
      ...(playground?.routes ?? []),
    ]);
    await start(services, platforms, application, measured, opened);
    return {
      url: services.listener.url,
      gatewayUrl: services.gatewayUrl,
      gateway: services.gateway,
      metricsUrl: operators && `${operators.url}/metrics`,
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
  { gateway }: Services,
  platforms: Platforms,
  { jobs, parties, bot }: Application,
  options: ApplicationOptions,
  opened: AsyncDisposableStack,
): Promise<void> {
  gateway.models.startRefreshing();
  const { measure, traces, elapsed } = options;
  const observers = { measure, tracer: traces?.tracer, elapsed };
  const askedByModels = observedBot(bot, 'model', observers);
  // Closed after the jobs: a step that ends meanwhile still shows its result.
  for (const platform of platforms.values()) opened.defer(() => platform.close());
  await jobs.run((invocation) => askedByModels.run(invocation));
  opened.defer(() => drain(jobs.stop(), options));
  const askedByPeople = observedBot(bot, 'person', observers);
  await Promise.all([...platforms.values()].map((platform) => platform.start(askedByPeople)));
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

/** Waits for running steps; longer ones resume from their record at the next start. */
async function drain(stopped: Promise<void>, { sleep, log }: Pick<System, 'sleep' | 'log'>): Promise<void> {
  const patience = new AbortController();
  const late = sleep(DRAIN_MS, patience.signal).then(() => true);
  const isLate = await Promise.race([stopped.then(() => false), late]);
  patience.abort();
  if (isLate) log.warn({}, 'Open jobs were interrupted and resume at the next start');
}
