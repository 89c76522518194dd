/** The messages of a post: each is posted once, edited from then on, and taken away when it is no longer needed. */
import { createHash } from 'node:crypto';
import { PlatformError } from '../platform.ts';
import { call } from './client.ts';
import { isUncertain, slackErrorOf } from './errors.ts';
import { findPosted, findStreamed, markOf } from './find-posted.ts';
import { stopStream } from './native-stream.ts';
import type { Post } from './post.ts';
import type { Part } from './render.ts';

/** A message of ours that cannot be edited any more: another takes its place. */
const CANNOT_EDIT = new Set(['message_not_found', 'cant_update_message', 'edit_window_closed']);

/** Makes exactly these parts stand. Throws the SDK's errors, and PlatformError when Slack did not answer. */
export async function writeParts(post: Post, parts: readonly Part[]): Promise<void> {
  const { state, tools } = post;
  const written = tools.firstOnly ? parts.slice(0, 1) : parts;
  for (const [index, part] of written.entries()) await writePart(post, index, part);
  if (tools.firstOnly) return;
  while (state.parts.length > parts.length) {
    const ts = state.parts.at(-1)?.ts;
    if (ts !== undefined) await remove(post, ts);
    state.parts.pop();
    await post.remember();
  }
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

async function writePart(post: Post, index: number, part: Part): Promise<void> {
  const digest = digestOf(JSON.stringify(part));
  const known = post.state.parts[index];
  const ts = known === undefined || known.ts !== undefined ? known?.ts : await find(post, index);
  if (ts !== undefined && (known?.digest === digest || (await edit(post, ts, part)))) {
    post.state.parts[index] = { ts, digest };
    return;
  }
  post.state.parts[index] = { ts: await postNew(post, index, part), digest };
  await post.remember();
}

async function find(post: Post, index: number): Promise<string | undefined> {
  const { state, key, tools } = post;
  const where = { channel: state.channel, thread: post.threadOf(index) };
  const marked = await findPosted(where, markOf(key, index), tools);
  if (marked !== undefined || !state.inThread || index === 0 || where.thread === undefined) return marked;
  const known = state.parts.flatMap(({ ts }) => (ts === undefined ? [] : [ts]));
  return await findStreamed({ channel: state.channel, thread: where.thread, known }, tools);
}

/** False when the message cannot be edited any more. */
async function edit(
  { state: { channel }, tools }: Post,
  ts: string,
  { text, blocks }: Part,
): Promise<boolean> {
  const update = () =>
    call(() => tools.web.chat.update({ channel, ts, text, blocks }), { repeatable: true }, tools);
  try {
    await update();
    return true;
  } catch (error) {
    if (slackErrorOf(error) === 'streaming_state_conflict') {
      // The process that streamed it has died.
      await stopStream({ channel, ts }, tools);
      await update();
      return true;
    }
    if (!CANNOT_EDIT.has(slackErrorOf(error) ?? '')) throw error;
    return false;
  }
}

/** Posts; what is remembered before tells a later try that this may have been taken. */
async function postNew(post: Post, index: number, part: Part): Promise<string> {
  const { state, tools } = post;
  state.parts[index] = {};
  await post.remember();
  try {
    const answer = await call(() => postMessage(post, index, part), { repeatable: false }, tools);
    if (answer.channel) state.channel = answer.channel;
    if (answer.ts) return answer.ts;
  } catch (error) {
    if (!isUncertain(error)) {
      // Surely not taken, so the next try need not look for it.
      state.parts.splice(index);
      await post.remember();
      throw error;
    }
  }
  const found = await find(post, index);
  if (found !== undefined) return found;
  throw new PlatformError('unavailable', 'Slack did not say whether it took a message');
}

function postMessage({ key, state, tools, threadOf }: Post, index: number, { text, blocks }: Part) {
  const thread = threadOf(index);
  return tools.web.chat.postMessage({
    channel: state.channel,
    text,
    blocks,
    metadata: markOf(key, index),
    unfurl_links: false,
    unfurl_media: false,
    ...(thread === undefined ? {} : { thread_ts: thread }),
  });
}

async function remove({ state: { channel }, tools }: Post, ts: string): Promise<void> {
  try {
    await call(() => tools.web.chat.delete({ channel, ts }), { repeatable: true }, tools);
  } catch (error) {
    if (slackErrorOf(error) !== 'message_not_found') throw error;
  }
}
