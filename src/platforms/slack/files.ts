/** The files of a post: uploaded once each, shown once, and turned into links where Slack does not take them. */
import { isTokenError, isUncertain, slackErrorOf, toPlatformError } from './errors.ts';
import type { Post } from './post.ts';
import type { PostedFile } from './posted.ts';
import { completeUpload, type FileToUpload, isShared, uploadBytes } from './upload.ts';

const LOOKS = 4;
const LOOK_AGAIN_MS = 1000;

/**
 * Gives Slack the bytes, unless it has them. `inPlace`: a block will show the file. Throws the SDK's errors,
 * PlatformError, and whatever opening the file throws.
 */
export async function uploadOnce(
  { state, tools, remember }: Post,
  name: string,
  file: FileToUpload,
  { inPlace }: { readonly inPlace: boolean },
): Promise<void> {
  if (state.files[name] !== undefined) return;
  const upload = async (): Promise<PostedFile> => {
    try {
      const id = await uploadBytes(file, tools);
      if (inPlace) await completeUpload([{ id, title: file.name }], undefined, tools);
      return { id, state: 'uploaded' };
    } catch (error) {
      if (!refusedForGood(error)) throw error;
      tools.log.warn({ err: error, file: file.name }, 'Slack did not take a file; it is shown as a link');
      return { state: 'link' };
    }
  };
  state.files[name] = await upload();
  await remember();
}

/** Files that wait to be shown in the thread, by name; asks Slack about those of which it is not known. */
export async function waitingFiles(
  { state: { files }, tools }: Post,
  names: Iterable<string>,
): Promise<string[]> {
  const waiting: string[] = [];
  for (const name of names) {
    const file = files[name];
    if (file?.id === undefined || file.state === 'shared') continue;
    if (file.state === 'sharing' && (await showsByNow(file.id, tools)))
      files[name] = { ...file, state: 'shared' };
    else waiting.push(name);
  }
  return waiting;
}

/** A shared file shows a moment after Slack said so, which matters when Slack's answer was lost. */
async function showsByNow(id: string, tools: Post['tools']): Promise<boolean> {
  for (let look = 1; look < LOOKS; look += 1) {
    if (await isShared(id, tools)) return true;
    await tools.sleep(LOOK_AGAIN_MS);
  }
  return await isShared(id, tools);
}

/**
 * Shows files as one reply in the post's thread. False when Slack refused them for good: they are links from now on.
 * Throws the SDK's errors.
 */
export async function shareFiles(
  post: Post,
  waiting: readonly { readonly name: string; readonly title: string }[],
  { thread, comment }: { readonly thread: string; readonly comment: string | undefined },
): Promise<boolean> {
  const { state, tools, remember } = post;
  const files = waiting.flatMap(({ name, title }) => {
    const id = state.files[name]?.id;
    return id === undefined ? [] : [{ name, id, title }];
  });
  for (const { name, id } of files) state.files[name] = { id, state: 'sharing' };
  await remember();
  try {
    await completeUpload(files, { channel: state.channel, thread, comment }, tools);
    for (const { name, id } of files) state.files[name] = { id, state: 'shared' };
    await remember();
    return true;
  } catch (error) {
    if (!refusedForGood(error)) throw error;
    tools.log.warn({ err: error }, 'Slack did not show files; they are shown as links');
    for (const { name } of files) state.files[name] = { state: 'link' };
    await remember();
    return false;
  }
}

/** Slack will not take the file in any later try either, for a reason that is about the file and not about the place. */
function refusedForGood(error: unknown): boolean {
  if (slackErrorOf(error) === undefined || isTokenError(error) || isUncertain(error)) return false;
  return toPlatformError(error, { botName: '' }).code === 'refused';
}
