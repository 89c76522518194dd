/** Builds the Bolt app: its client, its receiver, whom it acts as, and when it acknowledges. */
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

const AWAY =
  "I can't work in this workspace right now. Try again in a minute. If that doesn't help, install me again.";

/** When Slack sent what Bolt passes on, in milliseconds. */
export function contextSentAt(context: Context): number {
  // Sound: `processEvent` puts it there.
  return context.sentAt as number;
}

/** The organisation of an event that came by an installation for all of its workspaces. */
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
 * Bolt acknowledges an event before its listeners run, so a process that dies in between would lose it. Here an event is
 * acknowledged after they ran, so that what it asks for is stored. It is not acknowledged when it could not be handled: then
 * Slack sends it again.
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
        await ack({ response_type: 'ephemeral', text: AWAY });
      throw error;
    }
    if (isEvent) await ack();
  }

  /** Resolves when nothing that Slack sent is being handled. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}

/** Clocks may differ by as much, so a stamp that is younger says nothing. */
const MOST_SKEW_MS = 10_000;
/** Slack does not wait longer for us, so no request can be older than this. */
const LONGEST_DELAY_MS = 5 * 60_000;

const secondsSchema = z.coerce.number().positive().optional().catch(undefined);
/** Buttons and shortcuts have a time of their own. Commands and forms have none. */
const stampSchema = z.object({
  action_ts: secondsSchema,
  actions: z.array(z.object({ action_ts: secondsSchema })).catch([]),
});

/**
 * When something was sent that arrives now, in milliseconds by our clock.
 * @param byHttp the time of a request by HTTP, by Slack's clock
 */
function sentAtOf(body: object, now: number, byHttp: number | undefined): number {
  const { action_ts, actions } = stampSchema.parse(body);
  const seconds = action_ts ?? actions[0]?.action_ts;
  const sentAt = byHttp ?? (seconds === undefined ? now : seconds * 1000);
  const delay = now - sentAt;
  return delay > MOST_SKEW_MS && delay <= LONGEST_DELAY_MS ? sentAt : now;
}

/** Connects to nothing until the receiver starts. */
export function createApp({ client, receiver, workspaces, now, log }: AppOptions): SlackApp {
  const app = new SlackApp(now, {
    receiver,
    logger: client.logger,
    clientOptions: webClientOptions(client),
    convoStore: false,
    authorize: async (source) => {
      const { teamId, enterpriseId } = source;
      // An acknowledgement does not wait until Slack has said who the bot is.
      const { token } = await workspaces.of(teamId, organisationOf(source));
      return { botToken: token, ...present({ teamId, enterpriseId }) };
    },
  });
  // Rethrown, so that it is not acknowledged.
  app.error(async (error) => {
    log.error({ err: error }, 'Could not handle a Slack event');
    throw error;
  });
  return app;
}
