/** Detects the type of a file by its content. */
import { decodeText } from './text.ts';

/** The use of a file. */
export type ContentKind = 'audio' | 'image' | 'video' | 'archive' | 'text';

export interface MediaType {
  readonly kind: ContentKind;
  /** As sent in `Content-Type`. */
  readonly contentType: string;
  /** Without a dot. */
  readonly extension: string;
}

/** The types that are stored and served. All others are refused. */
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

/** Returns the type for an extension without a dot. */
function mediaTypeOf(extension: string): MediaType | undefined {
  return BY_EXTENSION.get(extension.toLowerCase());
}

/** Returns the `Content-Type` of a stored file by its name. */
export function contentTypeOf(name: string): string {
  return mediaTypeOf(name.slice(name.lastIndexOf('.') + 1))?.contentType ?? 'application/octet-stream';
}

/** The number of bytes that decide the type. file-type reads 4100. */
export const DETECTION_BYTES = 65_536;

/** Maps extensions of file-type to ours for the same container. */
const EXTENSION_ALIASES: Readonly<Record<string, string>> = {
  apng: 'png',
  m4b: 'm4a',
  f4v: 'mp4',
  oga: 'ogg',
};

/** Containers for audio or video. Their first bytes don't show which. */
const AUDIO_EXTENSIONS: Readonly<Record<string, string>> = {
  mp4: 'm4a',
  mov: 'm4a',
  webm: 'weba',
  ogv: 'ogg',
  ogx: 'ogg',
};

/**
 * Detects the type of a file by its content, never by headers or names.
 *
 * @param head the first `DETECTION_BYTES` bytes of the file, or all of a shorter file
 * @param kinds the kinds that the caller accepts; decides between audio and video for ambiguous containers
 * @returns undefined if the content is not one of `kinds`
 */
export async function detectMediaType(
  head: Uint8Array,
  kinds: readonly ContentKind[],
): Promise<MediaType | undefined> {
  if (head.length === 0) return undefined;
  // Before file-type: text may start with a format's signature (`BM`, `GIF89a`), but binary files are never text.
  if (kinds.includes('text') && decodeText(head) !== undefined) return mediaTypeOf('txt');
  // Loaded with the first file.
  const { fileTypeFromBuffer } = await import('file-type');
  const detected = await fileTypeFromBuffer(head);
  if (detected === undefined) return undefined;
  const extension = EXTENSION_ALIASES[detected.ext] ?? detected.ext;
  const type = mediaTypeOf(extension);
  if (type !== undefined && kinds.includes(type.kind)) return type;
  const audioExtension = AUDIO_EXTENSIONS[extension];
  return audioExtension !== undefined && kinds.includes('audio') ? mediaTypeOf(audioExtension) : undefined;
}
