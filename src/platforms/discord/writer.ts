/** Writes the pages of one post: by the interaction's token while it lives, by the bot token after. */
import { z } from 'zod';
import type { Address } from '../../command.ts';
import { type MediaReader, PlatformError, type ShowOptions } from '../platform.ts';
import { troubleOf } from './errors.ts';
import { LIMITS } from './limits.ts';
import { nonceOf } from './nonce.ts';
import type { Originals } from './originals.ts';
import { type LiveToken, liveToken, type Place } from './place.ts';
import type { Page } from './render.ts';
import type { DiscordRest, Payload, Sending, Sent } from './rest.ts';
import { sendingOf, standingAfter } from './uploads.ts';

export const standingSchema = z.object({
  /** One entry a page, in order. */
  messages: z.array(
    z.object({
      id: z.string(),
      channel: z.string(),
      /** How it was sent: the interaction's token reaches only what was sent with it. */
      via: z.enum(['token', 'bot']),
      files: z.array(z.object({ name: z.string(), key: z.string(), id: z.string() })),
    }),
  ),
  /** Raised when a message that stood was deleted, so that its successor gets a nonce of its own. */
  generation: z.number().default(0),
  notified: z.boolean().default(false),
  /** A follow-up went out and nothing was heard of it: it may stand, and another could be its double. */
  unheard: z.boolean().default(false),
  /** Everything goes into the first message, because a follow-up was {@link unheard}. */
  folded: z.boolean().default(false),
});
export type Standing = z.infer<typeof standingSchema>;
type StandingMessage = Standing['messages'][number];

export interface WriterDependencies {
  readonly rest: DiscordRest;
  readonly media: MediaReader;
  readonly originals: Originals;
  readonly now: () => number;
}

/** A follow-up may or may not stand; what it was to say must go into the first message. */
export class UnheardFollowUp extends Error {
  override readonly name = 'UnheardFollowUp';
}

interface Delivery {
  readonly message: Sent;
  readonly via: StandingMessage['via'];
}

export class Writer {
  readonly #address: Address;
  readonly #place: Place;
  readonly #standing: Standing;
  readonly #options: ShowOptions;
  readonly #d: WriterDependencies;

  constructor(
    address: Address,
    place: Place,
    standing: Standing,
    options: ShowOptions,
    dependencies: WriterDependencies,
  ) {
    this.#address = address;
    this.#place = place;
    this.#standing = standing;
    this.#options = options;
    this.#d = dependencies;
  }

  async stand(pages: readonly Page[]): Promise<void> {
    for (const [index, page] of pages.entries()) await this.#standPage(index, page);
    await this.#removeAfter(pages.length);
  }

  async #standPage(index: number, page: Page): Promise<void> {
    const { messages } = this.#standing;
    const before = messages[index];
    const sent = (before && (await this.#edit(before, page))) ?? (await this.#create(index, page));
    const { message, via } = sent;
    messages[index] = {
      id: message.id,
      channel: message.channel_id,
      via,
      files: standingAfter(page, message.attachments),
    };
    if (before?.id !== message.id || page.files.length > 0) await this.#remember();
  }

  /** @returns undefined when the message was deleted */
  async #edit(message: StandingMessage, page: Page): Promise<Delivery | undefined> {
    const sending = await sendingOf(page, message.files, this.#d.media);
    try {
      const token = liveToken(this.#place, this.#d.now());
      if (token && message.via === 'token') {
        const edited = await unless(['token-dead'], () =>
          this.#d.rest.editResponse(token, message.id, sending),
        );
        if (edited) return { message: edited, via: 'token' };
      }
      if (this.#place.tokenOnly) return undefined;
      return { message: await this.#d.rest.edit(message.channel, message.id, sending), via: message.via };
    } catch (error) {
      if (troubleOf(error) !== 'message-gone') throw error;
      this.#standing.generation += 1;
      return undefined;
    }
  }

  async #create(index: number, page: Page): Promise<Delivery> {
    const sending = await sendingOf(page, [], this.#d.media);
    const token = liveToken(this.#place, this.#d.now());
    // The deferred response is the first page; an edit of it can be repeated without harm.
    const isFirst = index === 0 && this.#standing.generation === 0 && !this.#place.beside;
    if (token && isFirst && this.#d.originals.isFree(token, this.#options.key)) {
      this.#d.originals.fill(token, this.#options.key);
      const filled = await unless(['token-dead', 'message-gone'], () =>
        this.#d.rest.editResponse(token, '@original', sending),
      );
      if (filled) return { message: filled, via: 'token' };
    }
    if (this.#place.tokenOnly) return { message: await this.#followUp(index, sending), via: 'token' };
    try {
      return { message: await this.#post(sending, this.#nonce(`page ${index}`, index === 0)), via: 'bot' };
    } catch (error) {
      const trouble = troubleOf(error);
      if (!token || (trouble !== 'no-access' && trouble !== 'no-permission' && trouble !== 'channel-gone'))
        throw error;
      const followed = await unless(['token-dead'], () => this.#followUp(index, sending));
      if (!followed) throw error;
      return { message: followed, via: 'token' };
    }
  }

  /**
   * Discord takes no nonce with a follow-up, so one of which nothing was heard is never sent again: what it was to say
   * goes into the first message, an edit of which can be repeated. Only a first page without a message to go into is.
   */
  async #followUp(index: number, sending: Sending): Promise<Sent> {
    const token = this.#requireToken();
    if (index === 0) return await this.#d.rest.followUp(token, sending);
    if (this.#standing.unheard) throw new UnheardFollowUp();
    this.#standing.unheard = true;
    await this.#remember();
    try {
      const sent = await this.#d.rest.followUp(token, sending);
      this.#standing.unheard = false;
      return sent;
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble === 'unavailable' || trouble === 'too-many-follow-ups') throw new UnheardFollowUp();
      this.#standing.unheard = false;
      throw error;
    }
  }

  #requireToken(): LiveToken {
    const token = liveToken(this.#place, this.#d.now());
    if (token) return token;
    throw new PlatformError('gone', 'The interaction is over, and the bot is no member of the channel', {
      advice:
        'It took too long to answer where I am only installed for you. Add me to the server, or write to me directly.',
    });
  }

  async #post(sending: Sending, nonce: string): Promise<Sent> {
    const reply =
      this.#place.replyTo === undefined
        ? {}
        : { message_reference: { message_id: this.#place.replyTo, fail_if_not_exists: false as const } };
    const body: Payload = { ...sending.body, nonce, enforce_nonce: true };
    const post = (extra: Partial<Payload>) =>
      this.#d.rest.post(this.#address.channel, { ...sending, body: { ...body, ...extra } });
    const sent = (await unless(['no-history'], () => post(reply))) ?? (await post({}));
    // An enforced nonce gives back the message that stands already; it may show an earlier state.
    return shows(sent, sending.body) ? sent : await this.#d.rest.edit(sent.channel_id, sent.id, sending);
  }

  /** Mentions the person who asked, once: an edit notifies nobody. */
  async notify(): Promise<void> {
    if (this.#standing.notified) return;
    const result = this.#standing.messages[0];
    const body: Payload = {
      content: `<@${this.#address.person}> this is ready.`,
      embeds: [],
      components: [],
      attachments: [],
      allowed_mentions: { parse: [], users: [this.#address.person], replied_user: false },
      ...(result ? { message_reference: { message_id: result.id, fail_if_not_exists: false as const } } : {}),
    };
    try {
      if (this.#place.tokenOnly) {
        const token = this.#requireToken();
        // Without a nonce, a mention that may be lost is better than two.
        this.#standing.notified = true;
        await this.#remember();
        await this.#d.rest.followUp(token, { body, files: [] });
        return;
      } else {
        const once: Payload = { ...body, nonce: this.#nonce('notify', false), enforce_nonce: true };
        const { message_reference: _, ...alone } = once;
        const sent = await unless(['no-history'], () =>
          this.#d.rest.post(this.#address.channel, { body: once, files: [] }),
        );
        if (!sent) await this.#d.rest.post(this.#address.channel, { body: alone, files: [] });
      }
    } catch (error) {
      // The result stands. Only a failure that may pass is worth another round.
      if (troubleOf(error) === 'unavailable' && !this.#place.tokenOnly) throw error;
    }
    this.#standing.notified = true;
    await this.#remember();
  }

  async #removeAfter(length: number): Promise<void> {
    const { messages } = this.#standing;
    while (messages.length > length) {
      const message = messages.at(-1);
      if (!message) return;
      const token = message.via === 'token' ? liveToken(this.#place, this.#d.now()) : undefined;
      await unless(['token-dead', 'message-gone', 'no-access', 'no-permission', 'channel-gone'], () =>
        token
          ? this.#d.rest.deleteResponse(token, message.id)
          : this.#d.rest.delete(message.channel, message.id),
      );
      messages.pop();
      await this.#remember();
    }
  }

  #nonce(part: string, isKey: boolean): string {
    const { key } = this.#options;
    if (isKey && this.#standing.generation === 0 && key.length <= LIMITS.nonce) return key;
    return nonceOf(`${key}\n${part}\n${this.#standing.generation}`);
  }

  async #remember(): Promise<void> {
    await this.#options.remember(structuredClone(this.#standing));
  }
}

/** Runs, and gives undefined for troubles that have another way on. */
async function unless<Value>(
  troubles: readonly ReturnType<typeof troubleOf>[],
  run: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await run();
  } catch (error) {
    if (troubles.includes(troubleOf(error))) return undefined;
    throw error;
  }
}

/** Whether what Discord has is what was sent; a needless edit is the only cost of a wrong no. */
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
