/** Writes a post's messages: posts each once, then edits it, and deletes it if it is no longer needed. */
import { createHash } from 'node:crypto';
import { present } from '../../../core/util/present.ts';
import { PlatformError } from '../../platform.ts';
import { call } from '../connection/client.ts';
import { isUncertain, slackErrorOf } from '../errors.ts';
import type { Part } from '../render/parts.ts';
import { deleteFile } from './files.ts';
import { findPosted, markOf } from './find-posted.ts';
import { stopStream } from './native-stream.ts';
import type { Post } from './post.ts';

/** The message cannot be edited and must be replaced. A workspace may limit the time for edits. */
const CANNOT_EDIT = new Set(['message_not_found', 'cant_update_message', 'edit_window_closed']);

/** The workspace's settings forbid deletion, so a replaced message stays. */
const CANNOT_DELETE = new Set(['cant_delete_message', 'compliance_exports_prevent_deletion']);

/** Makes the post consist of exactly these parts. Throws the SDK's errors, and PlatformError if Slack did not answer. */
export async function writeParts(post: Post, parts: readonly Part[]): Promise<void> {
  const { state, mode } = post;
  const written = mode.firstOnly ? parts.slice(0, 1) : parts;
  for (const [index, part] of written.entries()) await writePart(post, index, part);
  if (mode.firstOnly) return;
  while (state.parts.length > parts.length) {
    const ts = state.parts.at(-1)?.ts;
    if (ts !== undefined) await remove(post, ts);
    state.parts.pop();
  }
  for (const ts of state.replaced ?? [])
    await remove(post, ts).catch((error: unknown) => {
      if (!CANNOT_DELETE.has(slackErrorOf(error) ?? '')) throw error;
    });
  delete state.replaced;
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

async function writePart(post: Post, index: number, part: Part): Promise<void> {
  const { state, mode } = post;
  const digest = digestOf(JSON.stringify(part));
  const { ts, digest: shown } = state.parts[index] ?? {};
  if (ts !== undefined) {
    const outcome = shown === digest ? 'edited' : await edit(post, index, { ts, part, digest });
    if (outcome === 'edited') {
      state.parts[index] = { ts, digest };
      return;
    }
    // A part that cannot be edited is replaced only at the end. A stream stays where it started.
    if (mode.firstOnly || (outcome === 'closed' && mode.isUnfinished)) return;
    await replace(post, index);
    if (post.isUncertain) await findPosted(post);
    if (state.parts[index]?.ts !== undefined) return await writePart(post, index, part);
  }
  state.parts[index] = { ts: await postNew(post, index, { part, digest }), digest };
}

/**
 * Lists the message as replaced, so that a search does not take it for the part. It is deleted once the parts are written,
 * with everything below it, which is posted again below the new message.
 */
async function replace({ state, address, found, tools }: Post, index: number): Promise<void> {
  const replaced = state.parts.slice(index).flatMap(({ ts }) => ts ?? []);
  state.replaced = [...(state.replaced ?? []), ...replaced];
  state.parts = state.parts.map((part, other) => (other < index ? part : {}));
  if (index > 0 || address.thread !== undefined) return;
  found.length = 0;
  for (const [name, { id, state: shown }] of Object.entries(state.files)) {
    if (id === undefined || shown === 'uploaded') continue;
    await deleteFile(id, tools);
    delete state.files[name];
  }
}

interface Written {
  readonly part: Part;
  readonly digest: string;
}

/** `closed`: editing is no longer allowed there. `deleted`: the message does not exist. */
async function edit(
  post: Post,
  index: number,
  { ts, part: { text, blocks }, digest }: Written & { readonly ts: string },
): Promise<'edited' | 'closed' | 'deleted'> {
  const { state, tools, beforeWriting } = post;
  const { channel } = state;
  // A streamed message has no mark yet.
  const metadata = markOf(post, index, digest);
  const update = () =>
    call(
      () => {
        beforeWriting?.();
        return tools.web.chat.update({ channel, ts, text, blocks, metadata });
      },
      { repeatable: true, rate: tools.rates.edits },
      tools,
    );
  try {
    await update();
    return 'edited';
  } catch (error) {
    if (slackErrorOf(error) === 'streaming_state_conflict') {
      // The process that streamed it died.
      await stopStream({ channel, ts }, tools);
      await update();
      return 'edited';
    }
    if (!CANNOT_EDIT.has(slackErrorOf(error) ?? '')) throw error;
    if (slackErrorOf(error) !== 'message_not_found') return 'closed';
    // The message no longer exists, so there is nothing to delete.
    if (!post.mode.firstOnly) state.parts[index] = {};
    return 'deleted';
  }
}

/** Posts a message. Without an answer the state has no `ts`, and a later try searches for the message first. */
async function postNew(
  post: Post,
  index: number,
  { part: { text, blocks }, digest }: Written,
): Promise<string> {
  const { state, tools } = post;
  state.parts[index] = {};
  const message = {
    channel: state.channel,
    text,
    blocks,
    metadata: markOf(post, index, digest),
    unfurl_links: false,
    unfurl_media: false,
    ...present({ thread_ts: post.threadOf(index) }),
  };
  try {
    const send = () => {
      post.beforeWriting?.();
      return tools.web.chat.postMessage(message);
    };
    const answer = await call(send, { repeatable: false }, tools);
    if (answer.channel) state.channel = answer.channel;
    if (answer.ts) return answer.ts;
  } catch (error) {
    if (!isUncertain(error)) {
      // Slack rejected it, so the next try does not have to search for it.
      if (index === state.parts.length - 1) state.parts.pop();
      throw error;
    }
  }
  await findPosted(post);
  const found = state.parts[index]?.ts;
  if (found !== undefined) return found;
  throw new PlatformError('unavailable', 'Unclear whether Slack accepted a message');
}

async function remove({ state: { channel }, tools }: Post, ts: string): Promise<void> {
  try {
    await call(() => tools.web.chat.delete({ channel, ts }), { repeatable: true }, tools);
  } catch (error) {
    if (slackErrorOf(error) !== 'message_not_found') throw error;
  }
}
