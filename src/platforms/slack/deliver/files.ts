/** Uploads a post's files once each, and replaces files that Slack rejects with links. */
import { Readable } from 'node:stream';
import type { webApi } from '@slack/bolt';
import { request } from 'undici';
import { present } from '../../../core/util/present.ts';
import { ellipsis } from '../../../core/util/words.ts';
import { PlatformError } from '../../platform.ts';
import { call, type SlackTools } from '../connection/client.ts';
import { isTokenError, isUncertain, slackErrorOf, toPlatformError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import type { Post } from './post.ts';

/** Errors unrelated to the file itself. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429]);

const UPLOAD_MS = 10 * 60_000;

interface FileToUpload {
  readonly name: string;
  readonly bytes: number;
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
}

/**
 * Uploads a file unless Slack has it. `inPlace`: a block will show the file. Throws the SDK's errors, PlatformError, and
 * errors of opening the file.
 */
export async function uploadOnce(
  { state, tools, address, found }: Post,
  name: string,
  file: FileToUpload,
  { inPlace }: { readonly inPlace: boolean },
): Promise<void> {
  const known = state.files[name];
  if (known !== undefined && known.state !== 'uploaded') return;
  // In the post's own thread the name is enough: the tags of a song, and so its size, may have changed.
  const [shared] = found.filter(
    (other) => other.name === file.name && (address.thread === undefined || other.size === file.bytes),
  );
  if (shared !== undefined) {
    state.files[name] = { id: shared.id, state: 'shared' };
    state.called ||= shared.called;
    return;
  }
  if (known !== undefined) return;
  try {
    const id = await uploadBytes(file, tools);
    // A file completed without a channel stays hidden until a block shows it.
    if (inPlace) await completeUpload({ files: [titled(id, file.name)] }, { repeatable: true }, tools);
    state.files[name] = { id, state: 'uploaded' };
  } catch (error) {
    if (!isRejectedPermanently(error)) throw error;
    tools.log.warn({ err: error, file: file.name }, 'Slack rejected a file; posting a link instead');
    state.files[name] = { state: 'link' };
  }
}

/**
 * Resolves with the file's ID. The upload may be repeated, because nobody sees the file yet. Sends no `alt_txt`: an image has
 * it in its block, and it may cause missing files (https://github.com/paradigmxyz/centaur/pull/311).
 */
async function uploadBytes(file: FileToUpload, tools: Post['tools']): Promise<string> {
  const { name: filename, bytes: length } = file;
  const { upload_url: url, file_id: id } = await call(
    () => tools.web.files.getUploadURLExternal({ filename, length }),
    { repeatable: true },
    tools,
  );
  if (!url || !id) throw new PlatformError('unavailable', 'Slack returned no upload address');
  const bytes = await file.open();
  let status: number;
  try {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', 'content-length': String(length) },
      body: Readable.from(bytes, { objectMode: false }),
      signal: AbortSignal.timeout(UPLOAD_MS),
    });
    await body.dump();
    status = statusCode;
  } catch (error) {
    throw new PlatformError('unavailable', 'Could not upload a file to Slack', { cause: error });
  }
  if (status === 200) return id;
  const isRefused = status >= 400 && status < 500 && !TRANSIENT.has(status);
  throw new PlatformError(
    isRefused ? 'refused' : 'unavailable',
    `Upload to Slack failed with status ${status}`,
  );
}

const titled = (id: string, title: string) => ({ id, title: ellipsis(title, LIMITS.fileTitle) });

async function completeUpload(
  upload: Parameters<webApi.WebClient['files']['completeUploadExternal']>[0],
  options: { readonly repeatable: boolean },
  tools: SlackTools,
): Promise<void> {
  await call(() => tools.web.files.completeUploadExternal(upload), options, tools);
}

interface WaitingFile {
  readonly id: string;
  readonly name: string;
  readonly title: string;
}

/** Files that have not been shared in the thread yet. */
export function waitingFiles({ state: { files } }: Post, titles: ReadonlyMap<string, string>): WaitingFile[] {
  return [...titles].flatMap(([name, title]) => {
    const file = files[name];
    return file?.id === undefined || file.state === 'shared' ? [] : [{ id: file.id, name, title }];
  });
}

/**
 * Shares files as one reply in the post's thread. Returns false if Slack rejected them permanently: they become links. Throws
 * the SDK's errors.
 */
export async function shareFiles(
  { state, tools, beforeWriting }: Post,
  files: readonly WaitingFile[],
  { thread, comment }: { readonly thread: string; readonly comment: string | undefined },
): Promise<boolean> {
  const [first, ...rest] = files.map(({ id, title }) => titled(id, title));
  if (first === undefined) return true;
  beforeWriting?.();
  for (const { name, id } of files) state.files[name] = { id, state: 'sharing' };
  try {
    await completeUpload(
      {
        files: [first, ...rest],
        channel_id: state.channel,
        thread_ts: thread,
        ...present({ initial_comment: comment }),
      },
      { repeatable: false },
      tools,
    );
    for (const { name, id } of files) state.files[name] = { id, state: 'shared' };
    return true;
  } catch (error) {
    if (!isRejectedPermanently(error)) throw error;
    tools.log.warn({ err: error }, 'Slack rejected files; posting links instead');
    for (const { name } of files) state.files[name] = { state: 'link' };
    return false;
  }
}

export async function deleteFile(file: string, tools: SlackTools): Promise<void> {
  try {
    await call(() => tools.web.files.delete({ file }), { repeatable: true }, tools);
  } catch (error) {
    if (slackErrorOf(error) !== 'file_not_found' && slackErrorOf(error) !== 'file_deleted') throw error;
  }
}

/** True if Slack will reject this file on every try, whatever the channel. */
function isRejectedPermanently(error: unknown): boolean {
  if (error instanceof PlatformError) return error.code === 'refused';
  if (slackErrorOf(error) === undefined || isTokenError(error) || isUncertain(error)) return false;
  return toPlatformError(error, { botName: () => '' }).code === 'refused';
}
