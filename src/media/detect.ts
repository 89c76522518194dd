import { fileTypeFromBuffer } from 'file-type';
import { type MediaKind, type MediaType, mediaTypeOf } from './kinds.ts';

/** How much of a file's beginning is looked at, in bytes; file-type itself samples 4100. */
export const detectionBytes = 65_536;

/** file-type's extension, where the same container is kept under another name here. */
const keptAs: Readonly<Record<string, string>> = { apng: 'png', m4b: 'm4a', f4v: 'mp4', oga: 'ogg' };

/** Containers that hold sound alone as well as pictures: their first bytes do not tell which. */
const soundOnlyVariant: Readonly<Record<string, string>> = {
  mp4: 'm4a',
  mov: 'm4a',
  webm: 'weba',
  ogv: 'ogg',
  ogx: 'ogg',
};

/**
 * Decides by content what a file is; headers and names have no say.
 *
 * @param head the first bytes of the file (`detectionBytes` of them, or all if the file is shorter)
 * @param kinds what the caller can use; settles containers whose beginning does not tell sound from pictures
 * @returns the type, or undefined when the content is none of `kinds`
 */
export async function detectMediaType(
  head: Uint8Array,
  kinds: readonly MediaKind[],
): Promise<MediaType | undefined> {
  if (head.length === 0) return undefined;
  // Before file-type: words may begin with some format's signature (`BM`, `GIF89a`), binary files never are text.
  if (kinds.includes('text') && isText(head)) return mediaTypeOf('txt');
  const detected = await fileTypeFromBuffer(head);
  if (detected === undefined) return undefined;
  const extension = keptAs[detected.ext] ?? detected.ext;
  const type = mediaTypeOf(extension);
  if (type !== undefined && kinds.includes(type.kind)) return type;
  const soundOnly = soundOnlyVariant[extension];
  return soundOnly !== undefined && kinds.includes('audio') ? mediaTypeOf(soundOnly) : undefined;
}

/** UTF-8 without control characters other than white space. A character cut off at the end is forgiven. */
function isText(head: Uint8Array): boolean {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
  } catch {
    return false;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return text.length > 0 && !/[\u0000-\u0008\u000e-\u001f\u007f]/.test(text);
}
