import { buffer } from 'node:stream/consumers';
import { UserError } from '../core/errors.ts';
import type { KeptFile } from '../core/message.ts';
import type { FileReference } from '../core/options.ts';
import type { PictureFitter } from './content/pictures.ts';
import { MediaError } from './errors.ts';
import type { FetchExpectation } from './fetch/fetcher.ts';
import type { Media } from './media.ts';

/** A file that a person attached, as the platform describes it. */
type Attachment = Pick<FileReference, 'name' | 'contentType' | 'url'>;

/** Who named the attachment's address, with which headers it is read, and until when. */
export type AttachmentAccess = Pick<FetchExpectation, 'from' | 'headers' | 'signal'>;

const MEBIBYTE = 1024 * 1024;
/** More than similar public gateways take. */
const MAXIMUM_BYTES = 25 * MEBIBYTE;
/** For all files of one request together, with what waits for others and what is tried again. */
const FILES_WITHIN_MS = 10 * 60_000;

const LATE_SENTENCE = `Fetching the files took longer than ${FILES_WITHIN_MS / 60_000} minutes, so I stopped. Try again with fewer or smaller files.`;

/**
 * The deadline of the files of one request, from now on. What is still fetched then ends with the sentence for the person.
 */
export function filesDeadline(): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(new UserError(LATE_SENTENCE));
  AbortSignal.timeout(FILES_WITHIN_MS).addEventListener('abort', abort, { once: true });
  return controller.signal;
}

/** Keeps a person's attachment, checked by its content. Throws UserError with advice, or the signal's reason. */
export async function keepAttachment(
  media: Pick<Media, 'keep'>,
  { name, url }: Attachment,
  kinds: readonly ('audio' | 'image' | 'text')[],
  access: AttachmentAccess,
): Promise<KeptFile> {
  try {
    return await media.keep(url, { ...access, kinds, maximumBytes: MAXIMUM_BYTES });
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    throw new UserError(sentenceFor(error.code, name, kinds));
  }
}

/** Keeps a picture as every model takes it, or a text; its content decides which it is. Throws like `keepAttachment`. */
export async function keepReadable(
  {
    media,
    fitPicture,
  }: { readonly media: Pick<Media, 'keep' | 'keepBytes' | 'open'>; readonly fitPicture: PictureFitter },
  attachment: Attachment,
  access: AttachmentAccess,
): Promise<{ readonly type: 'image' | 'document'; readonly file: KeptFile }> {
  // A page to sign in on is a text; what was attached as a picture is meant as one.
  const isPicture = attachment.contentType?.startsWith('image/') === true;
  const kept = await keepAttachment(media, attachment, isPicture ? ['image'] : ['image', 'text'], access);
  if (!kept.contentType.startsWith('image/')) return { type: 'document', file: kept };
  try {
    const opened = await media.open(kept.name);
    if (!opened) throw new MediaError('missing', 'The image is no longer stored');
    const original = await buffer(opened.stream);
    const bytes = await fitPicture(original);
    const file = bytes === original ? kept : await media.keepBytes(bytes, { kinds: ['image'] });
    return { type: 'image', file };
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    if (error.code === 'too-large')
      throw new UserError(`${attachment.name} has too many pixels. Attach a smaller image.`);
    throw new UserError(sentenceFor(error.code, attachment.name, ['image']));
  }
}

function sentenceFor(code: MediaError['code'], name: string, kinds: readonly string[]): string {
  switch (code) {
    case 'type':
      return `${name} isn't an ${kinds.join(' or ')} file that I can read. Attach a different file.`;
    case 'too-large':
      return `${name} is too large. The limit is ${MAXIMUM_BYTES / MEBIBYTE} MB.`;
    case 'disk-full':
    case 'store':
      return "I can't store files right now. Please tell the bot's operator.";
    case 'address':
      return `${name} is at an address that isn't public, so I can't fetch it. Attach the file instead.`;
    case 'protocol':
    case 'redirects':
    case 'timeout':
    case 'status':
    case 'network':
    case 'missing':
      return `${name} couldn't be read. Attach it again.`;
    default:
      return code satisfies never;
  }
}
