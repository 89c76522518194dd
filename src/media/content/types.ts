/** What a file is, by its content. */
import { decodeText } from './text.ts';

/** What a file is used as. */
export type ContentKind = 'audio' | 'image' | 'video' | 'archive' | 'text';

export interface MediaType {
  readonly kind: ContentKind;
  /** As sent in `Content-Type`. */
  readonly contentType: string;
  /** Without a dot. */
  readonly extension: string;
}

/** Every type that is kept and served. All others are refused. */
const MEDIA_TYPES = [
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

const BY_EXTENSION: ReadonlyMap<string, MediaType> = new Map(
  MEDIA_TYPES.map((type) => [type.extension, type]),
);

/** The type of kept files with this extension (without a dot). */
function mediaTypeOf(extension: string): MediaType | undefined {
  return BY_EXTENSION.get(extension.toLowerCase());
}

/** The `Content-Type` of a kept file, from its name alone. */
export function contentTypeOf(name: string): string {
  return mediaTypeOf(name.slice(name.lastIndexOf('.') + 1))?.contentType ?? 'application/octet-stream';
}

/** How much of a file's beginning decides its type, in bytes; file-type itself samples 4100. */
export const DETECTION_BYTES = 65_536;

/** file-type's extension, where the same container is kept under another name here. */
const STORED_AS: Readonly<Record<string, string>> = { apng: 'png', m4b: 'm4a', f4v: 'mp4', oga: 'ogg' };

/** Containers that hold sound alone as well as pictures: their first bytes do not tell which. */
const SOUND_ONLY: Readonly<Record<string, string>> = {
  mp4: 'm4a',
  mov: 'm4a',
  webm: 'weba',
  ogv: 'ogg',
  ogx: 'ogg',
};

/**
 * Decides by content what a file is, never by headers or names.
 *
 * @param head the first bytes of the file (`DETECTION_BYTES` of them, or all if the file is shorter)
 * @param kinds what the caller can use; settles containers whose beginning does not tell sound from pictures
 * @returns the type, or undefined when the content is none of `kinds`
 */
export async function detectMediaType(
  head: Uint8Array,
  kinds: readonly ContentKind[],
): Promise<MediaType | undefined> {
  if (head.length === 0) return undefined;
  // Before file-type: words may begin with some format's signature (`BM`, `GIF89a`), binary files never are text.
  if (kinds.includes('text') && decodeText(head) !== undefined) return mediaTypeOf('txt');
  // Loaded with the first file, not at the start.
  const { fileTypeFromBuffer } = await import('file-type');
  const detected = await fileTypeFromBuffer(head);
  if (detected === undefined) return undefined;
  const extension = STORED_AS[detected.ext] ?? detected.ext;
  const type = mediaTypeOf(extension);
  if (type !== undefined && kinds.includes(type.kind)) return type;
  const soundOnly = SOUND_ONLY[extension];
  return soundOnly !== undefined && kinds.includes('audio') ? mediaTypeOf(soundOnly) : undefined;
}
