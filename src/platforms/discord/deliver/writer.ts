/** Writes the pages of one post: by the interaction's token while it lives, by the bot token after. */
import { SnowflakeUtil } from 'discord.js';
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { PlatformError, type Posted, type ShowOptions } from '../../platform.ts';
import { addressDataOf, type LiveToken, liveToken } from '../address.ts';
import type { Payload, Sending } from '../connection/multipart.ts';
import { nonceOf, type Sent } from '../connection/rest.ts';
import { type Trouble, troubleOf, unlessTrouble } from '../errors.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import type { Page } from '../render/pages.ts';
import { attachedFiles, sendingOf, textSending } from './payload.ts';
import type { DeliveryTools } from './tools.ts';

/** It is stored: names and meanings must stay. */
const discordPostSchema = z.object({
  /** One entry a page, in order. */
  messages: z
    .array(
      z.object({
        id: z.string(),
        channel: z.string(),
        /** How it was sent: the interaction's token reaches only what was sent with it. */
        via: z.enum(['token', 'bot']),
        files: z.array(z.object({ name: z.string(), key: z.string(), id: z.string() })),
        /** Digest of the page, so that the same page is not written again. */
        shown: z.string().default(''),
      }),
    )
    .default([]),
  /** Raised when an earlier message was deleted, so that its successor gets a nonce of its own. */
  generation: z.number().default(0),
  /** The person was told that the result is ready. */
  notified: z.boolean().default(false),
  /** The person was told that the result is not complete. */
  notifiedIncomplete: z.boolean().default(false),
  /** A follow-up was sent without an answer: it may have arrived, so from then on everything goes into the first message. */
  unheard: z.boolean().default(false),
});
export type DiscordPost = z.infer<typeof discordPostSchema>;
type PostedMessage = DiscordPost['messages'][number];

export const discordPostOf = (posted: Posted = {}): DiscordPost =>
  discordPostSchema.safeParse(posted).data ?? discordPostSchema.parse({});

export const CLOSED_TO_BOT: readonly Trouble[] = ['no-access', 'no-permission', 'channel-gone', 'archived'];

/** A follow-up may have arrived or not; what it was to say must go into the first message. */
export class UnheardFollowUp extends Error {
  override readonly name = 'UnheardFollowUp';
}

const MENTIONS = {
  ready: { flag: 'notified', words: 'this is ready.' },
  incomplete: { flag: 'notifiedIncomplete', words: 'this is incomplete.' },
} as const satisfies Record<NonNullable<Message['notify']>, { flag: keyof DiscordPost; words: string }>;

type Delivery = Pick<PostedMessage, 'via'> & { readonly message: Sent };

/** Throws discord.js's errors, {@link UnheardFollowUp} and PlatformError. */
export function createWriter(
  address: Address,
  post: DiscordPost,
  options: ShowOptions,
  { rest, media, responses, now }: DeliveryTools,
) {
  const { key } = options;
  const { messages } = post;
  const data = addressDataOf(address);
  /** A message was posted that is not stored yet. */
  let isNew = false;

  async function writePages(pages: readonly Page[]): Promise<void> {
    for (const [index, page] of pages.entries()) {
      // The caller stores the result; ids of earlier messages are stored before the next request.
      await rememberPosted();
      const before = messages[index];
      const shown = nonceOf(JSON.stringify(page));
      if (before?.shown === shown && !options.mayHavePosted) continue;
      const edited = before && (await edit(before, page));
      const { message, via } = edited ?? (await create(index, page));
      const files = attachedFiles(page, message.attachments);
      messages[index] = { id: message.id, channel: message.channel_id, via, files, shown };
      // An edit may be repeated, even with files: then they replace the same files.
      isNew ||= before?.id !== message.id;
    }
    await removeAfter(pages.length);
  }

  /** Posts or edits, unless another replica may be at it. */
  function writing(send: () => Promise<Sent>): Promise<Sent> {
    options.beforeWriting?.();
    return send();
  }

  /** Stores the ids of messages that are new since the last time. */
  async function rememberPosted(): Promise<void> {
    if (isNew) await remember();
  }

  const currentToken = (): LiveToken | undefined => liveToken(data, now());

  /** @returns undefined when the message was deleted */
  async function edit({ id, channel, via, files }: PostedMessage, page: Page): Promise<Delivery | undefined> {
    // Another replica may have replaced the files by others.
    const sending = sendingOf(page, options.mayHavePosted ? [] : files, media);
    const write = async () => {
      const token = via === 'token' ? currentToken() : undefined;
      const edited =
        token &&
        (await unlessTrouble(['token-dead'], () => writing(() => rest.editResponse(token, id, sending))));
      if (edited) return { message: edited, via };
      if (data.tokenOnly) return undefined;
      return { message: await writing(() => rest.edit(channel, id, sending)), via };
    };
    try {
      return await write().catch(async (error: unknown) => {
        if (troubleOf(error) !== 'archived') throw error;
        const isOpen = await unlessTrouble(['no-permission', 'no-access'], () => rest.unarchive(channel));
        if (!isOpen) throw error;
        return await write();
      });
    } catch (error) {
      if (troubleOf(error) !== 'message-gone') throw error;
      post.generation += 1;
      return undefined;
    }
  }

  async function create(index: number, page: Page): Promise<Delivery> {
    const sending = sendingOf(page, [], media);
    const token = currentToken();
    // The deferred response is the first page; an edit of it can be repeated without harm.
    const isFirst = index === 0 && post.generation === 0 && !data.beside;
    if (token && isFirst && responses.isFree(token, key)) {
      responses.fill(token, key, now());
      const filled = await unlessTrouble(['token-dead', 'message-gone'], () =>
        writing(() => rest.editResponse(token, '@original', sending)),
      );
      if (filled) return { message: filled, via: 'token' };
    }
    if (data.tokenOnly) return { message: await followUp(index, sending), via: 'token' };
    const lost =
      !token && isFirst && options.mayHavePosted ? await lostResponse(address, key, rest) : undefined;
    if (lost !== undefined)
      return { message: await writing(() => rest.edit(address.channel, lost, sending)), via: 'bot' };
    try {
      const nonce = nonceFor(`page ${index}`, index === 0);
      const sent = await send(sending, nonce, data.replyTo);
      // An enforced nonce gives back the earlier message, which may show an earlier state.
      const isShown = shows(sent, sending.body);
      const message = isShown ? sent : await writing(() => rest.edit(sent.channel_id, sent.id, sending));
      return { message, via: 'bot' };
    } catch (error) {
      const isClosed = CLOSED_TO_BOT.includes(troubleOf(error));
      if (!token || !isClosed) throw error;
      const followed = await unlessTrouble(['token-dead'], () => followUp(index, sending));
      if (!followed) throw error;
      return { message: followed, via: 'token' };
    }
  }

  /**
   * Discord takes no nonce with a follow-up, so a follow-up without an answer is never sent again: its text goes into
   * the first message instead, and that edit can be repeated. A first page has no such message and is sent again.
   */
  async function followUp(index: number, sending: Sending): Promise<Sent> {
    const token = requireToken();
    if (index === 0) return await writing(() => rest.followUp(token, sending));
    if (post.unheard) throw new UnheardFollowUp();
    post.unheard = true;
    await remember();
    try {
      const sent = await writing(() => rest.followUp(token, sending));
      post.unheard = false;
      return sent;
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble === 'unavailable' || trouble === 'too-many-follow-ups') throw new UnheardFollowUp();
      post.unheard = false;
      throw error;
    }
  }

  function requireToken(): LiveToken {
    const token = currentToken();
    if (token) return token;
    throw new PlatformError('gone', 'The interaction expired, and the bot is not in the channel', {
      advice:
        "This took too long, and I'm not a member of this server. Add me to the server, or send me a direct message.",
    });
  }

  /** A reply needs a permission of its own; without it the message goes out as any other. */
  async function send(sending: Sending, nonce: string, replyTo: string | undefined): Promise<Sent> {
    const replied =
      replyTo !== undefined &&
      (await unlessTrouble(['no-history'], () =>
        writing(() => rest.post(address.channel, sending, { nonce, replyTo })),
      ));
    return replied || (await writing(() => rest.post(address.channel, sending, { nonce })));
  }

  /** Mentions the person who asked, once for each, in a message of its own: an edit does not notify them. */
  async function notify(about: NonNullable<Message['notify']>): Promise<void> {
    const { flag, words } = MENTIONS[about];
    if (post[flag]) return;
    const sending = textSending(`<@${address.person}> ${words}`, [address.person]);
    try {
      if (data.tokenOnly) {
        const token = requireToken();
        // There is no nonce: a mention that may be lost is better than two.
        post[flag] = true;
        await remember();
        await writing(() => rest.followUp(token, sending));
        return;
      }
      await send(sending, nonceFor(`notify ${about}`, false), messages[0]?.id);
    } catch (error) {
      // The result is shown. Only a failure that may pass is worth another try.
      if (troubleOf(error) === 'unavailable' && !data.tokenOnly) throw error;
    }
    post[flag] = true;
  }

  async function removeAfter(length: number): Promise<void> {
    for (const { id, channel, via } of messages.slice(length).reverse()) {
      const token = via === 'token' ? currentToken() : undefined;
      await unlessTrouble(['token-dead', 'message-gone', ...CLOSED_TO_BOT], () =>
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

/** Whether Discord has what was sent. If this says no by mistake, one edit too many is made. */
function shows(sent: Sent, body: Payload): boolean {
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

/** The most that Discord lists at once. */
const LISTED = 100;
const CLOCKS_DIFFER_MS = 60_000;

/** What is read of messages that may be lost. */
const lostSchema = z.array(z.object({ id: z.string(), components: z.array(z.unknown()).catch([]) }));

/**
 * The response to an interaction whose id was never stored, by the buttons of its job: a process filled it and died, and the
 * token that would reach it is over by now.
 */
async function lostResponse(
  address: Address,
  key: string,
  rest: DeliveryTools['rest'],
): Promise<string | undefined> {
  const { interaction } = addressDataOf(address);
  if (interaction === undefined) return undefined;
  const askedAt = interaction.expiresAt - DISCORD_LIMITS.interactionMs;
  const after = String(SnowflakeUtil.generate({ timestamp: askedAt - CLOCKS_DIFFER_MS }));
  const found = await unlessTrouble([...CLOSED_TO_BOT, 'no-history'], () =>
    rest.messages(address.channel, { after }, LISTED),
  );
  // Newest first.
  const messages = lostSchema.safeParse(found).data ?? [];
  return messages.findLast(({ components }) => JSON.stringify(components).includes(`:${key}:`))?.id;
}
