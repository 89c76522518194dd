/** Makes a message stand: by the interaction's token while it lives, by the bot token after. Safe to repeat. */
import { z } from 'zod';
import type { Address } from '../../command.ts';
import type { Message } from '../../message.ts';
import { type MediaReader, PlatformError, type Posted, type ShowOptions } from '../platform.ts';
import { toPlatformError, troubleOf } from './errors.ts';
import { DEFAULT_FILE_BYTES, LIMITS } from './limits.ts';
import { nonceOf } from './nonce.ts';
import type { Originals } from './originals.ts';
import { liveToken, type Place, placeOf } from './place.ts';
import { type Page, type RenderOptions, render } from './render.ts';
import type { DiscordRest, Payload, Sending, Sent } from './rest.ts';
import { sendingOf, standingAfter } from './uploads.ts';

const standingSchema = z.object({
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
});
type Standing = z.infer<typeof standingSchema>;
type StandingMessage = Standing['messages'][number];

export interface ShowDependencies {
  readonly rest: DiscordRest;
  readonly media: MediaReader;
  readonly originals: Originals;
  /** The largest file in bytes that the bot token may send to a guild. */
  readonly fileBytes: (guild: string | undefined) => number;
  readonly now: () => number;
}

/** Throws PlatformError. */
export async function show(
  address: Address,
  message: Message,
  options: ShowOptions & { readonly streaming?: boolean },
  dependencies: ShowDependencies,
): Promise<Posted> {
  const place = placeOf(address);
  const standing = standingSchema.safeParse(options.posted ?? {}).data ?? {
    messages: [],
    generation: 0,
    notified: false,
  };
  const writer = new Writer(address, place, standing, options, dependencies);
  try {
    await standInSomeStyle(writer, message, styles(address, place, dependencies), options, dependencies);
    if (message.notify && !options.streaming) await writer.notify();
    return standing;
  } catch (error) {
    throw toPlatformError(error);
  }
}

type Style = Pick<RenderOptions, 'fileBytes' | 'cards' | 'textFile'>;

const PLAINEST = { fileBytes: 0, cards: false, textFile: false } as const satisfies Style;

/** From the richest to the plainest. */
function styles(address: Address, place: Place, { fileBytes, now }: ShowDependencies): Style[] {
  const most =
    liveToken(place, now()) && place.fileBytes !== undefined ? place.fileBytes : fileBytes(address.guild);
  const sizes = [most, ...(most > DEFAULT_FILE_BYTES ? [DEFAULT_FILE_BYTES] : []), 0];
  return [...sizes.map((size) => ({ fileBytes: size })), PLAINEST];
}

/** Turns to a plainer style while Discord does not take a file or a permission for the present one is missing. */
async function standInSomeStyle(
  writer: Writer,
  message: Message,
  [style = PLAINEST, ...plainer]: readonly Style[],
  options: ShowOptions & { readonly streaming?: boolean },
  dependencies: ShowDependencies,
): Promise<void> {
  const { link } = dependencies.media;
  const pages = render(message, { ...style, link, streaming: options.streaming ?? false });
  try {
    await writer.stand(pages);
  } catch (error) {
    const trouble = troubleOf(error);
    const hasFiles = pages.some((page) => page.files.length > 0);
    const isRich = hasFiles || pages.some((page) => page.embeds.length > 0);
    const helps =
      ((trouble === 'too-large' || trouble === 'refused') && hasFiles) ||
      (trouble === 'no-permission' && isRich);
    if (!helps || plainer.length === 0) throw error;
    await standInSomeStyle(writer, message, plainer, options, dependencies);
  }
}

interface Delivery {
  readonly message: Sent;
  readonly via: StandingMessage['via'];
}

class Writer {
  readonly #address: Address;
  readonly #place: Place;
  readonly #standing: Standing;
  readonly #options: ShowOptions;
  readonly #d: ShowDependencies;

  constructor(
    address: Address,
    place: Place,
    standing: Standing,
    options: ShowOptions,
    dependencies: ShowDependencies,
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
    if (this.#place.tokenOnly) return { message: await this.#followUp(sending), via: 'token' };
    try {
      return { message: await this.#post(sending, this.#nonce(`page ${index}`, index === 0)), via: 'bot' };
    } catch (error) {
      const trouble = troubleOf(error);
      if (!token || (trouble !== 'no-access' && trouble !== 'no-permission' && trouble !== 'channel-gone'))
        throw error;
      const followed = await unless(['token-dead'], () => this.#d.rest.followUp(token, sending));
      if (!followed) throw error;
      return { message: followed, via: 'token' };
    }
  }

  async #followUp(sending: Sending): Promise<Sent> {
    const token = liveToken(this.#place, this.#d.now());
    if (token) return await this.#d.rest.followUp(token, sending);
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
      if (this.#place.tokenOnly) await this.#followUp({ body, files: [] });
      else {
        const once: Payload = { ...body, nonce: this.#nonce('notify', false), enforce_nonce: true };
        const { message_reference: _, ...alone } = once;
        const sent = await unless(['no-history'], () =>
          this.#d.rest.post(this.#address.channel, { body: once, files: [] }),
        );
        if (!sent) await this.#d.rest.post(this.#address.channel, { body: alone, files: [] });
      }
    } catch (error) {
      // The result stands. Only a failure that may pass is worth another round.
      if (troubleOf(error) === 'unavailable') throw error;
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
