/** Makes a Message stand in Slack, by posting it or by editing what stands, and finishes what an earlier try began. */
import { createHash } from 'node:crypto';
import type { webApi } from '@slack/bolt';
import type { Address, Log } from '../../command.ts';
import type { KeptFile, MediaItem, Message } from '../../message.ts';
import { PlatformError, type Posted, type ShowOptions } from '../platform.ts';
import { call } from './client.ts';
import {
  isTokenError,
  isUncertain,
  neverLetIn,
  slackErrorOf,
  slackReasonsOf,
  toPlatformError,
} from './errors.ts';
import { escapeMrkdwn } from './escape.ts';
import { findPosted, markOf } from './find-posted.ts';
import { LIMITS } from './limits.ts';
import { type PostedFile, readPosted, type SlackPosted, toPosted } from './posted.ts';
import { type Part, type Rendering, type RenderOptions, render } from './render.ts';
import {
  completeUpload,
  type FileToUpload,
  isShared,
  keptFile,
  textFile,
  type UploadTools,
  uploadBytes,
} from './upload.ts';

export interface ShowTools extends UploadTools {
  readonly log: Log;
  /** The message will change again at once, so no file is made of its text. */
  readonly passing?: boolean;
  /** As people type it after the @. */
  readonly botName: () => string;
}

/** A message of ours that cannot be edited any more: another takes its place. */
const CANNOT_EDIT = new Set(['message_not_found', 'cant_update_message', 'edit_window_closed']);
/** Slack takes a moment before an uploaded picture can stand in a block. */
const PICTURE_PAUSES_MS = [300, 700, 1600, 3000];

/** See Platform.show. Throws PlatformError; and whatever `remember` and opening a kept file throw. */
export async function show(
  address: Address,
  message: Message,
  options: ShowOptions,
  tools: ShowTools,
): Promise<Posted> {
  const post = new Post(address, message, options, tools);
  try {
    return await post.show();
  } catch (error) {
    if (
      error instanceof PlatformError ||
      slackErrorOf(error) !== undefined ||
      isUncertain(error) ||
      isRateLimit(error)
    ) {
      const named = toPlatformError(error, { botName: tools.botName() });
      throw post.stands ? named : neverLetIn(named, address.channel, tools.botName());
    }
    throw error;
  }
}

function isRateLimit(error: unknown): boolean {
  return error instanceof Error && 'retryAfter' in error;
}

interface KeptItem {
  readonly item: MediaItem;
  readonly file: KeptFile;
}

class Post {
  readonly #address: Address;
  readonly #message: Message;
  readonly #options: ShowOptions;
  readonly #tools: ShowTools;
  readonly #state: SlackPosted;
  /** It stood before this call, so that an edit alone would call nobody. */
  readonly #stood: boolean;
  /** Pictures that Slack does not take in a block go the way of other files. */
  #picturesInPlace = true;

  constructor(address: Address, message: Message, options: ShowOptions, tools: ShowTools) {
    this.#address = address;
    this.#message = message;
    this.#options = options;
    this.#tools = tools;
    this.#state = readPosted(options.posted, address.channel);
    this.#stood = this.stands;
  }

  get stands(): boolean {
    return this.#state.parts[0]?.ts !== undefined;
  }

  async show(): Promise<Posted> {
    const kept = this.#keptItems();
    for (const { item, file } of kept) {
      await this.#upload(file.name, keptFile(item, file, this.#tools.media), item.kind === 'image');
    }
    const { textFile: text } = await this.#write();
    const shared = new Map(this.#toShare(kept).map(({ item, file }) => [file.name, titleOf(item)]));
    if (text !== undefined && !this.#tools.passing) {
      const name = `text-${digestOf(text.content)}`;
      await this.#upload(name, textFile(text.name, text.content), false);
      shared.set(name, text.name);
    }
    await this.#share(shared);
    await this.#callPerson();
    return toPosted(this.#state);
  }

  #remember(): Promise<void> {
    return this.#options.remember(toPosted(this.#state));
  }

  #keptItems(): KeptItem[] {
    const items = (this.#message.media ?? []).flatMap((item) =>
      item.source.type === 'kept' ? [{ item, file: item.source.file }] : [],
    );
    return items.filter(
      ({ file }, index) => items.findIndex((other) => other.file.name === file.name) === index,
    );
  }

  #toShare(kept: readonly KeptItem[]): KeptItem[] {
    return kept.filter(({ item }) => item.kind !== 'image' || !this.#picturesInPlace);
  }

  /** Gives Slack the bytes once. What Slack does not take becomes a link. */
  async #upload(name: string, file: FileToUpload, inPlace: boolean): Promise<void> {
    if (this.#state.files[name] !== undefined) return;
    this.#state.files[name] = await this.#uploaded(file, inPlace);
    await this.#remember();
  }

  async #uploaded(file: FileToUpload, inPlace: boolean): Promise<PostedFile> {
    try {
      const id = await uploadBytes(file, this.#tools);
      if (inPlace) await completeUpload([{ id, title: file.name }], undefined, this.#tools);
      return { id, state: 'uploaded' };
    } catch (error) {
      if (!refusedForGood(error)) throw error;
      this.#tools.log.warn(
        { err: error, file: file.name },
        'Slack did not take a file; it is shown as a link',
      );
      return { state: 'link' };
    }
  }

  /** Writes every part; what Slack finds too long or too odd is rendered again, shorter or plainer. */
  async #write(): Promise<Rendering> {
    let budget: number = LIMITS.partCharacters;
    let bare = false;
    for (let pictureTry = 0; ; ) {
      const rendering = render(this.#message, this.#renderOptions(budget, bare));
      try {
        await this.#writeParts(rendering.parts);
        return rendering;
      } catch (error) {
        const code = slackErrorOf(error);
        if ((code === 'msg_too_long' || code === 'msg_blocks_too_long') && budget > 1000)
          budget = Math.floor(budget / 2);
        else if (code === 'invalid_blocks' && this.#picturesInPlace && isAboutPicture(error)) {
          const pause = PICTURE_PAUSES_MS[pictureTry];
          pictureTry += 1;
          if (pause === undefined) this.#picturesInPlace = false;
          else await this.#tools.sleep(pause);
        } else if ((code === 'invalid_blocks' || code === 'invalid_blocks_format') && !bare) {
          this.#tools.log.error(
            { err: error, reasons: slackReasonsOf(error) },
            'Slack refused the blocks of a message',
          );
          bare = true;
        } else throw error;
      }
    }
  }

  #renderOptions(budget: number, bare: boolean): RenderOptions {
    const { files } = this.#state;
    const pictures = this.#keptItems().flatMap(({ item, file }): [string, string][] => {
      const id = files[file.name]?.id;
      return item.kind === 'image' && id !== undefined ? [[file.name, id]] : [];
    });
    return {
      person: this.#address.person,
      budget,
      bare,
      pictures: this.#picturesInPlace ? new Map(pictures) : new Map(),
      links: (file, name) =>
        files[file.name]?.state === 'link' ? this.#tools.media.link(file, name) : undefined,
    };
  }

  async #writeParts(parts: readonly Part[]): Promise<void> {
    for (const [index, part] of parts.entries()) await this.#writePart(index, part);
    while (this.#state.parts.length > parts.length) {
      const ts = this.#state.parts.at(-1)?.ts;
      if (ts !== undefined) await this.#remove(ts);
      this.#state.parts.pop();
      await this.#remember();
    }
  }

  async #writePart(index: number, part: Part): Promise<void> {
    const digest = digestOf(JSON.stringify(part));
    const known = this.#state.parts[index];
    const ts = known === undefined || known.ts !== undefined ? known?.ts : await this.#find(index);
    if (ts !== undefined) {
      const stands = known?.digest === digest || (await this.#edit(ts, part));
      if (stands) {
        this.#state.parts[index] = { ts, digest };
        return;
      }
    }
    this.#state.parts[index] = { ts: await this.#postNew(index, part), digest };
    await this.#remember();
  }

  #find(index: number): Promise<string | undefined> {
    const where = { channel: this.#state.channel, thread: this.#threadOf(index) };
    return findPosted(where, markOf(this.#options.key, index), this.#tools);
  }

  /** False when the message cannot be edited any more. */
  async #edit(ts: string, { text, blocks }: Part): Promise<boolean> {
    try {
      const { web } = this.#tools;
      await call(
        () => web.chat.update({ channel: this.#state.channel, ts, text, blocks }),
        { repeatable: true },
        this.#tools,
      );
      return true;
    } catch (error) {
      if (!CANNOT_EDIT.has(slackErrorOf(error) ?? '')) throw error;
      return false;
    }
  }

  /** Posts; what is remembered before tells a later try that this may have been taken. */
  async #postNew(index: number, part: Part): Promise<string> {
    this.#state.parts[index] = {};
    await this.#remember();
    const thread = this.#threadOf(index);
    try {
      const answer = await call(
        () => this.#postMessage(part, thread, markOf(this.#options.key, index)),
        { repeatable: false },
        this.#tools,
      );
      if (answer.channel) this.#state.channel = answer.channel;
      if (answer.ts) return answer.ts;
    } catch (error) {
      if (!isUncertain(error)) {
        // Surely not taken, so the next try need not look for it.
        this.#state.parts.splice(index);
        await this.#remember();
        throw error;
      }
    }
    const found = await this.#find(index);
    if (found !== undefined) return found;
    throw new PlatformError('unavailable', 'Slack did not say whether it took a message');
  }

  #postMessage({ text, blocks }: Part, thread: string | undefined, metadata: webApi.MessageMetadata) {
    return this.#tools.web.chat.postMessage({
      channel: this.#state.channel,
      text,
      blocks,
      metadata,
      unfurl_links: false,
      unfurl_media: false,
      ...(thread === undefined ? {} : { thread_ts: thread }),
    });
  }

  /** The first part stands where the person asked, everything else in its thread. */
  #threadOf(index: number): string | undefined {
    return this.#address.thread ?? (index === 0 ? undefined : this.#state.parts[0]?.ts);
  }

  async #remove(ts: string): Promise<void> {
    try {
      const { web } = this.#tools;
      await call(
        () => web.chat.delete({ channel: this.#state.channel, ts }),
        { repeatable: true },
        this.#tools,
      );
    } catch (error) {
      if (slackErrorOf(error) !== 'message_not_found') throw error;
    }
  }

  /** Shows the files that are not pictures, all in one reply in the message's thread. */
  async #share(titles: ReadonlyMap<string, string>): Promise<void> {
    const { files } = this.#state;
    for (const name of titles.keys()) {
      const file = files[name];
      if (file?.state === 'sharing' && file.id !== undefined && (await isShared(file.id, this.#tools))) {
        files[name] = { ...file, state: 'shared' };
      }
    }
    const waiting = [...titles].flatMap(([name, title]) => {
      const file = files[name];
      return file?.id === undefined || file.state === 'shared' ? [] : [{ name, id: file.id, title }];
    });
    const thread = this.#threadOf(1);
    if (waiting.length === 0 || thread === undefined) return;
    for (const { name, id } of waiting) files[name] = { id, state: 'sharing' };
    const comment = this.#takeCall();
    await this.#remember();
    try {
      await completeUpload(waiting, { channel: this.#state.channel, thread, comment }, this.#tools);
      for (const { name, id } of waiting) files[name] = { id, state: 'shared' };
    } catch (error) {
      if (!refusedForGood(error)) throw error;
      this.#tools.log.warn({ err: error }, 'Slack did not show files; they are shown as links');
      for (const { name } of waiting) files[name] = { state: 'link' };
      await this.#write();
    }
    await this.#remember();
  }

  /** Edits call nobody, so the person is called once by a reply. */
  async #callPerson(): Promise<void> {
    const text = this.#takeCall();
    const thread = this.#threadOf(1);
    if (text === undefined || thread === undefined) return;
    // Remembered first: a call that is lost is better than two.
    await this.#remember();
    const { web } = this.#tools;
    const { channel } = this.#state;
    await call(
      () => web.chat.postMessage({ channel, thread_ts: thread, text }),
      { repeatable: false },
      this.#tools,
    ).catch((error: unknown) =>
      this.#tools.log.warn({ err: error }, 'The person who asked could not be called'),
    );
  }

  #takeCall(): string | undefined {
    if (!this.#message.notify || !this.#stood || this.#state.called) return undefined;
    this.#state.called = true;
    return `<@${escapeMrkdwn(this.#address.person)}> ${escapeMrkdwn(this.#message.title ?? 'Here it is.')}`;
  }
}

function titleOf({ name, caption }: MediaItem): string {
  return caption ? `${name} · ${caption}` : name;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** Slack will not take the file in any later try either, for a reason that is about the file and not about the place. */
function refusedForGood(error: unknown): boolean {
  const code = slackErrorOf(error);
  if (code === undefined || isTokenError(error) || isUncertain(error)) return false;
  return toPlatformError(error, { botName: '' }).code === 'refused';
}

function isAboutPicture(error: unknown): boolean {
  return slackReasonsOf(error).some((reason) => /slack.?file|image/i.test(reason));
}
