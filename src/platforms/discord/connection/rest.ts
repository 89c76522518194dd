import { createHash } from 'node:crypto';
import {
  InteractionResponseType,
  REST,
  type RESTAPIPoll,
  RESTJSONErrorCodes,
  type RESTPatchCurrentApplicationJSONBody,
  type RESTPutAPIApplicationCommandsJSONBody,
  Routes,
} from 'discord.js';
import { z } from 'zod';
import { PlatformError } from '../../platform.ts';
import { errorKindOf, isDiscordError } from '../errors.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import { type FileToSend, multipartOf, type Sending, UnreadableFile } from './multipart.ts';
import { restOptions } from './transport.ts';

/** Returns the same nonce for the same text, within Discord's length limit. */
export const nonceOf = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, DISCORD_LIMITS.nonce);

/** Gives access to an interaction's messages for 15 minutes. */
export interface InteractionToken {
  readonly application: string;
  readonly token: string;
}

/** The fields of Discord's response that the bot uses. */
const messageResponseSchema = z.object({
  id: z.string(),
  channel_id: z.string(),
  content: z.string().catch(''),
  flags: z.number().catch(0),
  attachments: z.array(z.object({ id: z.string(), filename: z.string() })).catch([]),
  embeds: z.array(z.object({ title: z.string().optional(), description: z.string().optional() })).catch([]),
  components: z.array(z.unknown()).catch([]),
});
export type MessageResponse = z.infer<typeof messageResponseSchema>;

const idSchema = z.object({ id: z.string() });

/** Converts network errors to PlatformError, because a retry may succeed. Throws Discord's own errors unchanged. */
async function reach(request: Promise<unknown>): Promise<unknown> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof UnreadableFile) throw error.cause;
    if (errorKindOf(error) !== 'other') throw error;
    throw new PlatformError('unavailable', 'Could not reach Discord', { cause: error });
  }
}

/** Sends the first response to an interaction. Throws like the REST client. */
export async function firstResponse(respond: () => Promise<unknown>): Promise<void> {
  try {
    await reach(respond());
  } catch (error) {
    // An earlier attempt of this request arrived.
    if (!isDiscordError(error, RESTJSONErrorCodes.InteractionHasAlreadyBeenAcknowledged)) throw error;
  }
}

/** Timeout for requests that someone is waiting for. */
const READ_MS = 10_000;

/** The settings for reaching Discord. */
export interface DiscordAccount {
  readonly token: string;
  /** Base URL without the version, for proxies and tests. Default: Discord's own. Also used to look up the gateway. */
  readonly apiUrl?: string | undefined;
}

/** Creates a client for programs without a gateway connection. */
export const openRest = ({ token, apiUrl }: DiscordAccount): DiscordRest => {
  const rest = new REST(restOptions(apiUrl));
  return createDiscordRest(() => rest, token);
};

/**
 * The requests that the bot sends to Discord. discord.js queues them by Discord's rate limits and retries a POST after 5xx,
 * timeouts and failed connections, so each message sent with the bot token has an enforced nonce. Throws discord.js's
 * errors, PlatformError if Discord is unreachable (`errorKindOf` reads both), and the errors of a file's `open`.
 */
export function createDiscordRest(current: () => REST, token: string) {
  /** discord.js forgets its token at every 401, but the token may become valid again. */
  const bot = () => current().setToken(token);

  return {
    applicationId: () => idOf(bot().get(Routes.currentApplication())),

    /** For requests that someone is waiting for: has a short timeout. */
    read: (route: `/${string}`) => reach(bot().get(route, { signal: AbortSignal.timeout(READ_MS) })),

    /** Returns the application. */
    editApplication: (body: RESTPatchCurrentApplicationJSONBody) =>
      reach(bot().patch(Routes.currentApplication(), { body })),

    commands: (applicationId: string) => reach(bot().get(Routes.applicationCommands(applicationId))),

    overwriteCommands: (applicationId: string, body: RESTPutAPIApplicationCommandsJSONBody) =>
      reach(bot().put(Routes.applicationCommands(applicationId), { body })),

    // --- With the bot token --------------------------------------------------------------------------------------

    /** @param options `nonce`: Discord returns the earlier message if it accepted the same nonce minutes ago */
    async post(
      channel: string,
      sending: Sending,
      { nonce, replyTo }: { readonly nonce: string; readonly replyTo?: string | undefined },
    ): Promise<MessageResponse> {
      const reference =
        replyTo === undefined
          ? {}
          : { message_reference: { message_id: replyTo, fail_if_not_exists: false } };
      const request = requestOf(sending, { nonce, enforce_nonce: true, ...reference });
      return await sentOf(bot().post(Routes.channelMessages(channel), request));
    },

    /** @param nonce as in `post` */
    postPoll: (channel: string, poll: RESTAPIPoll, nonce: string): Promise<MessageResponse> =>
      sentOf(bot().post(Routes.channelMessages(channel), { body: { poll, nonce, enforce_nonce: true } })),

    endPoll: (channel: string, id: string) => reach(bot().post(Routes.expirePoll(channel, id))),

    edit: (channel: string, id: string, sending: Sending) =>
      sentOf(bot().patch(Routes.channelMessage(channel, id), requestOf(sending))),

    /** Changes only the rows of buttons and menus. */
    editRows: (channel: string, id: string, components: readonly object[]) =>
      reach(bot().patch(Routes.channelMessage(channel, id), { body: { components } })),

    delete: (channel: string, id: string) => reach(bot().delete(Routes.channelMessage(channel, id))),

    message: (channel: string, id: string) => reach(bot().get(Routes.channelMessage(channel, id))),

    /**
     * Returns messages, newest first.
     * @param near the id of the message next to the results
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

    /** Reopens an archived thread. Locked threads require Manage Threads. */
    unarchive: (thread: string) => reach(bot().patch(Routes.channel(thread), { body: { archived: false } })),

    typing: (channel: string) => reach(bot().post(Routes.channelTyping(channel))),

    /** Accepts an invitation to speak on a stage. */
    speakOnStage: (guild: string, channel: string) =>
      reach(bot().patch(Routes.guildVoiceState(guild), { body: { channel_id: channel, suppress: false } })),

    directChannel: (person: string) =>
      idOf(bot().post(Routes.userChannels(), { body: { recipient_id: person } })),

    // --- With an interaction's token: `auth: false`, so that an expired one cannot clear the bot's own token -----

    reply(
      { id, token: interaction }: { readonly id: string; readonly token: string },
      { body, files }: Sending,
      flags: number,
    ): Promise<void> {
      const response = { type: InteractionResponseType.ChannelMessageWithSource, data: { ...body, flags } };
      const request = { ...contentOf(response, files), auth: false };
      return firstResponse(() => current().post(Routes.interactionCallback(id, interaction), request));
    },

    /** Not retried, because Discord accepts no nonce here. */
    followUp: ({ application, token }: InteractionToken, sending: Sending, flags = 0) =>
      sentOf(
        current().post(Routes.webhook(application, token), { ...requestOf(sending, { flags }), auth: false }),
      ),

    /** @param id a message of this interaction, or `@original` */
    editResponse(token: InteractionToken, id: string, sending: Sending): Promise<MessageResponse> {
      return sentOf(current().patch(responseRoute(token, id), { ...requestOf(sending), auth: false }));
    },

    response: (token: InteractionToken, id: string) =>
      sentOf(current().get(responseRoute(token, id), { auth: false })),

    deleteResponse: (token: InteractionToken, id: string) =>
      reach(current().delete(responseRoute(token, id), { auth: false })),
  };
}

export type DiscordRest = ReturnType<typeof createDiscordRest>;

const requestOf = ({ body, files }: Sending, more: object = {}) => contentOf({ ...body, ...more }, files);

const contentOf = (json: object, files: readonly FileToSend[]) =>
  files.length === 0 ? { body: json } : { ...multipartOf(json, files), passThroughBody: true };

const responseRoute = ({ application, token }: InteractionToken, id: string) =>
  Routes.webhookMessage(application, token, id);

const idOf = async (request: Promise<unknown>): Promise<string> => idSchema.parse(await reach(request)).id;

const sentOf = async (request: Promise<unknown>): Promise<MessageResponse> =>
  messageResponseSchema.parse(await reach(request));
