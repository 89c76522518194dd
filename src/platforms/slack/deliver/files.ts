/** The files of a post: uploaded once each, shown once, and turned into links where Slack does not take them. */
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

/** Refusals that are not about the file: it came too slowly, too early or too often. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);

const UPLOAD_MS = 10 * 60_000;

interface FileToUpload {
  readonly name: string;
  readonly bytes: number;
  readonly open: () => Promise<AsyncIterable<Uint8Array>>;
}

/**
 * Gives Slack the bytes, unless it has them. `inPlace`: a block will show the file. Throws the SDK's errors,
 * PlatformError, and what opening the file throws.
 */
export async function uploadOnce(
  { state, tools, address, found }: Post,
  name: string,
  file: FileToUpload,
  { inPlace }: { readonly inPlace: boolean },
): Promise<void> {
  const known = state.files[name];
  if (known !== undefined && known.state !== 'uploaded') return;
  // In its own thread the name is enough: a song may have got other tags since.
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
    // A file that is completed without a channel stays unseen until a block shows it.
    if (inPlace) await completeUpload({ files: [titled(id, file.name)] }, { repeatable: true }, tools);
    state.files[name] = { id, state: 'uploaded' };
  } catch (error) {
    if (!refusedForGood(error)) throw error;
    tools.log.warn({ err: error, file: file.name }, 'Slack rejected a file; posting a link instead');
    state.files[name] = { state: 'link' };
  }
}

/**
 * Resolves with the file's id. People do not see the file yet, so a repeated upload does no harm. No description goes along: a
 * picture has it in its block, and `alt_txt` is suspected where Slack says that it shared a file and did not
 * (https://github.com/paradigmxyz/centaur/pull/311).
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
  const isRefused = status >= 400 && status < 500 && !PASSING.has(status);
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

/** Files that are still to be shown in the thread. */
export function waitingFiles({ state: { files } }: Post, titles: ReadonlyMap<string, string>): WaitingFile[] {
  return [...titles].flatMap(([name, title]) => {
    const file = files[name];
    return file?.id === undefined || file.state === 'shared' ? [] : [{ id: file.id, name, title }];
  });
}

/**
 * Shows files as one reply in the post's thread. False when Slack refused them for good: they are links from now on.
 * Throws the SDK's errors.
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
    if (!refusedForGood(error)) throw error;
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

/** Slack will refuse the file in any later try too, because of the file itself and not of the channel. */
function refusedForGood(error: unknown): boolean {
  if (error instanceof PlatformError) return error.code === 'refused';
  if (slackErrorOf(error) === undefined || isTokenError(error) || isUncertain(error)) return false;
  return toPlatformError(error, { botName: () => '' }).code === 'refused';
}
