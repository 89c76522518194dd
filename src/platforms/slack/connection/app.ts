/** Builds the Bolt app: its client, its receiver, whom it acts as, and when it acknowledges. */
import { App, type Context, type Receiver, type ReceiverEvent } from '@slack/bolt';
import { z } from 'zod';
import { sentAtOf } from './arrivals.ts';
import { webClientOptions } from './client.ts';
import type { ConnectionOptions } from './connection.ts';
import type { Workspaces } from './workspaces.ts';

type AppOptions = ConnectionOptions & {
  readonly receiver: Receiver;
  readonly workspaces: Workspaces;
};

/** A slash command as it came. */
export interface SentCommand extends Pick<ReceiverEvent, 'body' | 'ack'> {
  /** When Slack sent it, in milliseconds. */
  readonly sentAt: number;
}

/** Undefined for a command that the bot does not have. Otherwise it never rejects. */
export type TakeCommand = (sent: SentCommand) => Promise<void> | undefined;

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
class StoringApp extends App {
  takeCommand: TakeCommand = () => undefined;
  readonly #now: () => number;
  readonly #running = new Set<Promise<void>>();

  constructor(now: () => number, options: ConstructorParameters<typeof App>[0]) {
    super(options);
    this.#now = now;
  }

  override async processEvent(event: ReceiverEvent): Promise<void> {
    const { body, ack, customProperties = {} } = event;
    const sentAt = sentAtOf(body, this.#now(), stampSchema.parse(customProperties.sentAt));
    const handled = this.takeCommand({ body, ack, sentAt }) ?? this.#handle(event, sentAt);
    this.#running.add(handled);
    try {
      await handled;
    } finally {
      this.#running.delete(handled);
    }
  }

  async #handle(event: ReceiverEvent, sentAt: number): Promise<void> {
    const { body, ack } = event;
    const isEvent = body.type === 'event_callback';
    await super.processEvent({
      ...event,
      customProperties: { sentAt },
      ack: isEvent ? async () => {} : ack,
    });
    if (isEvent) await ack();
  }

  /** Resolves when nothing that Slack sent is being handled. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}

const stampSchema = z.number().optional();

export type SlackApp = ReturnType<typeof createApp>;

/** Connects to nothing until the receiver starts. */
export function createApp({ client, receiver, workspaces, now, log }: AppOptions) {
  const app = new StoringApp(now, {
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
