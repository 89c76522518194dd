import { buffer } from 'node:stream/consumers';
import { UserError } from '../core/errors.ts';
import type { MediaFile } from '../core/message.ts';
import type { FileReference } from '../core/options.ts';
import type { Pictures } from './content/pictures.ts';
import { MediaError } from './errors.ts';
import type { FetchExpectation } from './fetch/fetcher.ts';
import type { Inspected, Media } from './media.ts';

/** A file that a person attached, as the platform describes it. */
type Attachment = Pick<FileReference, 'name' | 'contentType' | 'url'>;

/** The source of the attachment's address, the headers and the deadline for the download. */
export type AttachmentAccess = Pick<FetchExpectation, 'from' | 'headers' | 'signal'>;

const MEBIBYTE = 1024 * 1024;
const ANY_OF = new Intl.ListFormat('en-GB', { type: 'disjunction' });
/** More than similar public gateways accept. */
const MAXIMUM_BYTES = 25 * MEBIBYTE;
/** For all files of one request together, with waiting and retries. */
const FILES_TIMEOUT_MS = 10 * 60_000;

const TIMEOUT_MESSAGE = `Fetching the files took longer than ${FILES_TIMEOUT_MS / 60_000} minutes, so I stopped. Try again with fewer or smaller files.`;

/**
 * Starts the deadline for the files of one request. Downloads that exceed it end with a UserError.
 */
export function filesDeadline(): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(new UserError(TIMEOUT_MESSAGE));
  AbortSignal.timeout(FILES_TIMEOUT_MS).addEventListener('abort', abort, { once: true });
  return controller.signal;
}

/** Stores an attachment after a check of its content. Throws UserError with advice, or the signal's reason. */
export async function keepAttachment(
  media: Pick<Media, 'keep'>,
  { name, url }: Attachment,
  kinds: readonly ('audio' | 'image' | 'text')[],
  access: AttachmentAccess,
): Promise<MediaFile> {
  return withAdvice(name, kinds, () => media.keep(url, { ...access, kinds, maximumBytes: MAXIMUM_BYTES }));
}

/** Reads what an attachment says about its origin, without storing it. Throws as `keepAttachment`. */
export async function inspectAttachment(
  media: Pick<Media, 'inspect'>,
  { name, url }: Attachment,
  access: AttachmentAccess,
): Promise<Inspected> {
  const kinds = ['image', 'audio', 'video'] as const;
  return withAdvice(name, kinds, () => media.inspect(url, { ...access, kinds, maximumBytes: MAXIMUM_BYTES }));
}

async function withAdvice<Value>(
  name: string,
  kinds: readonly string[],
  read: () => Promise<Value>,
): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    throw new UserError(adviceFor(error.code, name, kinds));
  }
}

interface PictureTools {
  /** The id of the person who attached the image. */
  readonly person: string;
  readonly media: Pick<Media, 'keep' | 'keepBytes' | 'open'>;
  readonly pictures: Pictures;
}

/** Stores an image without its metadata. Throws as `keepAttachment`. */
export async function keepPicture(
  tools: PictureTools,
  attachment: Attachment,
  access: AttachmentAccess,
): Promise<MediaFile> {
  const stored = await keepAttachment(tools.media, attachment, ['image'], access);
  // Bitmaps have no metadata.
  if (stored.contentType === 'image/bmp') return stored;
  return converted(stored, attachment.name, tools, tools.pictures.clean);
}

/** Stores an image in a form that every model accepts. Throws as `keepAttachment`. */
export async function keepReference(
  tools: PictureTools,
  attachment: Attachment,
  access: AttachmentAccess,
): Promise<MediaFile> {
  const stored = await keepAttachment(tools.media, attachment, ['image'], access);
  return fitPicture(tools, stored, attachment.name);
}

/** Converts a stored image to a form that every model accepts. Throws as `keepAttachment`. */
export function fitPicture(tools: PictureTools, stored: MediaFile, name: string): Promise<MediaFile> {
  return converted(stored, name, tools, tools.pictures.fit);
}

/** Stores an image in a form that every model accepts, or a text. The content decides the type. Throws as `keepAttachment`. */
export async function keepReadable(
  tools: PictureTools,
  attachment: Attachment,
  access: AttachmentAccess,
): Promise<{ readonly type: 'image' | 'document'; readonly file: MediaFile }> {
  // A file attached as an image must be one. A sign-in page would pass as text.
  const isPicture = attachment.contentType?.startsWith('image/') === true;
  const kinds = isPicture ? (['image'] as const) : (['image', 'text'] as const);
  const stored = await keepAttachment(tools.media, attachment, kinds, access);
  if (!stored.contentType.startsWith('image/')) return { type: 'document', file: stored };
  return { type: 'image', file: await fitPicture(tools, stored, attachment.name) };
}

async function converted(
  stored: MediaFile,
  name: string,
  { media, person }: PictureTools,
  convert: Pictures['fit'],
): Promise<MediaFile> {
  try {
    const opened = await media.open(stored.name);
    if (!opened) throw new MediaError('missing', 'The image is no longer stored');
    const original = await buffer(opened.stream);
    const bytes = await convert(original, person);
    return bytes === original ? stored : await media.keepBytes(bytes, { kinds: ['image'] });
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    if (error.code === 'too-large')
      throw new UserError(`${name} has too many pixels. Attach a smaller image.`);
    throw new UserError(adviceFor(error.code, name, ['image']));
  }
}

function adviceFor(code: MediaError['code'], name: string, kinds: readonly string[]): string {
  switch (code) {
    case 'type':
      return `${name} isn't an ${ANY_OF.format(kinds)} file that I can read. Attach a different file.`;
    case 'too-large':
      return `${name} is too large. The limit is ${MAXIMUM_BYTES / MEBIBYTE} MB. Attach a smaller file.`;
    case 'disk-full':
    case 'store':
      return "I can't store files right now. Tell the bot's operator, then try again.";
    case 'address':
      return `${name} is at an address that isn't public, so I can't fetch it. Attach the file instead.`;
    case 'protocol':
    case 'redirects':
    case 'timeout':
    case 'status':
    case 'network':
    case 'missing':
      return `I couldn't read ${name}. Attach it again.`;
    default:
      return code satisfies never;
  }
}
