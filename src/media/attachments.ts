import { buffer } from 'node:stream/consumers';
import { UserError } from '../errors.ts';
import { MediaError } from './errors.ts';
import type { KeptFile, Media } from './media.ts';
import type { PictureFitter } from './pictures.ts';

/** A file that a person attached, as the platform told of it. */
export interface Attachment {
  readonly name: string;
  readonly url: string;
}

const MEBIBYTE = 1024 * 1024;
/** What the gateway's public relatives take at most, with room. */
const MAXIMUM_BYTES = 25 * MEBIBYTE;

/** Keeps a person's attachment, checked by its content. Throws UserError with a way out. */
export async function keepAttachment(
  media: Pick<Media, 'keep'>,
  { name, url }: Attachment,
  kinds: readonly ('audio' | 'image' | 'text')[],
  headers: Readonly<Record<string, string>>,
): Promise<KeptFile> {
  try {
    return await media.keep(url, { kinds, headers, maximumBytes: MAXIMUM_BYTES });
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    throw new UserError(sentenceFor(error.code, name, kinds));
  }
}

/** Keeps a person's picture as every model takes it. Throws UserError with a way out. */
export async function keepPicture(
  {
    media,
    fitPicture,
  }: { readonly media: Pick<Media, 'keep' | 'keepBytes' | 'open'>; readonly fitPicture: PictureFitter },
  attachment: Attachment,
  headers: Readonly<Record<string, string>>,
): Promise<KeptFile> {
  const kept = await keepAttachment(media, attachment, ['image'], headers);
  try {
    const opened = await media.open(kept.name);
    if (!opened) throw new MediaError('missing', 'The picture is not kept any more');
    const original = await buffer(opened.stream);
    const { bytes } = await fitPicture(original);
    return bytes === original ? kept : await media.keepBytes(bytes, { kinds: ['image'] });
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    if (error.code === 'too-large')
      throw new UserError(
        `${attachment.name} has too many pixels to be looked at. Please attach a smaller one.`,
      );
    throw new UserError(sentenceFor(error.code, attachment.name, ['image']));
  }
}

function sentenceFor(code: MediaError['code'], name: string, kinds: readonly string[]): string {
  switch (code) {
    case 'type':
      return `${name} is no ${kinds.join(' or ')} file that I know. Please attach another.`;
    case 'too-large':
      return `${name} is too large; ${MAXIMUM_BYTES / MEBIBYTE} MB is the most I take.`;
    case 'disk-full':
    case 'store':
      return 'I have no room to keep files right now. Please tell whoever runs this bot.';
    case 'address':
    case 'protocol':
    case 'redirects':
    case 'timeout':
    case 'status':
    case 'network':
    case 'missing':
      return `${name} could not be read. Please attach it again.`;
    default:
      return code satisfies never;
  }
}
