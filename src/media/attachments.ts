import { UserError } from '../errors.ts';
import { MediaError } from './errors.ts';
import type { KeptFile, Media } from './media.ts';

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
  kinds: readonly ('audio' | 'image')[],
  headers: Readonly<Record<string, string>>,
): Promise<KeptFile> {
  try {
    return await media.keep(url, { kinds, headers, maximumBytes: MAXIMUM_BYTES });
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    throw new UserError(sentenceFor(error.code, name, kinds));
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
