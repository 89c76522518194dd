import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { present } from '../../../core/util/present.ts';
import type { MediaReader } from '../../platform.ts';
import type { FileToSend, Payload, Sending } from '../connection/multipart.ts';
import type { Page, PageFile } from '../render/pages.ts';

/** @param mentioned ids of the people to notify */
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

/** A file that a message already has. */
export interface PostedFile {
  readonly name: string;
  /** Identifies its bytes, so that an edit does not upload them again. */
  readonly key: string;
  /** Discord's id of the attachment. */
  readonly id: string;
}

/** Returns the same key for the same bytes. */
const keyOf = ({ source }: PageFile): string =>
  source.type === 'stored' ? source.file.name : createHash('sha256').update(source.text).digest('base64url');

/** Returns the request for a page, with the files that the message does not have yet. */
export function sendingOf(page: Page, posted: readonly PostedFile[], media: MediaReader): Sending {
  const files: FileToSend[] = [];
  const attachments: Payload['attachments'][number][] = [];
  for (const file of page.files) {
    const { name, title, alt } = file;
    const existing = posted.find((one) => one.name === name && one.key === keyOf(file));
    if (existing) {
      attachments.push({ id: existing.id });
    } else {
      attachments.push(present({ id: files.length, filename: name, title, description: alt || undefined }));
      files.push(fileToSend(file, media));
    }
  }
  const { content, embeds, components } = page;
  return { body: { content, embeds, components, attachments, allowed_mentions: { parse: [] } }, files };
}

/** Returns the files of a message after a page was written to it. */
export function attachedFiles(
  page: Page,
  attached: readonly { readonly id: string; readonly filename: string }[],
): PostedFile[] {
  return page.files.flatMap((file) => {
    const sent = attached.find((attachment) => attachment.filename === file.name);
    return sent ? [{ name: file.name, key: keyOf(file), id: sent.id }] : [];
  });
}

function fileToSend({ name, contentType, source }: PageFile, media: MediaReader): FileToSend {
  if (source.type === 'stored') {
    const { file } = source;
    return { name, contentType, bytes: file.bytes, open: () => media.open(file) };
  }
  const text = Buffer.from(source.text, 'utf8');
  return { name, contentType, bytes: text.length, open: async () => Readable.from([text]) };
}
