/** What a file is good for, which decides where it may be used. */
export type MediaKind = 'audio' | 'image' | 'video' | 'archive' | 'text';

export interface MediaType {
  kind: MediaKind;
  /** As sent in `Content-Type`. */
  contentType: string;
  /** Without a dot. */
  extension: string;
}

/** Every type that is kept and handed over. What is not here is refused. */
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

/** The type that an extension (without a dot) stands for among kept files. */
export function mediaTypeOf(extension: string): MediaType | undefined {
  return byExtension.get(extension.toLowerCase());
}

/** The `Content-Type` of a kept file, from its name alone. */
export function contentTypeOf(name: string): string {
  return mediaTypeOf(name.slice(name.lastIndexOf('.') + 1))?.contentType ?? 'application/octet-stream';
}
