/** Writes the pages of a post, with the interaction's token while it is live and the bot token afterwards. */
import { SnowflakeUtil } from 'discord.js';
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { PlatformError, type PostState, type ShowOptions } from '../../platform.ts';
import { addressDataOf, type LiveToken, liveToken } from '../address.ts';
import type { Payload, Sending } from '../connection/multipart.ts';
import { type MessageResponse, nonceOf } from '../connection/rest.ts';
import { type ErrorKind, errorKindOf, ignoreErrors } from '../errors.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import type { Page } from '../render/pages.ts';
import { attachedFiles, sendingOf, textSending } from './payload.ts';
import type { DeliveryTools } from './tools.ts';

/** Stored, so names and meanings must not change. */
const discordPostSchema = z.object({
  /** One entry per page, in order. */
  messages: z
    .array(
      z.object({
        id: z.string(),
        channel: z.string(),
        /** The token that sent the message. An interaction's token can only edit messages sent with it. */
        via: z.enum(['token', 'bot']),
        files: z.array(z.object({ name: z.string(), key: z.string(), id: z.string() })),
        /** Digest of the page, so that an unchanged page is not written again. */
        shown: z.string().default(''),
      }),
    )
    .default([]),
  /** Incremented when a message was deleted, so that its replacement gets a new nonce. */
  generation: z.number().default(0),
  /** The requester was mentioned because the result is ready. */
  notified: z.boolean().default(false),
  /** The requester was mentioned because the result is incomplete. */
  notifiedIncomplete: z.boolean().default(false),
  /** A follow-up got no response and may have arrived. From then on, everything goes into the first message. */
  unheard: z.boolean().default(false),
});
export type DiscordPost = z.infer<typeof discordPostSchema>;
type PostedMessage = DiscordPost['messages'][number];

export const discordPostOf = (posted: PostState = {}): DiscordPost =>
  discordPostSchema.safeParse(posted).data ?? discordPostSchema.parse({});

export const CLOSED_TO_BOT: readonly ErrorKind[] = [
  'no-access',
  'no-permission',
  'channel-deleted',
  'archived',
];

/** Thrown when a follow-up may or may not have arrived: its text must go into the first message. */
export class UnconfirmedFollowUp extends Error {
  override readonly name = 'UnconfirmedFollowUp';
}

const MENTIONS = {
  ready: { flag: 'notified', words: 'this is ready.' },
  incomplete: { flag: 'notifiedIncomplete', words: 'this is incomplete.' },
} as const satisfies Record<NonNullable<Message['notify']>, { flag: keyof DiscordPost; words: string }>;

type Delivery = Pick<PostedMessage, 'via'> & { readonly message: MessageResponse };

/** Throws discord.js's errors, {@link UnconfirmedFollowUp} and PlatformError. */
export function createWriter(
  address: Address,
  post: DiscordPost,
  options: ShowOptions,
  { rest, media, responses, now }: DeliveryTools,
) {
  const { key } = options;
  const { messages } = post;
  const data = addressDataOf(address);
  /** A new message's id is not stored yet. */
  let isNew = false;

  async function writePages(pages: readonly Page[]): Promise<void> {
    for (const [index, page] of pages.entries()) {
      // Each id is stored before the next request. The caller stores the last one.
      await rememberPosted();
      const before = messages[index];
      const shown = nonceOf(JSON.stringify(page));
      if (before?.shown === shown && !options.mayHavePosted) continue;
      const edited = before && (await edit(before, page));
      const { message, via } = edited ?? (await create(index, page));
      const files = attachedFiles(page, message.attachments);
      messages[index] = { id: message.id, channel: message.channel_id, via, files, shown };
      // Edits are safe to repeat: their files replace the same files.
      isNew ||= before?.id !== message.id;
    }
    await removeAfter(pages.length);
  }

  /** Posts or edits, unless another replica may be writing. */
  function guardedWrite(send: () => Promise<MessageResponse>): Promise<MessageResponse> {
    options.beforeWriting?.();
    return send();
  }

  /** Stores the ids of messages posted since the last call. */
  async function rememberPosted(): Promise<void> {
    if (isNew) await remember();
  }

  const currentToken = (): LiveToken | undefined => liveToken(data, now());

  /** @returns undefined if the message was deleted */
  async function edit({ id, channel, via, files }: PostedMessage, page: Page): Promise<Delivery | undefined> {
    // Another replica may have replaced the files.
    const sending = sendingOf(page, options.mayHavePosted ? [] : files, media);
    const write = async () => {
      const token = via === 'token' ? currentToken() : undefined;
      const edited =
        token &&
        (await ignoreErrors(['token-expired'], () =>
          guardedWrite(() => rest.editResponse(token, id, sending)),
        ));
      if (edited) return { message: edited, via };
      if (data.tokenOnly) return undefined;
      return { message: await guardedWrite(() => rest.edit(channel, id, sending)), via };
    };
    try {
      return await write().catch(async (error: unknown) => {
        if (errorKindOf(error) !== 'archived') throw error;
        const isOpen = await ignoreErrors(['no-permission', 'no-access'], () => rest.unarchive(channel));
        if (!isOpen) throw error;
        return await write();
      });
    } catch (error) {
      if (errorKindOf(error) !== 'message-deleted') throw error;
      post.generation += 1;
      return undefined;
    }
  }

  async function create(index: number, page: Page): Promise<Delivery> {
    const sending = sendingOf(page, [], media);
    const token = currentToken();
    // The first page fills the deferred response: an edit is safe to repeat.
    const isFirst = index === 0 && post.generation === 0 && !data.beside;
    if (token && isFirst && responses.isFree(token, key)) {
      responses.fill(token, key, now());
      const response = await ignoreErrors(['token-expired', 'message-deleted'], () =>
        guardedWrite(() => rest.editResponse(token, '@original', sending)),
      );
      if (response) return { message: response, via: 'token' };
    }
    if (data.tokenOnly) return { message: await followUp(index, sending), via: 'token' };
    const lostId =
      !token && isFirst && options.mayHavePosted ? await lostResponse(address, key, rest) : undefined;
    if (lostId !== undefined)
      return { message: await guardedWrite(() => rest.edit(address.channel, lostId, sending)), via: 'bot' };
    try {
      const nonce = nonceFor(`page ${index}`, index === 0);
      const sent = await send(sending, nonce, data.replyTo);
      // With an enforced nonce, Discord may return an earlier message with outdated content.
      const isShown = shows(sent, sending.body);
      const message = isShown ? sent : await guardedWrite(() => rest.edit(sent.channel_id, sent.id, sending));
      return { message, via: 'bot' };
    } catch (error) {
      const isClosed = CLOSED_TO_BOT.includes(errorKindOf(error));
      if (!token || !isClosed) throw error;
      const followedUp = await ignoreErrors(['token-expired'], () => followUp(index, sending));
      if (!followedUp) throw error;
      return { message: followedUp, via: 'token' };
    }
  }

  /**
   * Discord accepts no nonce for follow-ups, so one that gets no response is never sent again. Its text goes into the
   * first message instead, because edits are safe to repeat. A first page has no earlier message and is sent again.
   */
  async function followUp(index: number, sending: Sending): Promise<MessageResponse> {
    const token = requireToken();
    if (index === 0) return await guardedWrite(() => rest.followUp(token, sending));
    if (post.unheard) throw new UnconfirmedFollowUp();
    post.unheard = true;
    await remember();
    try {
      const sent = await guardedWrite(() => rest.followUp(token, sending));
      post.unheard = false;
      return sent;
    } catch (error) {
      const kind = errorKindOf(error);
      if (kind === 'unavailable' || kind === 'too-many-follow-ups') throw new UnconfirmedFollowUp();
      post.unheard = false;
      throw error;
    }
  }

  function requireToken(): LiveToken {
    const token = currentToken();
    if (token) return token;
    throw new PlatformError('gone', 'The interaction expired, and the bot is not in the channel', {
      advice:
        "This took more than 15 minutes, and I can't post in that server because I'm not a member of it. Ask a moderator to add me, or send me a direct message.",
    });
  }

  /** Replies need Read Message History. Without it, the message is sent without a reply. */
  async function send(
    sending: Sending,
    nonce: string,
    replyTo: string | undefined,
  ): Promise<MessageResponse> {
    const reply =
      replyTo !== undefined &&
      (await ignoreErrors(['no-history'], () =>
        guardedWrite(() => rest.post(address.channel, sending, { nonce, replyTo })),
      ));
    return reply || (await guardedWrite(() => rest.post(address.channel, sending, { nonce })));
  }

  /** Mentions the requester in a new message, because an edit does not notify them. Once for each subject. */
  async function notify(about: NonNullable<Message['notify']>): Promise<void> {
    const { flag, words } = MENTIONS[about];
    if (post[flag]) return;
    const sending = textSending(`<@${address.person}> ${words}`, [address.person]);
    try {
      if (data.tokenOnly) {
        const token = requireToken();
        // Without a nonce, a lost mention is better than two.
        post[flag] = true;
        await remember();
        await guardedWrite(() => rest.followUp(token, sending));
        return;
      }
      await send(sending, nonceFor(`notify ${about}`, false), messages[0]?.id);
    } catch (error) {
      // The result is already shown, so only a temporary failure is worth a retry.
      if (errorKindOf(error) === 'unavailable' && !data.tokenOnly) throw error;
    }
    post[flag] = true;
  }

  async function removeAfter(length: number): Promise<void> {
    for (const { id, channel, via } of messages.slice(length).reverse()) {
      const token = via === 'token' ? currentToken() : undefined;
      await ignoreErrors(['token-expired', 'message-deleted', ...CLOSED_TO_BOT], () =>
        token ? rest.deleteResponse(token, id) : rest.delete(channel, id),
      );
      messages.pop();
    }
  }

  function nonceFor(part: string, isKey: boolean): string {
    const { generation } = post;
    if (isKey && generation === 0 && key.length <= DISCORD_LIMITS.nonce) return key;
    return nonceOf(`${key}\n${part}\n${generation}`);
  }

  async function remember(): Promise<void> {
    isNew = false;
    await options.remember(structuredClone(post));
  }

  return { writePages, rememberPosted, notify };
}

/** Whether Discord shows what was sent. A wrong `false` only costs an extra edit. */
function shows(sent: MessageResponse, body: Payload): boolean {
  const same = (left: string | undefined, right: string | undefined) =>
    (left ?? '').trim() === (right ?? '').trim();
  return (
    same(sent.content, body.content) &&
    sent.components.length === body.components.length &&
    // Discord does not list files that an embed shows.
    sent.attachments.length + body.embeds.length >= body.attachments.length &&
    sent.embeds.length === body.embeds.length &&
    sent.embeds.every(
      (embed, index) =>
        same(embed.title, body.embeds[index]?.title) &&
        same(embed.description, body.embeds[index]?.description),
    )
  );
}

/** Discord's limit for one request. */
const MAX_LISTED = 100;
const CLOCKS_DIFFER_MS = 60_000;

/** The fields needed to recognise a lost response. */
const lostSchema = z.array(z.object({ id: z.string(), components: z.array(z.unknown()).catch([]) }));

/**
 * Finds an interaction's response by its job's buttons, if a process crashed before storing the id. The token that could
 * read it directly has expired.
 */
async function lostResponse(
  address: Address,
  key: string,
  rest: DeliveryTools['rest'],
): Promise<string | undefined> {
  const { interaction } = addressDataOf(address);
  if (interaction === undefined) return undefined;
  const requestedAt = interaction.expiresAt - DISCORD_LIMITS.interactionMs;
  const after = String(SnowflakeUtil.generate({ timestamp: requestedAt - CLOCKS_DIFFER_MS }));
  const found = await ignoreErrors([...CLOSED_TO_BOT, 'no-history'], () =>
    rest.messages(address.channel, { after }, MAX_LISTED),
  );
  // Newest first.
  const messages = lostSchema.safeParse(found).data ?? [];
  return messages.findLast(({ components }) => JSON.stringify(components).includes(`:${key}:`))?.id;
}
