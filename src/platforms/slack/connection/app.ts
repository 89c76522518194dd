/** Builds the Bolt app: its client, its receiver, whom it acts as, and when it acknowledges. */
import { App, type Context, type Receiver, type ReceiverEvent } from '@slack/bolt';
import { z } from 'zod';
import type { Arrival, Arrivals } from './arrivals.ts';
import { webClientOptions } from './client.ts';
import type { ConnectionOptions } from './connection.ts';
import type { Workspaces } from './workspaces.ts';

type AppOptions = ConnectionOptions & {
  readonly receiver: Receiver;
  readonly workspaces: Workspaces;
  readonly arrivals: Arrivals;
};

/** A slash command as it came. */
export interface SentCommand extends Pick<ReceiverEvent, 'body' | 'ack'> {
  readonly arrival: Arrival;
}

/** Undefined for a command that the bot does not have. Otherwise it never rejects. */
export type TakeCommand = (sent: SentCommand) => Promise<void> | undefined;

/** How what Bolt passes on arrived. */
export function arrivalOf(context: Context): Arrival {
  // Sound: `deferAcknowledgements` puts it there.
  return context.arrival as Arrival;
}

/** Acknowledges an event before it was handled. What it asks for has to be stored by then. */
export function acknowledgementOf(context: Context): () => Promise<void> {
  // Sound: `deferAcknowledgements` puts it there.
  return context.acknowledge as () => Promise<void>;
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
 * acknowledged after they ran, or by a listener that has stored what it asks for. It is not acknowledged when it could not be
 * handled: then Slack sends it again.
 */
class StoringApp extends App {
  takeCommand: TakeCommand = () => undefined;
  readonly #arrivals: Arrivals;
  readonly #running = new Set<Promise<void>>();

  constructor(arrivals: Arrivals, options: ConstructorParameters<typeof App>[0]) {
    super(options);
    this.#arrivals = arrivals;
  }

  override async processEvent(event: ReceiverEvent): Promise<void> {
    const { body, ack, customProperties: { sentAt } = {} } = event;
    const arrival = this.#arrivals.arrival(body, sentAtSchema.parse(sentAt));
    const handled = this.takeCommand({ body, ack, arrival }) ?? this.#handle(event, arrival);
    this.#running.add(handled);
    try {
      await handled;
    } finally {
      this.#running.delete(handled);
    }
  }

  async #handle(event: ReceiverEvent, arrival: Arrival): Promise<void> {
    const { body, ack } = event;
    const isEvent = body.type === 'event_callback';
    let acknowledging: Promise<void> | undefined;
    const acknowledge = (): Promise<void> => {
      acknowledging ??= ack();
      return acknowledging;
    };
    await super.processEvent({
      ...event,
      customProperties: { arrival, acknowledge },
      ack: isEvent ? async () => {} : ack,
    });
    if (isEvent) await acknowledge();
  }

  /** Resolves when nothing that Slack sent is being handled. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}

const sentAtSchema = z.number().optional();

export type SlackApp = ReturnType<typeof createApp>;

/** Connects to nothing until the receiver starts. */
export function createApp({ client, receiver, workspaces, arrivals, log }: AppOptions) {
  const app = new StoringApp(arrivals, {
    receiver,
    logger: client.logger,
    clientOptions: webClientOptions(client),
    convoStore: false,
    authorize: async (source) => {
      const { teamId, enterpriseId } = source;
      // An acknowledgement does not wait until Slack has said who the bot is.
      const { token } = await workspaces.of(teamId, organisationOf(source));
      return {
        botToken: token,
        ...(teamId === undefined ? {} : { teamId }),
        ...(enterpriseId === undefined ? {} : { enterpriseId }),
      };
    },
  });
  // Rethrown, so that it is not acknowledged.
  app.error(async (error) => {
    log.error({ err: error }, 'An event from Slack was not handled');
    throw error;
  });
  return {
    app,
    /** Ahead of Bolt, which makes for each of many commands that come together what none of them needs. */
    takeCommands(take: TakeCommand): void {
      app.takeCommand = take;
    },
    idle: () => app.idle(),
  };
}
