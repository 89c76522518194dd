import {
  type APIAttachment,
  type APIEmbed,
  type APIMessageTopLevelComponent,
  type APIModalInteractionResponseCallbackData,
  DiscordAPIError,
  HTTPError,
  InteractionResponseType,
  RateLimitError,
  type RawFile,
  REST,
  RESTJSONErrorCodes,
  type RESTOptions,
  type RESTPutAPIApplicationCommandsJSONBody,
  type ResponseLike,
  Routes,
} from 'discord.js';
import { z } from 'zod';
import { PlatformError } from '../platform.ts';
import type { LiveToken } from './place.ts';

/** What a message consists of when it is sent. */
export interface Payload {
  readonly content: string;
  readonly embeds: readonly APIEmbed[];
  readonly components: readonly APIMessageTopLevelComponent[];
  /** Files that stay, and those of this request by the index of `files`. */
  readonly attachments: readonly {
    readonly id: string | number;
    readonly filename?: string;
    readonly description?: string;
  }[];
  readonly allowed_mentions: {
    readonly parse: readonly [];
    readonly users?: readonly string[];
    readonly replied_user?: false;
  };
  readonly flags?: number;
  readonly nonce?: string;
  readonly enforce_nonce?: true;
  readonly message_reference?: { readonly message_id: string; readonly fail_if_not_exists: false };
}

export interface Sending {
  readonly body: Payload;
  readonly files: readonly RawFile[];
}

/** Of what Discord answers, the parts that are used. */
const sentSchema = z.object({
  id: z.string(),
  channel_id: z.string(),
  content: z.string().catch(''),
  flags: z.number().catch(0),
  attachments: z.array(z.object({ id: z.string(), filename: z.string() })).catch([]),
  embeds: z.array(z.object({ title: z.string().optional(), description: z.string().optional() })).catch([]),
  components: z.array(z.unknown()).catch([]),
});
export type Sent = z.infer<typeof sentSchema>;
export type SentAttachment = Pick<APIAttachment, 'id' | 'filename'>;

const channelSchema = z.object({ id: z.string() });
const applicationSchema = z.object({ id: z.string() });

/** What comes from the network, and not from Discord, may work later. */
async function reach(request: Promise<unknown>): Promise<unknown> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof DiscordAPIError || error instanceof HTTPError || error instanceof RateLimitError)
      throw error;
    throw new PlatformError('unavailable', 'Discord cannot be reached', { cause: error });
  }
}

/**
 * Node's own fetch. The library's undici shares its dispatcher with every other undici in the process, and a form made
 * by one is refused by another: https://github.com/nodejs/undici/issues/5520.
 */
export const nodeFetch: RESTOptions['makeRequest'] = async (url, init) =>
  // The library's types come from its own undici; the values are Node's in both.
  (await fetch(url, init as unknown as RequestInit)) as unknown as ResponseLike;

/** Long enough for ten files on a slow line. */
const TIMEOUT_MS = 60_000;

export interface DiscordRestOptions {
  readonly token: string;
  /** Base without the version; Discord's own by default. */
  readonly apiUrl?: string | undefined;
}

/**
 * Discord's REST API, as far as it is used. Queues by Discord's rate limits and waits out every Retry-After. A POST is
 * retried on 5xx and timeouts, so a message with the bot token always carries an enforced nonce.
 * Throws discord.js's errors, and PlatformError when Discord cannot be reached; `troubleOf` reads both.
 */
export class DiscordRest {
  readonly #rest: REST;
  readonly #once: REST;
  readonly #token: string;

  constructor({ token, apiUrl }: DiscordRestOptions) {
    const options = {
      version: '10',
      timeout: TIMEOUT_MS,
      makeRequest: nodeFetch,
      ...(apiUrl === undefined ? {} : { api: apiUrl }),
    };
    this.#token = token;
    this.#rest = new REST(options);
    this.#once = new REST({ ...options, retries: 0 });
  }

  /** The REST client forgets its token at every 401, and the token may be good again later. */
  get #bot(): REST {
    return this.#rest.setToken(this.#token);
  }

  close(): void {
    for (const rest of [this.#rest, this.#once]) {
      rest.clearHashSweeper();
      rest.clearHandlerSweeper();
    }
  }

  async applicationId(): Promise<string> {
    return applicationSchema.parse(await reach(this.#bot.get(Routes.currentApplication()))).id;
  }

  async commands(applicationId: string): Promise<unknown> {
    return await reach(
      this.#bot.get(Routes.applicationCommands(applicationId), {
        query: new URLSearchParams({ with_localizations: 'true' }),
      }),
    );
  }

  async overwriteCommands(applicationId: string, body: RESTPutAPIApplicationCommandsJSONBody): Promise<void> {
    await reach(this.#bot.put(Routes.applicationCommands(applicationId), { body }));
  }

  // --- With the bot token --------------------------------------------------------------------------------------

  async post(channel: string, { body, files }: Sending): Promise<Sent> {
    return sentSchema.parse(
      await reach(this.#bot.post(Routes.channelMessages(channel), { body, files: [...files] })),
    );
  }

  async edit(channel: string, id: string, { body, files }: Sending): Promise<Sent> {
    return sentSchema.parse(
      await reach(this.#bot.patch(Routes.channelMessage(channel, id), { body, files: [...files] })),
    );
  }

  async delete(channel: string, id: string): Promise<void> {
    await reach(this.#bot.delete(Routes.channelMessage(channel, id)));
  }

  async message(channel: string, id: string): Promise<unknown> {
    return await reach(this.#bot.get(Routes.channelMessage(channel, id)));
  }

  /** Newest first. */
  async messagesBefore(channel: string, id: string, limit: number): Promise<unknown> {
    return await reach(
      this.#bot.get(Routes.channelMessages(channel), {
        query: new URLSearchParams({ before: id, limit: String(limit) }),
      }),
    );
  }

  /** @returns the thread's id */
  async openThread(channel: string, message: string, name: string): Promise<string> {
    return channelSchema.parse(
      await reach(this.#bot.post(Routes.threads(channel, message), { body: { name } })),
    ).id;
  }

  async channel(id: string): Promise<unknown> {
    return await reach(this.#bot.get(Routes.channel(id)));
  }

  async typing(channel: string): Promise<void> {
    await reach(this.#bot.post(Routes.channelTyping(channel)));
  }

  async directChannel(person: string): Promise<string> {
    return channelSchema.parse(
      await reach(this.#bot.post(Routes.userChannels(), { body: { recipient_id: person } })),
    ).id;
  }

  // --- With an interaction's token: `auth: false`, so that a dead token never costs the bot its own -------------

  async defer(interaction: { id: string; token: string }, flags: number): Promise<void> {
    await this.#respond(interaction, {
      type: InteractionResponseType.DeferredChannelMessageWithSource,
      data: { flags },
    });
  }

  async reply(interaction: { id: string; token: string }, { body, files }: Sending): Promise<void> {
    const { nonce: _, enforce_nonce: __, message_reference: ___, ...data } = body;
    await this.#respond(interaction, { type: InteractionResponseType.ChannelMessageWithSource, data }, files);
  }

  async openForm(
    interaction: { id: string; token: string },
    data: APIModalInteractionResponseCallbackData,
  ): Promise<void> {
    await this.#respond(interaction, { type: InteractionResponseType.Modal, data });
  }

  /** Not tried again: whoever types has gone on. */
  async complete(
    interaction: { id: string; token: string },
    choices: readonly { name: string; value: string }[],
    signal: AbortSignal,
  ): Promise<void> {
    const body = { type: InteractionResponseType.ApplicationCommandAutocompleteResult, data: { choices } };
    const route = Routes.interactionCallback(interaction.id, interaction.token);
    await reach(this.#once.post(route, { body, auth: false, signal }));
  }

  async #respond(
    interaction: { id: string; token: string },
    body: object,
    files: readonly RawFile[] = [],
  ): Promise<void> {
    const route = Routes.interactionCallback(interaction.id, interaction.token);
    try {
      await reach(this.#rest.post(route, { body, files: [...files], auth: false }));
    } catch (error) {
      // Only a retry of ours can have been first: nobody else answers our interactions.
      if (
        !(
          error instanceof DiscordAPIError &&
          error.code === RESTJSONErrorCodes.InteractionHasAlreadyBeenAcknowledged
        )
      )
        throw error;
    }
  }

  /** Not retried: nothing would keep a second follow-up from standing there. */
  async followUp({ application, token }: LiveToken, { body, files }: Sending): Promise<Sent> {
    const { nonce: _, enforce_nonce: __, message_reference: ___, ...data } = body;
    return sentSchema.parse(
      await reach(
        this.#once.post(Routes.webhook(application, token), {
          body: data,
          files: [...files],
          auth: false,
        }),
      ),
    );
  }

  /** @param id a message of this interaction, or `@original` */
  async editResponse({ application, token }: LiveToken, id: string, { body, files }: Sending): Promise<Sent> {
    const { nonce: _, enforce_nonce: __, message_reference: ___, flags: ____, ...data } = body;
    return sentSchema.parse(
      await reach(
        this.#rest.patch(Routes.webhookMessage(application, token, id), {
          body: data,
          files: [...files],
          auth: false,
        }),
      ),
    );
  }

  async response({ application, token }: LiveToken, id: string): Promise<Sent> {
    return sentSchema.parse(
      await reach(this.#rest.get(Routes.webhookMessage(application, token, id), { auth: false })),
    );
  }

  async deleteResponse({ application, token }: LiveToken, id: string): Promise<void> {
    await reach(this.#rest.delete(Routes.webhookMessage(application, token, id), { auth: false }));
  }
}
