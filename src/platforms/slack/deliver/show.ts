/** Posts or edits a Message, and completes an interrupted try. */
import { Readable } from 'node:stream';
import type { Address } from '../../../core/invocation.ts';
import type { MediaFile, MediaItem, Message } from '../../../core/message.ts';
import { PlatformError, type PostState, type ShowOptions } from '../../platform.ts';
import { call } from '../connection/client.ts';
import {
  asNotInvited,
  asRemovedFromChannel,
  isUncertain,
  retryAfterMs,
  slackErrorOf,
  slackReasonsOf,
  toPlatformError,
} from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { escapeMrkdwn } from '../render/escape.ts';
import { type Rendering, type RenderOptions, render } from '../render/parts.ts';
import { deleteFile, shareFiles, uploadOnce, waitingFiles } from './files.ts';
import { findPosted, firstMessages, markOf } from './find-posted.ts';
import { createPost, isPosted, type Post, type ShowMode, type ShowTools, toPosted } from './post.ts';
import { digestOf, writeParts } from './writer.ts';

/** Delays between tries: Slack cannot show an uploaded image in a block at once. */
const IMAGE_RETRY_DELAYS_MS = [300, 700, 1600, 3000];
/** Slack lists shared files in their thread after a delay. */
const SHARING_DELAY_MS = 3000;
/** File name for a text that is too long for messages. */
const TEXT_FILE = 'text.md';
/** If a message this small is too long, a smaller budget would not help. */
const MIN_BUDGET = 1000;

/** See Platform.show. Throws PlatformError, and errors of `remember` and of opening a stored file. */
export async function show(
  address: Address,
  message: Message,
  options: ShowOptions,
  tools: ShowTools,
  mode: ShowMode = {},
): Promise<PostState> {
  const isUnfinished = mode.passing === true || message.progress !== undefined;
  const post = createPost(address, options, tools, { ...mode, isUnfinished });
  try {
    await showPost(post, message);
    return toPosted(post.state);
  } catch (error) {
    if (!isFromSlack(error)) throw error;
    // Stored so that the next try uploads nothing twice, and searches only for unconfirmed messages.
    const posted = toPosted(post.state);
    if (JSON.stringify(posted) !== JSON.stringify(options.posted)) await options.remember(posted);
    const named = toPlatformError(error, tools);
    const wasPostedBefore = isPosted(post) || post.state.replaced !== undefined;
    throw wasPostedBefore ? asRemovedFromChannel(named, tools) : asNotInvited(named, address, tools);
  }
}

/** See Platform.retract. Throws PlatformError. */
export async function retract(
  address: Address,
  { key, stray, current }: { key: string; stray: PostState; current: PostState },
  tools: ShowTools,
): Promise<void> {
  const options = { key, remember: async () => undefined };
  const stays = createPost(address, { ...options, posted: current }, tools).state;
  const isUnknown = Object.keys(stray).length === 0;
  const post = createPost(address, { ...options, posted: stray, mayHavePosted: isUnknown }, tools);
  const messages = new Set(stays.parts.map(({ ts }) => ts));
  const files = filesOf(stays);
  try {
    const unconfirmed = post.isUncertain ? await firstMessages(post) : [];
    const known = post.state.parts.flatMap(({ ts }) => ts ?? []);
    post.state.parts = [...new Set([...unconfirmed, ...known])]
      .filter((ts) => !messages.has(ts))
      .map((ts) => ({ ts }));
    await writeParts(post, []);
    for (const file of filesOf(post.state)) if (!files.has(file)) await deleteFile(file, tools);
  } catch (error) {
    if (!isFromSlack(error)) throw error;
    throw toPlatformError(error, tools);
  }
}

function filesOf({ files }: Post['state']): Set<string> {
  return new Set(Object.values(files).flatMap(({ id }) => id ?? []));
}

function isFromSlack(error: unknown): boolean {
  return (
    error instanceof PlatformError ||
    slackErrorOf(error) !== undefined ||
    isUncertain(error) ||
    retryAfterMs(error) !== undefined
  );
}

async function showPost(post: Post, message: Message): Promise<void> {
  const { tools } = post;
  // The buttons depend on whether the app has agents.
  await tools.identity.settle();
  // Edits do not notify anyone, so an existing message mentions the requester in a reply.
  const wasPosted = isPosted(post);
  const items = storedItems(message);
  if (post.isUncertain) {
    if (items.length > 0) await tools.sleep(SHARING_DELAY_MS);
    await findPosted(post);
  }
  await upload(post, items);
  const smaller = items.flatMap((whole) => smallerOf(post, whole));
  await upload(post, smaller);
  const { rendering, picturesInPlace } = await write(post, message);
  // Files below a replaced message must be uploaded again.
  await upload(post, [...items, ...smaller]);
  const titles = new Map(
    [...items, ...smaller]
      .filter(({ item }) => item.kind !== 'image' || !picturesInPlace)
      .map(({ item, file }) => [file.name, titleOf(item)]),
  );
  if (rendering.textFile !== undefined && !post.mode.passing) {
    const name = `text-${digestOf(rendering.textFile)}`;
    const text = Buffer.from(rendering.textFile, 'utf8');
    const open = async () => Readable.from([text]);
    await uploadOnce(post, name, { name: TEXT_FILE, bytes: text.length, open }, { inPlace: false });
    titles.set(name, TEXT_FILE);
  }
  const mention = wasPosted ? mentionFor(post, message) : undefined;
  // Only a ready result mentions the person in a file's comment, because a later search takes such a comment for that
  // mention.
  const called = await share(post, message, titles, message.notify === 'ready' ? mention : undefined);
  if (mention !== undefined && !called) await postMention(post, mention, message.notify);
}

/** Players show how long they are. */
function titleOf({ kind, name, caption }: MediaItem): string {
  return caption === undefined || kind === 'audio' ? name : `${name} · ${caption}`;
}

interface StoredItem {
  readonly item: MediaItem;
  readonly file: MediaFile;
}

async function upload(post: Post, items: readonly StoredItem[]): Promise<void> {
  for (const { item, file } of items) {
    const open = () => post.tools.media.open(file);
    const upload = { name: item.name, bytes: file.bytes, open };
    await uploadOnce(post, file.name, upload, { inPlace: item.kind === 'image' });
  }
}

/** The smaller variant of a file that Slack rejected. The file itself becomes a link. */
function smallerOf({ state }: Post, { item, file }: StoredItem): StoredItem[] {
  if (state.files[file.name]?.state !== 'link' || item.smaller?.source.type !== 'stored') return [];
  return [{ item: { ...item, name: item.smaller.name }, file: item.smaller.source.file }];
}

/** Each stored file once. */
function storedItems({ media = [] }: Message): StoredItem[] {
  const items = new Map<string, StoredItem>();
  for (const item of media) {
    if (item.source.type !== 'stored') continue;
    const { file } = item.source;
    if (!items.has(file.name)) items.set(file.name, { item, file });
  }
  return [...items.values()];
}

/**
 * Writes every part. If Slack rejects them as too long or invalid, renders them shorter or plainer and retries.
 * `picturesInPlace` is false if Slack accepted no image blocks.
 */
async function write(
  post: Post,
  message: Message,
): Promise<{ rendering: Rendering; picturesInPlace: boolean }> {
  const { sleep, log } = post.tools;
  let budget: number = LIMITS.partCharacters;
  let bare = false;
  let hasCards = true;
  let pictures = true;
  for (let pictureTry = 0; ; ) {
    const rendering = await render(
      message,
      renderOptions(post, message, { budget, bare, hasCards, pictures }),
    );
    try {
      await writeParts(post, rendering.parts);
      return { rendering, picturesInPlace: pictures && !bare };
    } catch (error) {
      const code = slackErrorOf(error);
      const tooLong = code === 'msg_too_long' || code === 'msg_blocks_too_long';
      const invalid = code === 'invalid_blocks' || code === 'invalid_blocks_format';
      if (tooLong && budget > MIN_BUDGET) budget = Math.floor(budget / 2);
      else if (invalid && pictures && isImageError(error)) {
        const pause = IMAGE_RETRY_DELAYS_MS[pictureTry];
        pictureTry += 1;
        if (pause === undefined) pictures = false;
        else await sleep(pause);
      } else if (invalid && hasCards) {
        log.warn({ err: error, reasons: slackReasonsOf(error) }, 'Slack rejected blocks; trying older ones');
        hasCards = false;
      } else if (invalid && !bare) {
        log.error({ err: error, reasons: slackReasonsOf(error) }, 'Slack rejected the blocks of a message');
        bare = true;
      } else throw error;
    }
  }
}

function renderOptions(
  {
    address,
    mode: { firstOnly = false },
    state: { files, inThread = false },
    tools: { media, agents },
  }: Post,
  message: Message,
  {
    pictures,
    ...accepted
  }: Required<Pick<RenderOptions, 'budget' | 'bare' | 'hasCards'>> & { pictures: boolean },
): RenderOptions {
  const uploaded = storedItems(message).flatMap(({ item, file }): [string, string][] => {
    const id = files[file.name]?.id;
    return pictures && item.kind === 'image' && id !== undefined ? [[file.name, id]] : [];
  });
  return {
    ...accepted,
    person: address.person,
    inThread,
    firstOnly,
    hasAgents: agents.isAvailable(),
    pictures: new Map(uploaded),
    links: (file, name) => (files[file.name]?.state === 'link' ? media.link(file, name) : undefined),
  };
}

function isImageError(error: unknown): boolean {
  return slackReasonsOf(error).some((reason) => /slack.?file|image/i.test(reason));
}

/** Shares the files that no block shows. Returns true if that mentioned the person. */
async function share(
  post: Post,
  message: Message,
  titles: ReadonlyMap<string, string>,
  mention: string | undefined,
): Promise<boolean> {
  const waiting = waitingFiles(post, titles);
  const thread = post.threadOf(1);
  if (waiting.length === 0 || thread === undefined) return false;
  const shown = await shareFiles(post, waiting, { thread, comment: mention });
  if (!shown) await write(post, message);
  if (!shown || mention === undefined) return false;
  post.state.called = true;
  return true;
}

/** The text of the mention. Undefined if no mention is needed, or one was sent. */
function mentionFor({ address, state }: Post, { title, notify }: Message): string | undefined {
  const person = `<@${escapeMrkdwn(address.person)}>`;
  switch (notify) {
    case 'ready':
      return state.called ? undefined : `${person} ${escapeMrkdwn(title ?? 'this is ready.')}`;
    case 'incomplete': {
      const what = title === undefined ? '' : `${escapeMrkdwn(title)}: `;
      return state.calledIncomplete ? undefined : `${person} ${what}this is incomplete.`;
    }
    case undefined:
      return undefined;
    default:
      return notify satisfies never;
  }
}

async function postMention(post: Post, text: string, about: Message['notify']): Promise<void> {
  const { state, tools } = post;
  const thread = post.threadOf(1);
  if (thread === undefined) return;
  post.beforeWriting?.();
  const metadata = markOf(post, about === 'incomplete' ? 'incomplete' : 'mention');
  const message = { channel: state.channel, thread_ts: thread, text, metadata };
  try {
    await call(() => tools.web.chat.postMessage(message), { repeatable: false }, tools);
  } catch (error) {
    const { code } = toPlatformError(error, tools);
    if (code === 'unavailable' && !isUncertain(error)) throw error;
    tools.log.warn({ err: error }, 'Could not mention the person who requested this');
  }
  // Also set without an answer: no mention is better than two.
  if (about === 'incomplete') state.calledIncomplete = true;
  else state.called = true;
}
