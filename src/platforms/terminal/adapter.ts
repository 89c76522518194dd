/** The terminal platform: one person at a prompt. Used by the demo and when nothing is configured. */

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters, styleText } from 'node:util';
import { z } from 'zod';
import type { Bot } from '../../core/bot/create-bot.ts';
import type { Address } from '../../core/invocation.ts';
import type { ActionButton, MediaItem, Message } from '../../core/message.ts';
import type { System } from '../../core/system.ts';
import {
  type MediaReader,
  type MessageStream,
  type Platform,
  PlatformError,
  type PostState,
  type ShowOptions,
} from '../platform.ts';
import { createNewestWins } from '../shared/newest-wins.ts';
import { fileSaver } from './files.ts';
import { openPrompt, type TerminalInput, type TerminalOutput } from './prompt.ts';
import {
  completeRows,
  printable,
  type RenderTools,
  readableMarkdown,
  renderParts,
  renderProgress,
} from './render.ts';
import { createSession, type LineResult, type Session, TERMINAL_ADDRESS } from './session.ts';

export interface TerminalOptions extends Pick<System, 'newId'> {
  /** Source of typed lines. Without it, only {@link Terminal.run} runs commands. */
  readonly input?: TerminalInput;
  readonly output: TerminalOutput;
  /** Media is saved here under its display name. Created with the first file. */
  readonly folder: string;
  readonly media: Pick<MediaReader, 'open'>;
  /** Leaves out links, for a program that ends together with the pages it serves. */
  readonly withoutLinks?: boolean;
  /** Called when the person at the prompt exits. Not called at the end of a pipe. */
  readonly onExit?: () => void;
}

export interface Terminal extends Platform {
  /** Runs a line as if it had been typed, and these answers to its questions. Call `start` first. */
  run(line: string, answers?: readonly string[]): Promise<LineResult>;
  /** Prints plain text above the prompt. */
  announce(text: string): void;
}

/** A printed message. Printed lines cannot change, so only new parts are printed. */
interface Post {
  readonly number: number;
  /** Digests of the printed parts. */
  printed: readonly string[];
  /** The start of its text that has already been streamed. */
  streamed: string;
  progress: string;
}

/** The stored state of a post. */
const storedSchema = z.object({ printed: z.array(z.string()) });

/** Interval between updates of a growing text, in milliseconds. */
const STREAM_MS = 50;

const UNFINISHED_SENTENCE = 'Stopped. Unfinished jobs resume at the next start.';

export function createTerminal({
  input,
  output,
  folder,
  media,
  withoutLinks = false,
  newId,
  onExit,
}: TerminalOptions): Terminal {
  const style: RenderTools['style'] = (format, text) => styleText(format, text, { stream: output });
  const saveFile = fileSaver(folder, media);
  const posts = new Map<string, Post>();
  const buttons: ActionButton[] = [];
  /** Messages in progress with their cancel button, until it is used. */
  const unfinished = new Map<Post, ActionButton | undefined>();
  /** Answers to the next questions, which are printed like typed ones. */
  let answers: readonly string[] = [];
  let lastPost: Post | undefined;
  let session: Session | undefined;
  let readingLines = Promise.resolve();
  let isClosed = false;

  const prompt = openPrompt({
    input,
    output,
    complete: (line) => session?.complete(line) ?? Promise.resolve([[], line]),
    onInterrupt,
  });
  // The other end of a pipe closed.
  output.on('error', () => {
    isClosed = true;
  });

  /** Ctrl-C cancels the newest job, or exits. Each job is cancelled once, so the next Ctrl-C exits. */
  function onInterrupt(): void {
    const [post, button] = [...unfinished].findLast(([, cancel]) => cancel) ?? [];
    if (post) unfinished.set(post, undefined);
    if (button) void session?.press(button).catch(() => {});
    else prompt.close();
  }

  async function readLines(run: Session['run']): Promise<void> {
    for (;;) {
      const line = await prompt.next();
      const isExit = line !== undefined && /^\/?(exit|quit)$/i.test(line.trim());
      if (isExit || (line === undefined && prompt.interactive)) onExit?.();
      if (isExit || line === undefined) return prompt.close();
      // A line fails only if the output is closed.
      await run(line).catch(() => {});
    }
  }

  function assertReachable(address: Address): void {
    if (isClosed) throw new PlatformError('gone', 'The terminal is closed');
    if (address.platform !== TERMINAL_ADDRESS.platform || address.channel !== TERMINAL_ADDRESS.channel)
      throw new PlatformError('gone', 'The terminal has only one channel');
  }

  function numberOf(button: ActionButton): number {
    const index = buttons.findIndex(({ id }) => id === button.id);
    return index < 0 ? buttons.push(button) : index + 1;
  }

  function toolsFor(paths: ReadonlyMap<MediaItem, string>): RenderTools {
    return { style, numberOf, savedAs: (item) => paths.get(item) };
  }

  /** Saves the stored files and returns their paths. Throws PlatformError. */
  async function save(items: readonly MediaItem[] = []): Promise<ReadonlyMap<MediaItem, string>> {
    const paths = new Map<MediaItem, string>();
    for (const item of items)
      if (item.source.type === 'stored') paths.set(item, await saveFile(item.source.file, item.name));
    return paths;
  }

  function postOf({ key, posted }: Pick<ShowOptions, 'key' | 'posted'>): Post {
    const existing = posts.get(key);
    if (existing) return existing;
    const { data } = storedSchema.safeParse(posted);
    const post = { number: posts.size + 1, printed: data?.printed ?? [], streamed: '', progress: '' };
    posts.set(key, post);
    return post;
  }

  function printPost(post: Post, text: string, edited = false): void {
    const heading = style(['bold', 'magenta'], `Minstrel #${post.number}${edited ? ', edited' : ''}`);
    prompt.print(lastPost === post && !edited ? text : `\n${heading}\n${text}`);
    lastPost = post;
  }

  /** Prints the new parts, or all of them if the text was edited. */
  function printParts(post: Post, { title, text, rest }: ReturnType<typeof renderParts>): void {
    const parts = [title, text, ...rest].filter(Boolean);
    const isEdited = text !== '' && !text.startsWith(post.streamed);
    const newParts = isEdited ? parts : parts.filter((part) => !post.printed.includes(digest(part)));
    const unprinted = newParts.map((part) =>
      part === text && !isEdited ? text.slice(post.streamed.length) : part,
    );
    if (unprinted.join('') !== '') printPost(post, unprinted.filter(Boolean).join('\n'), isEdited);
    post.printed = parts.map(digest);
    post.streamed = text;
  }

  /** Prints the new complete rows of a growing text, or complete lines if the output is not a TTY. */
  function printGrowing(post: Post, message: Message): void {
    const text = readableMarkdown(message.text ?? '');
    if (!text.startsWith(post.streamed)) return;
    const columns = output.isTTY ? output.columns || 80 : Number.POSITIVE_INFINITY;
    const { rows, length } = completeRows(text.slice(post.streamed.length), columns);
    if (length === 0) return;
    const { title } = renderParts({ title: message.title ?? '' }, toolsFor(new Map()));
    const isTitleNew = title !== '' && !post.printed.includes(digest(title));
    if (isTitleNew) post.printed = [...post.printed, digest(title)];
    printPost(post, [...(isTitleNew ? [title] : []), ...rows].join('\n'));
    post.streamed = text.slice(0, post.streamed.length + length);
  }

  function printProgress(post: Post, message: Message): void {
    const progress = renderProgress(message, toolsFor(new Map()));
    if (progress !== post.progress) printPost(post, progress);
    post.progress = progress;
    const cancel = message.actions?.findLast((button) => button.type === 'action');
    if (!unfinished.has(post)) unfinished.set(post, cancel);
  }

  async function show(address: Address, message: Message, options: ShowOptions): Promise<PostState> {
    assertReachable(address);
    const post = postOf(options);
    const actions = message.actions?.filter(({ type }) => !withoutLinks || type !== 'link') ?? [];
    const shown = { ...message, actions };
    const parts = renderParts(shown, toolsFor(await save(message.media)));
    // The progress line already shows the title.
    if (!message.progress || parts.text !== '' || parts.rest.length > 0) printParts(post, parts);
    if (message.progress) printProgress(post, shown);
    else unfinished.delete(post);
    return { printed: [...post.printed] };
  }

  function stream(address: Address, options: ShowOptions): MessageStream {
    const post = postOf(options);
    const writer = createNewestWins<() => Message>({
      ready: () => sleep(STREAM_MS),
      async write(make) {
        if (!isClosed && address.channel === TERMINAL_ADDRESS.channel) printGrowing(post, make());
      },
      failed: () => undefined,
    });
    return {
      update: writer.offer,
      async close(message) {
        await writer.close();
        return show(address, message, options);
      },
    };
  }

  async function sendPrivately(address: Address, message: Message): Promise<void> {
    assertReachable(address);
    const savedPaths = await save(message.media).catch((error: unknown) => {
      if (!(error instanceof PlatformError)) throw error;
      return error.advice ?? "I couldn't save the files. Check that the folder is writable, then try again.";
    });
    const problem = typeof savedPaths === 'string' ? savedPaths : '';
    const { title, text, rest } = renderParts(
      message,
      toolsFor(typeof savedPaths === 'string' ? new Map() : savedPaths),
    );
    const heading = style(['bold', 'magenta'], 'Minstrel (only visible to you)');
    prompt.print(`\n${[heading, title, text, ...rest, problem].filter(Boolean).join('\n')}`);
    lastPost = undefined;
  }

  function announce(text: string): void {
    prompt.print(printable(stripVTControlCharacters(text)));
    lastPost = undefined;
  }

  return {
    name: TERMINAL_ADDRESS.platform,

    async start(bot: Bot) {
      session = createSession({
        bot,
        newId,
        next(question) {
          const [answer, ...later] = answers;
          if (answer === undefined) return prompt.next(question);
          answers = later;
          announce(`${question?.name ?? ''} › ${answer}`);
          return Promise.resolve(answer);
        },
        sendPrivately: (message) => sendPrivately(TERMINAL_ADDRESS, message),
        post: async (key, message) => {
          await show(TERMINAL_ADDRESS, message, { key, remember: async () => {} });
        },
        buttons,
      });
      if (input) readingLines = readLines(session.run);
    },

    async stop() {
      prompt.close();
      await readingLines;
    },

    async close() {
      prompt.close();
      if (unfinished.size > 0) announce(UNFINISHED_SENTENCE);
      isClosed = true;
    },

    status: () => (isClosed ? { ready: false, reason: 'the terminal is closed' } : { ready: true }),
    show,
    stream,
    // A single process prints, and printed lines cannot be removed.
    retract: async () => undefined,
    sendPrivately,
    attachmentHeaders: () => ({}),

    announce,
    async run(line, given = []) {
      answers = given;
      return (await session?.run(line)) ?? 'refused';
    },
  };
}

/** Ignores button numbers and colours, which may change after a restart. */
function digest(part: string): string {
  const text = stripVTControlCharacters(part).replace(/\[\d+\] /g, '');
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
