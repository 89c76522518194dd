/** Builds the Bolt app, and decides when an event is acknowledged. */
import { App, AuthorizationError, type Context, type Receiver, type ReceiverEvent } from '@slack/bolt';
import { z } from 'zod';
import { present } from '../../../core/util/present.ts';
import { webClientOptions } from './client.ts';
import type { ConnectionOptions } from './options.ts';
import type { Workspaces } from './workspaces.ts';

type AppOptions = ConnectionOptions & {
  readonly receiver: Receiver;
  readonly workspaces: Workspaces;
};

const UNAVAILABLE =
  "I can't work in this workspace right now. Try again in a minute. If that doesn't help, ask an admin to install me again.";

/** When Slack sent the event, in milliseconds. */
export function contextSentAt(context: Context): number {
  // Safe cast: `processEvent` sets it.
  return context.sentAt as number;
}

/** The organisation whose installation received the event, if it covers all its workspaces. */
export function organisationOf({
  isEnterpriseInstall,
  enterpriseId,
}: {
  readonly isEnterpriseInstall: boolean;
  readonly enterpriseId?: string | undefined;
}): string | undefined {
  return isEnterpriseInstall ? enterpriseId : undefined;
}

/**
 * Bolt acknowledges an event before its listeners run, so a crash in between would lose it. This app acknowledges after they
 * ran and the job is stored. A failed event is not acknowledged, so that Slack sends it again.
 */
export class SlackApp extends App {
  readonly #now: () => number;
  readonly #running = new Set<Promise<void>>();

  constructor(now: () => number, options: ConstructorParameters<typeof App>[0]) {
    super(options);
    this.#now = now;
  }

  override async processEvent(event: ReceiverEvent): Promise<void> {
    const handled = this.#handle(event);
    this.#running.add(handled);
    try {
      await handled;
    } finally {
      this.#running.delete(handled);
    }
  }

  async #handle(event: ReceiverEvent): Promise<void> {
    const { body, ack, customProperties = {} } = event;
    const sentAt = sentAtOf(body, this.#now(), z.number().optional().parse(customProperties.sentAt));
    const isEvent = body.type === 'event_callback';
    try {
      await super.processEvent({
        ...event,
        customProperties: { sentAt },
        ack: isEvent ? async () => {} : ack,
      });
    } catch (error) {
      if (error instanceof AuthorizationError && 'command' in body)
        await ack({ response_type: 'ephemeral', text: UNAVAILABLE });
      throw error;
    }
    if (isEvent) await ack();
  }

  /** Resolves when no event is being handled. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}

/** Clocks may differ by this much, so a newer timestamp is ignored. */
const MAX_SKEW_MS = 10_000;
/** Slack waits no longer, so no request can be older. */
const MAX_DELAY_MS = 5 * 60_000;

const secondsSchema = z.coerce.number().positive().optional().catch(undefined);
/** Buttons and shortcuts carry a timestamp. Commands and forms do not. */
const stampSchema = z.object({
  action_ts: secondsSchema,
  actions: z.array(z.object({ action_ts: secondsSchema })).catch([]),
});

/**
 * When a request was sent, in milliseconds by this machine's clock.
 * @param byHttp the timestamp of an HTTP request, by Slack's clock
 */
function sentAtOf(body: object, now: number, byHttp: number | undefined): number {
  const { action_ts, actions } = stampSchema.parse(body);
  const seconds = action_ts ?? actions[0]?.action_ts;
  const sentAt = byHttp ?? (seconds === undefined ? now : seconds * 1000);
  const delay = now - sentAt;
  return delay > MAX_SKEW_MS && delay <= MAX_DELAY_MS ? sentAt : now;
}

/** Does not connect until the receiver starts. */
export function createApp({ client, receiver, workspaces, now, log }: AppOptions): SlackApp {
  const app = new SlackApp(now, {
    receiver,
    logger: client.logger,
    clientOptions: webClientOptions(client),
    convoStore: false,
    authorize: async (source) => {
      const { teamId, enterpriseId } = source;
      // Does not wait for the bot's identity, because that would delay the acknowledgement.
      const { token } = await workspaces.of(teamId, organisationOf(source));
      return { botToken: token, ...present({ teamId, enterpriseId }) };
    },
  });
  // Rethrown so that the event is not acknowledged.
  app.error(async (error) => {
    log.error({ err: error }, 'Could not handle a Slack event');
    throw error;
  });
  return app;
}
