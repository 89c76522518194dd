import { createHash } from 'node:crypto';
import type { RawFile } from 'discord.js';
import type { MediaReader } from '../platform.ts';
import type { Page, PageFile } from './render.ts';
import type { Payload, Sending, SentAttachment } from './rest.ts';

/** A file that stands at a message already. */
export interface StandingFile {
  readonly name: string;
  /** What it was made of, so that an edit need not upload it again. */
  readonly key: string;
  /** Discord's id of the attachment. */
  readonly id: string;
}

/** @returns a name for the bytes of a file, equal for equal bytes */
const keyOf = ({ source }: PageFile): string =>
  source.type === 'kept' ? source.file.name : createHash('sha256').update(source.text).digest('base64url');

/** A page with the bytes of those of its files that do not stand already. */
export async function sendingOf(
  page: Page,
  standing: readonly StandingFile[],
  media: MediaReader,
): Promise<Sending> {
  const files: RawFile[] = [];
  const attachments: Payload['attachments'][number][] = [];
  for (const file of page.files) {
    const same = standing.find((one) => one.name === file.name && one.key === keyOf(file));
    if (same) {
      attachments.push({ id: same.id });
      continue;
    }
    attachments.push({
      id: files.length,
      filename: file.name,
      ...(file.alt ? { description: file.alt } : {}),
    });
    files.push({ name: file.name, contentType: file.contentType, data: await bytesOf(file, media) });
  }
  return {
    body: {
      content: page.content,
      embeds: page.embeds,
      components: page.components,
      attachments,
      allowed_mentions: { parse: [] },
    },
    files,
  };
}

/** What stands at a message after it took a page. */
export function standingAfter(page: Page, attached: readonly SentAttachment[]): StandingFile[] {
  return page.files.flatMap((file) => {
    const sent = attached.find((attachment) => attachment.filename === file.name);
    return sent ? [{ name: file.name, key: keyOf(file), id: sent.id }] : [];
  });
}

async function bytesOf({ source }: PageFile, media: MediaReader): Promise<Buffer> {
  if (source.type === 'text') return Buffer.from(source.text, 'utf8');
  const chunks: Uint8Array[] = [];
  for await (const chunk of await media.open(source.file)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
