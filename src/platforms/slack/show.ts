/** Makes a Message stand in Slack, by posting it or by editing what stands, and finishes what an earlier try began. */
import type { Address } from '../../command.ts';
import type { KeptFile, MediaItem, Message } from '../../message.ts';
import { PlatformError, type Posted, type ShowOptions } from '../platform.ts';
import { call } from './client.ts';
import {
  isUncertain,
  neverLetIn,
  retryAfterMs,
  slackErrorOf,
  slackReasonsOf,
  toPlatformError,
} from './errors.ts';
import { escapeMrkdwn } from './escape.ts';
import { shareFiles, uploadOnce, waitingFiles } from './files.ts';
import { LIMITS } from './limits.ts';
import { digestOf, writeParts } from './parts.ts';
import { createPost, type Post, type ShowTools, stands } from './post.ts';
import { toPosted } from './posted.ts';
import { type Rendering, type RenderOptions, render } from './render.ts';
import { keptFile, textFile } from './upload.ts';

/** Slack takes a moment before an uploaded picture can stand in a block. */
const PICTURE_PAUSES_MS = [300, 700, 1600, 3000];
/** A budget below this would not make a message fit that is still refused as too long. */
const SMALLEST_BUDGET = 1000;

/** See Platform.show. Throws PlatformError; and whatever `remember` and opening a kept file throw. */
export async function show(
  address: Address,
  message: Message,
  options: ShowOptions,
  tools: ShowTools,
): Promise<Posted> {
  const post = createPost(address, options, tools);
  try {
    await bringAbout(post, message);
    return toPosted(post.state);
  } catch (error) {
    if (!isSlacks(error)) throw error;
    const named = toPlatformError(error, { botName: tools.botName() });
    throw stands(post) ? named : neverLetIn(named, address.channel, tools.botName());
  }
}

function isSlacks(error: unknown): boolean {
  return (
    error instanceof PlatformError ||
    slackErrorOf(error) !== undefined ||
    isUncertain(error) ||
    retryAfterMs(error) !== undefined
  );
}

async function bringAbout(post: Post, message: Message): Promise<void> {
  const { tools } = post;
  // An edit calls nobody: whoever is to be called to a message that stood already is called by a reply.
  const stood = stands(post);
  const kept = keptItems(message);
  await upload(post, kept);
  const smaller = kept.flatMap((whole) => smallerOf(post, whole));
  await upload(post, smaller);
  const { rendering, picturesInPlace } = await write(post, message);
  const titles = new Map(
    [...kept, ...smaller]
      .filter(({ item }) => item.kind !== 'image' || !picturesInPlace)
      .map(({ item, file }) => [file.name, item.caption ? `${item.name} · ${item.caption}` : item.name]),
  );
  const { textFile: text } = rendering;
  if (text !== undefined && !tools.passing) {
    const name = `text-${digestOf(text.content)}`;
    await uploadOnce(post, name, textFile(text.name, text.content), { inPlace: false });
    titles.set(name, text.name);
  }
  const summons = message.notify && stood ? summonsOf(post, message) : undefined;
  const called = await share(post, message, titles, summons);
  if (summons !== undefined && !called) await summon(post, summons);
}

interface KeptItem {
  readonly item: MediaItem;
  readonly file: KeptFile;
}

async function upload(post: Post, items: readonly KeptItem[]): Promise<void> {
  for (const { item, file } of items) {
    const inPlace = item.kind === 'image';
    await uploadOnce(post, file.name, keptFile(item, file, post.tools.media), { inPlace });
  }
}

/** What goes beside the link to a file that Slack did not take. */
function smallerOf({ state }: Post, { item, file }: KeptItem): KeptItem[] {
  if (state.files[file.name]?.state !== 'link' || item.smaller?.source.type !== 'kept') return [];
  return [{ item: { ...item, name: item.smaller.name }, file: item.smaller.source.file }];
}

/** Each kept file once. */
function keptItems({ media = [] }: Message): KeptItem[] {
  const items = media.flatMap((item) =>
    item.source.type === 'kept' ? [{ item, file: item.source.file }] : [],
  );
  return items.filter(
    ({ file }, index) => items.findIndex((other) => other.file.name === file.name) === index,
  );
}

interface Written {
  readonly rendering: Rendering;
  /** False when Slack takes the pictures in no block: they go the way of other files. */
  readonly picturesInPlace: boolean;
}

/** Writes every part; what Slack finds too long or too odd is rendered again, shorter or plainer. */
async function write(post: Post, message: Message): Promise<Written> {
  const { sleep, log } = post.tools;
  let budget: number = LIMITS.partCharacters;
  let bare = false;
  let pictures = true;
  for (let pictureTry = 0; ; ) {
    const rendering = render(message, renderOptions(post, message, { budget, bare, pictures }));
    try {
      await writeParts(post, rendering.parts);
      return { rendering, picturesInPlace: pictures && !bare };
    } catch (error) {
      const code = slackErrorOf(error);
      const tooLong = code === 'msg_too_long' || code === 'msg_blocks_too_long';
      const odd = code === 'invalid_blocks' || code === 'invalid_blocks_format';
      if (tooLong && budget > SMALLEST_BUDGET) budget = Math.floor(budget / 2);
      else if (odd && pictures && isAboutPicture(error)) {
        const pause = PICTURE_PAUSES_MS[pictureTry];
        pictureTry += 1;
        if (pause === undefined) pictures = false;
        else await sleep(pause);
      } else if (odd && !bare) {
        log.error({ err: error, reasons: slackReasonsOf(error) }, 'Slack refused the blocks of a message');
        bare = true;
      } else throw error;
    }
  }
}

function renderOptions(
  { address, state: { files, inThread = false }, tools: { media, firstOnly = false } }: Post,
  message: Message,
  { budget, bare, pictures }: { budget: number; bare: boolean; pictures: boolean },
): RenderOptions {
  const uploaded = keptItems(message).flatMap(({ item, file }): [string, string][] => {
    const id = files[file.name]?.id;
    return pictures && item.kind === 'image' && id !== undefined ? [[file.name, id]] : [];
  });
  return {
    person: address.person,
    budget,
    bare,
    inThread,
    firstOnly,
    pictures: new Map(uploaded),
    links: (file, name) => (files[file.name]?.state === 'link' ? media.link(file, name) : undefined),
  };
}

function isAboutPicture(error: unknown): boolean {
  return slackReasonsOf(error).some((reason) => /slack.?file|image/i.test(reason));
}

/** Shows the files that no block shows. True when the person was called with them. */
async function share(
  post: Post,
  message: Message,
  titles: ReadonlyMap<string, string>,
  summons: string | undefined,
): Promise<boolean> {
  const waiting = await waitingFiles(post, titles.keys());
  const thread = post.threadOf(1);
  if (waiting.length === 0 || thread === undefined) return false;
  if (summons !== undefined) post.state.called = true;
  const files = waiting.map((name) => ({ name, title: titles.get(name) ?? name }));
  const shown = await shareFiles(post, files, { thread, comment: summons });
  if (!shown) await write(post, message);
  return true;
}

/** What calls the person; undefined when they were called already. */
function summonsOf({ address, state }: Post, { title = 'Here it is.' }: Message): string | undefined {
  return state.called ? undefined : `<@${escapeMrkdwn(address.person)}> ${escapeMrkdwn(title)}`;
}

async function summon({ state, tools, threadOf, remember }: Post, text: string): Promise<void> {
  const thread = threadOf(1);
  if (thread === undefined) return;
  // Remembered first: a call that is lost is better than two.
  state.called = true;
  await remember();
  const { channel } = state;
  try {
    await call(
      () => tools.web.chat.postMessage({ channel, thread_ts: thread, text }),
      { repeatable: false },
      tools,
    );
  } catch (error) {
    tools.log.warn({ err: error }, 'The person who asked could not be called');
  }
}
