import { createHash } from 'node:crypto';
import type { APIEmbed, APIMessageTopLevelComponent, RawFile } from 'discord.js';
import type { MediaReader } from '../../platform.ts';
import type { PageFile } from '../render/paginate.ts';
import type { Page } from '../render/render.ts';

/** The parts of a message that is sent. */
export interface Payload {
  readonly content: string;
  readonly embeds: readonly APIEmbed[];
  readonly components: readonly APIMessageTopLevelComponent[];
  /** Files that stay, and those of this request by their index in `files`. */
  readonly attachments: readonly {
    readonly id: string | number;
    readonly filename?: string;
    readonly description?: string;
  }[];
  readonly allowed_mentions: { readonly parse: readonly []; readonly users?: readonly string[] };
}

export interface Sending {
  readonly body: Payload;
  readonly files: readonly RawFile[];
}

/** @param mentioned the only people who are notified */
export const textSending = (content: string, mentioned: readonly string[] = []): Sending => ({
  body: {
    content,
    embeds: [],
    components: [],
    attachments: [],
    allowed_mentions: { parse: [], users: mentioned },
  },
  files: [],
});

/** A file that a message has already. */
export interface PostedFile {
  readonly name: string;
  /** Names its bytes, so that an edit need not upload them again. */
  readonly key: string;
  /** Discord's id of the attachment. */
  readonly id: string;
}

/** Equal for equal bytes. */
const keyOf = ({ source }: PageFile): string =>
  source.type === 'kept' ? source.file.name : createHash('sha256').update(source.text).digest('base64url');

/** A page with the bytes of its files, except those that the message has already. */
export async function sendingOf(
  page: Page,
  posted: readonly PostedFile[],
  media: MediaReader,
): Promise<Sending> {
  const files: RawFile[] = [];
  const attachments: Payload['attachments'][number][] = [];
  for (const file of page.files) {
    const { name, alt, contentType } = file;
    const same = posted.find((one) => one.name === name && one.key === keyOf(file));
    if (same) {
      attachments.push({ id: same.id });
    } else {
      attachments.push({ id: files.length, filename: name, ...(alt ? { description: alt } : {}) });
      files.push({ name, contentType, data: await bytesOf(file, media) });
    }
  }
  const { content, embeds, components } = page;
  return { body: { content, embeds, components, attachments, allowed_mentions: { parse: [] } }, files };
}

/** The files of a message after it took a page. */
export function attachedFiles(
  page: Page,
  attached: readonly { readonly id: string; readonly filename: string }[],
): PostedFile[] {
  return page.files.flatMap((file) => {
    const sent = attached.find((attachment) => attachment.filename === file.name);
    return sent ? [{ name: file.name, key: keyOf(file), id: sent.id }] : [];
  });
}

async function bytesOf({ source }: PageFile, media: MediaReader): Promise<Buffer> {
  if (source.type === 'text') return Buffer.from(source.text, 'utf8');
  return Buffer.concat(await Array.fromAsync(await media.open(source.file)));
}
