/** Files into Slack: the bytes first, then one message that shows them. */
import { Readable } from 'node:stream';
import { request } from 'undici';
import type { KeptFile, MediaItem } from '../../message.ts';
import { type MediaReader, PlatformError } from '../platform.ts';
import { call, type SlackTools } from './client.ts';
import { ellipsis } from './escape.ts';
import { LIMITS } from './limits.ts';

export interface UploadTools extends SlackTools {
  readonly media: MediaReader;
  readonly uploadTimeoutMs: number;
}

export interface FileToUpload {
  readonly name: string;
  readonly alt: string | undefined;
  readonly bytes: number;
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
}

export function keptFile(item: MediaItem, file: KeptFile, media: MediaReader): FileToUpload {
  return { name: item.name, alt: item.alt, bytes: file.bytes, open: () => media.open(file) };
}

export function textFile(name: string, content: string): FileToUpload {
  const bytes = Buffer.from(content, 'utf8');
  return { name, alt: undefined, bytes: bytes.length, open: async () => Readable.from([bytes]) };
}

/**
 * Gives Slack the bytes and resolves with the file's id; nobody sees the file yet, so doing it twice harms nobody.
 * Throws the SDK's errors, PlatformError when the bytes did not arrive, and whatever opening the file throws.
 */
export async function uploadBytes(file: FileToUpload, tools: UploadTools): Promise<string> {
  const { web, uploadTimeoutMs } = tools;
  const where = await call(
    () =>
      web.files.getUploadURLExternal({
        filename: file.name,
        length: file.bytes,
        ...(file.alt ? { alt_text: ellipsis(file.alt, LIMITS.altText) } : {}),
      }),
    { repeatable: true },
    tools,
  );
  if (!where.upload_url || !where.file_id)
    throw new PlatformError('unavailable', 'Slack gave no place to upload to');
  const bytes = await file.open();
  try {
    const { statusCode, body } = await request(where.upload_url, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'content-length': String(file.bytes) },
      body: Readable.from(bytes, { objectMode: false }),
      signal: AbortSignal.timeout(uploadTimeoutMs),
    });
    await body.dump();
    if (statusCode !== 200)
      throw new PlatformError('unavailable', `Slack answered ${statusCode} to an upload`);
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    throw new PlatformError('unavailable', 'An upload did not arrive', { cause: error });
  }
  return where.file_id;
}

export interface SharedFile {
  readonly id: string;
  readonly title: string;
}

/** Shows uploaded files as one message. Without a place they stay unseen until a block shows them. */
export async function completeUpload(
  files: readonly SharedFile[],
  place: { channel: string; thread: string; comment: string | undefined } | undefined,
  tools: SlackTools,
): Promise<void> {
  const [first, ...rest] = files.map(({ id, title }) => ({ id, title: ellipsis(title, LIMITS.fileTitle) }));
  if (first === undefined) return;
  const completed: webApiFiles = [first, ...rest];
  await call(
    () =>
      tools.web.files.completeUploadExternal(
        place === undefined
          ? { files: completed }
          : {
              files: completed,
              channel_id: place.channel,
              thread_ts: place.thread,
              ...(place.comment === undefined ? {} : { initial_comment: place.comment }),
            },
      ),
    { repeatable: place === undefined },
    tools,
  );
}

type webApiFiles = [{ id: string; title: string }, ...{ id: string; title: string }[]];

/** Whether a file already shows somewhere: asked when the answer to its sharing was lost. */
export async function isShared(id: string, tools: SlackTools): Promise<boolean> {
  const { file } = await call(() => tools.web.files.info({ file: id }), { repeatable: true }, tools);
  const shares = file?.shares;
  return Object.keys({ ...shares?.public, ...shares?.private }).length > 0;
}
