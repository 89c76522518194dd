import { createHash } from 'node:crypto';
import {
  type APIModalInteractionResponseCallbackData,
  InteractionResponseType,
  REST,
  RESTJSONErrorCodes,
  type RESTOptions,
  type RESTPutAPIApplicationCommandsJSONBody,
  Routes,
} from 'discord.js';
import { z } from 'zod';
import type { Measure } from '../../../../core/telemetry/series.ts';
import { PlatformError } from '../../../platform.ts';
import type { EditBudgets } from '../../deliver/edit-scheduler.ts';
import { type FileToSend, formOf, type Sending, UnreadableFile } from '../../deliver/payload.ts';
import { isDiscordError, troubleOf } from '../../errors.ts';
import { DISCORD_LIMITS } from '../../limits.ts';
import { sendRequest } from './transport.ts';

/** Equal for equal text, of the length that Discord takes. */
export const nonceOf = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, DISCORD_LIMITS.nonce);

/** Enough to answer an interaction for the first time. */
type InteractionReference = { readonly id: string; readonly token: string };

/** Reaches the messages of an interaction for 15 minutes. */
export interface InteractionToken {
  readonly application: string;
  readonly token: string;
}

/** The parts of Discord's answer that are used. */
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

const idSchema = z.object({ id: z.string() });

/** An error of the network, as opposed to Discord's own, becomes PlatformError: it may work later. */
async function reach(request: Promise<unknown>): Promise<unknown> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof UnreadableFile) throw error.cause;
    if (troubleOf(error) !== 'other') throw error;
    throw new PlatformError('unavailable', 'Discord cannot be reached', { cause: error });
  }
}

/** Long enough for ten files on a slow line. */
const TIMEOUT_MS = 60_000;
/** A first response with its retries has this long: after that the job would begin by itself. */
const PROMPT = { timeout: 2_500, retries: 2 } as const;

/** Each interaction has queues of its own, which discord.js would keep for an hour. */
const HANDLERS_KEPT_MS = 5 * 60_000;

export interface DiscordRestOptions {
  readonly token: string;
  /** Base without the version, for proxies and tests; Discord's own by default. The gateway's address comes from there too. */
  readonly apiUrl?: string | undefined;
  /** For operators' numbers; left out, nothing is measured. */
  readonly measure?: Measure | undefined;
  /** Told of the answers to edits. */
  readonly budgets?: EditBudgets;
  /** Told that an interaction had an answer before the first one of this process. */
  readonly onAnsweredElsewhere?: () => void;
  /** {@link sendRequest} by default. */
  readonly makeRequest?: RESTOptions['makeRequest'];
}

/**
 * Discord's REST API, as far as it is used. Queues by Discord's rate limits and waits out every Retry-After. A POST is
 * retried on 5xx, timeouts and failed connections, so a message with the bot token always carries an enforced nonce.
 * Throws discord.js's errors, and PlatformError when Discord cannot be reached; `troubleOf` reads both. Throws what a
 * file's `open` throws, too.
 */
export function createDiscordRest({
  token,
  apiUrl,
  measure,
  budgets,
  onAnsweredElsewhere,
  makeRequest = sendRequest,
}: DiscordRestOptions) {
  const options = {
    version: '10',
    timeout: TIMEOUT_MS,
    makeRequest: budgets?.reading(makeRequest) ?? makeRequest,
    // Answers to interactions are not bound to it, and the rest has its own: request-budget.ts.
    globalRequestsPerSecond: Number.POSITIVE_INFINITY,
    handlerSweepInterval: HANDLERS_KEPT_MS,
    ...(apiUrl === undefined ? {} : { api: apiUrl }),
  };
  const rest = new REST(options);
  const once = new REST({ ...options, retries: 0 });
  const prompt = new REST({ ...options, ...PROMPT });
  /** Answers that Discord refused at their first try. */
  const refusedAtOnce = new Set<string>();
  for (const client of [rest, prompt])
    client.on('response', ({ path, retries }, { status }) => {
      if (status === 400 && retries === 0 && path.endsWith('/callback')) refusedAtOnce.add(path);
    });
  for (const client of [rest, once, prompt]) {
    // The route has no ids and no tokens in it.
    client.on('response', ({ method, route }, { status }) =>
      measure?.('minstrel_platform_requests_total', {
        platform: 'discord',
        method: `${method} ${route}`,
        status: String(status),
      }),
    );
    client.on('rateLimited', () => measure?.('minstrel_rate_limits_total', { by: 'discord' }));
  }
  /** The REST client forgets its token at every 401, and the token may be good again later. */
  const bot = () => rest.setToken(token);

  async function respond(
    { id, token }: InteractionReference,
    type: InteractionResponseType,
    data: object,
    files: readonly FileToSend[] = [],
  ): Promise<void> {
    const request = { ...contentOf({ type, data }, files), auth: false };
    const path = Routes.interactionCallback(id, token);
    try {
      await reach((files.length > 0 ? rest : prompt).post(path, request));
    } catch (error) {
      if (!isDiscordError(error, RESTJSONErrorCodes.InteractionHasAlreadyBeenAcknowledged)) throw error;
      // Else an earlier try of this same request has arrived.
      if (refusedAtOnce.has(path)) onAnsweredElsewhere?.();
    } finally {
      refusedAtOnce.delete(path);
    }
  }

  return {
    close(): void {
      for (const client of [rest, once, prompt]) {
        client.clearHashSweeper();
        client.clearHandlerSweeper();
      }
    },

    applicationId: () => idOf(bot().get(Routes.currentApplication())),

    /** For what an operator waits for: it fails soon. */
    read: (route: `/${string}`) => reach(prompt.setToken(token).get(route)),

    /** What Discord advises for connecting: the number of shards, and how many may begin. */
    gatewayAdvice: () => reach(bot().get(Routes.gatewayBot())),

    commands(applicationId: string): Promise<unknown> {
      const query = new URLSearchParams({ with_localizations: 'true' });
      return reach(bot().get(Routes.applicationCommands(applicationId), { query }));
    },

    overwriteCommands: (applicationId: string, body: RESTPutAPIApplicationCommandsJSONBody) =>
      reach(bot().put(Routes.applicationCommands(applicationId), { body })),

    // --- With the bot token --------------------------------------------------------------------------------------

    /** @param options `nonce`: Discord answers with the earlier message when it took the same nonce minutes ago */
    async post(
      channel: string,
      sending: Sending,
      { nonce, replyTo }: { readonly nonce: string; readonly replyTo?: string | undefined },
    ): Promise<Sent> {
      const reference =
        replyTo === undefined
          ? {}
          : { message_reference: { message_id: replyTo, fail_if_not_exists: false } };
      const request = requestOf(sending, { nonce, enforce_nonce: true, ...reference });
      return await sentOf(bot().post(Routes.channelMessages(channel), request));
    },

    edit: (channel: string, id: string, sending: Sending) =>
      sentOf(bot().patch(Routes.channelMessage(channel, id), requestOf(sending))),

    /** Everything but the rows of buttons and menus stays as it is. */
    editRows: (channel: string, id: string, components: readonly object[]) =>
      reach(bot().patch(Routes.channelMessage(channel, id), { body: { components } })),

    delete: (channel: string, id: string) => reach(bot().delete(Routes.channelMessage(channel, id))),

    message: (channel: string, id: string) => reach(bot().get(Routes.channelMessage(channel, id))),

    /**
     * Newest first.
     * @param near an id that Discord gave: the messages next to it
     */
    messages(
      channel: string,
      near: { readonly before: string } | { readonly after: string },
      limit: number,
    ): Promise<unknown> {
      const query = new URLSearchParams({ ...near, limit: String(limit) });
      return reach(bot().get(Routes.channelMessages(channel), { query }));
    },

    /** @returns the thread's id */
    openThread: (channel: string, message: string, name: string) =>
      idOf(bot().post(Routes.threads(channel, message), { body: { name } })),

    /** Opens an archived thread again; one that is locked takes Manage Threads. */
    unarchive: (thread: string) => reach(bot().patch(Routes.channel(thread), { body: { archived: false } })),

    channel: (id: string) => reach(bot().get(Routes.channel(id))),

    guild: (id: string) => reach(bot().get(Routes.guild(id))),

    typing: (channel: string) => reach(bot().post(Routes.channelTyping(channel))),

    /** Speaks where the bot sits in the audience and was invited. */
    speakOnStage: (guild: string, channel: string) =>
      reach(bot().patch(Routes.guildVoiceState(guild), { body: { channel_id: channel, suppress: false } })),

    directChannel: (person: string) =>
      idOf(bot().post(Routes.userChannels(), { body: { recipient_id: person } })),

    // --- With an interaction's token: `auth: false`, so that a dead token never costs the bot its own -------------

    defer: (interaction: InteractionReference, flags: number) =>
      respond(interaction, InteractionResponseType.DeferredChannelMessageWithSource, { flags }),

    reply: (interaction: InteractionReference, { body, files }: Sending, flags: number) =>
      respond(interaction, InteractionResponseType.ChannelMessageWithSource, { ...body, flags }, files),

    openForm: (interaction: InteractionReference, data: APIModalInteractionResponseCallbackData) =>
      respond(interaction, InteractionResponseType.Modal, data),

    /** Not retried: the person has typed on meanwhile. */
    async complete(
      interaction: InteractionReference,
      choices: readonly { name: string; value: string }[],
      signal: AbortSignal,
    ): Promise<void> {
      const body = { type: InteractionResponseType.ApplicationCommandAutocompleteResult, data: { choices } };
      const route = Routes.interactionCallback(interaction.id, interaction.token);
      await reach(once.post(route, { body, auth: false, signal }));
    },

    /** Not retried: Discord takes no nonce here, so a retry could leave two messages. */
    followUp: ({ application, token }: InteractionToken, sending: Sending, flags = 0) =>
      sentOf(
        once.post(Routes.webhook(application, token), { ...requestOf(sending, { flags }), auth: false }),
      ),

    /** @param id a message of this interaction, or `@original` */
    editResponse(token: InteractionToken, id: string, sending: Sending): Promise<Sent> {
      return sentOf(rest.patch(responseRoute(token, id), { ...requestOf(sending), auth: false }));
    },

    response: (token: InteractionToken, id: string) =>
      sentOf(rest.get(responseRoute(token, id), { auth: false })),

    deleteResponse: (token: InteractionToken, id: string) =>
      reach(rest.delete(responseRoute(token, id), { auth: false })),
  };
}

export type DiscordRest = ReturnType<typeof createDiscordRest>;

const requestOf = ({ body, files }: Sending, more: object = {}) => contentOf({ ...body, ...more }, files);

const contentOf = (json: object, files: readonly FileToSend[]) =>
  files.length === 0 ? { body: json } : { ...formOf(json, files), passThroughBody: true };

const responseRoute = ({ application, token }: InteractionToken, id: string) =>
  Routes.webhookMessage(application, token, id);

const idOf = async (request: Promise<unknown>): Promise<string> => idSchema.parse(await reach(request)).id;

const sentOf = async (request: Promise<unknown>): Promise<Sent> => sentSchema.parse(await reach(request));
