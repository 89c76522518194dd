/** What a file is, by its content, and what it is called for people. */

/** What a file is used as. */
export type ContentKind = 'audio' | 'image' | 'video' | 'archive' | 'text';

export interface MediaType {
  kind: ContentKind;
  /** As sent in `Content-Type`. */
  contentType: string;
  /** Without a dot. */
  extension: string;
}

/** Every type that is kept and served. All others are refused. */
const mediaTypes = [
  { kind: 'audio', contentType: 'audio/mpeg', extension: 'mp3' },
  { kind: 'audio', contentType: 'audio/wav', extension: 'wav' },
  { kind: 'audio', contentType: 'audio/mp4', extension: 'm4a' },
  { kind: 'audio', contentType: 'audio/flac', extension: 'flac' },
  { kind: 'audio', contentType: 'audio/ogg', extension: 'ogg' },
  { kind: 'audio', contentType: 'audio/ogg', extension: 'opus' },
  { kind: 'audio', contentType: 'audio/aac', extension: 'aac' },
  { kind: 'audio', contentType: 'audio/aiff', extension: 'aif' },
  { kind: 'audio', contentType: 'audio/webm', extension: 'weba' },
  { kind: 'video', contentType: 'video/mp4', extension: 'mp4' },
  { kind: 'video', contentType: 'video/x-m4v', extension: 'm4v' },
  { kind: 'video', contentType: 'video/webm', extension: 'webm' },
  { kind: 'video', contentType: 'video/quicktime', extension: 'mov' },
  { kind: 'video', contentType: 'video/matroska', extension: 'mkv' },
  { kind: 'image', contentType: 'image/png', extension: 'png' },
  { kind: 'image', contentType: 'image/jpeg', extension: 'jpg' },
  { kind: 'image', contentType: 'image/webp', extension: 'webp' },
  { kind: 'image', contentType: 'image/gif', extension: 'gif' },
  { kind: 'image', contentType: 'image/avif', extension: 'avif' },
  { kind: 'image', contentType: 'image/heic', extension: 'heic' },
  { kind: 'image', contentType: 'image/bmp', extension: 'bmp' },
  { kind: 'archive', contentType: 'application/zip', extension: 'zip' },
  { kind: 'text', contentType: 'text/plain; charset=utf-8', extension: 'txt' },
  { kind: 'text', contentType: 'text/plain; charset=utf-8', extension: 'lrc' },
] as const satisfies readonly MediaType[];

const byExtension: ReadonlyMap<string, MediaType> = new Map(mediaTypes.map((type) => [type.extension, type]));

/** The type of kept files with this extension (without a dot). */
function mediaTypeOf(extension: string): MediaType | undefined {
  return byExtension.get(extension.toLowerCase());
}

/** The `Content-Type` of a kept file, from its name alone. */
export function contentTypeOf(name: string): string {
  return mediaTypeOf(name.slice(name.lastIndexOf('.') + 1))?.contentType ?? 'application/octet-stream';
}

/** How much of a file's beginning decides its type, in bytes; file-type itself samples 4100. */
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
 * Decides by content what a file is, never by headers or names.
 *
 * @param head the first bytes of the file (`detectionBytes` of them, or all if the file is shorter)
 * @param kinds what the caller can use; settles containers whose beginning does not tell sound from pictures
 * @returns the type, or undefined when the content is none of `kinds`
 */
export async function detectMediaType(
  head: Uint8Array,
  kinds: readonly ContentKind[],
): Promise<MediaType | undefined> {
  if (head.length === 0) return undefined;
  // Before file-type: words may begin with some format's signature (`BM`, `GIF89a`), binary files never are text.
  if (kinds.includes('text') && isText(head)) return mediaTypeOf('txt');
  // Loaded with the first file, not at the start.
  const { fileTypeFromBuffer } = await import('file-type');
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
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is searched for
  return text.length > 0 && !/[\u0000-\u0008\u000e-\u001f\u007f]/.test(text);
}

/** In UTF-8, with the extension: under the 255 bytes that file systems allow, with space for ` (2)` and `.part`. */
const maximumBytes = 180;
/** In characters. Putting marks into the order of NFC takes quadratic time. */
const longestTitle = 2_000;
const longestExtension = /^[a-z0-9]{1,8}$/;

/** Names of devices on Windows, whatever extension follows: https://learn.microsoft.com/windows/win32/fileio/naming-a-file */
const reservedOnWindows = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/** Control, surrogate, private and unassigned characters, and format characters (direction marks among them)
 * other than the two joiners, which scripts and emoji need. */
const unsafeCharacters = /(?![\u200c\u200d])[\p{C}\u2028\u2029]/gu;

/**
 * A file name made of a title, fit for every system: never empty, no path, no device, no hidden file, nothing
 * invisible, at most 180 bytes of UTF-8. Letters of all scripts stay.
 *
 * @param title anything, also what a person or a model wrote
 * @param extension without a dot
 */
export function safeFileName(title: string, extension: string): string {
  return nameOf(stemOf(title, extension), extension);
}

/** File names for the files of one folder: names that differ at most in case get a number. */
export function uniqueFileNames(files: readonly { title: string; extension: string }[]): string[] {
  const taken = new Set<string>();
  return files.map(({ title, extension }) => {
    const stem = stemOf(title, extension);
    let name = nameOf(stem, extension);
    for (let number = 2; taken.has(name.toLowerCase()); number += 1) {
      name = nameOf(stem, extension, ` (${number})`);
    }
    taken.add(name.toLowerCase());
    return name;
  });
}

function stemOf(title: string, extension: string): string {
  const shown = title
    .slice(0, longestTitle)
    .toWellFormed()
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .replace(unsafeCharacters, '')
    .replace(/\ufffd|[*?"<>|]/g, '')
    .replace(/[/\\:]+/g, '-');
  const written = `.${extension.toLowerCase()}`;
  return shown.toLowerCase().endsWith(written) ? shown.slice(0, -written.length) : shown;
}

function nameOf(stem: string, extension: string, number = ''): string {
  const ending = `${number}.${longestExtension.test(extension.toLowerCase()) ? extension.toLowerCase() : 'bin'}`;
  const edged = stem.replace(/^[\s.]+/u, '').replace(/(?<![\s.])[\s.]+$/u, '');
  const free = reservedOnWindows.test(edged) ? `_${edged}` : edged;
  const cut = cutToBytes(free, maximumBytes - Buffer.byteLength(ending)).replace(/(?<![\s.])[\s.]+$/u, '');
  return `${cut === '' ? 'untitled' : cut}${ending}`;
}

/** Cuts between what people see as characters, never inside one. */
function cutToBytes(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += Buffer.byteLength(segment);
    if (used > bytes) break;
    kept += segment;
  }
  return kept;
}
