/** Messages on a screen on which nothing that was printed can be changed: what is new is printed, and nothing twice. */
import { createHash } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import type { MediaItem, Message } from '../../message.ts';
import { PlatformError, type Posted, type ShowOptions } from '../platform.ts';
import { durationOf, type FileFolder } from './files.ts';
import {
  type Block,
  type RenderTools,
  renderActions,
  renderBeginning,
  renderProgress,
  renderWhole,
  type SavedFile,
} from './render.ts';
import type { Screen } from './screen.ts';
import { printable, type Style } from './style.ts';

/** What is remembered of a post. */
const rememberedSchema = z.object({
  /** Digest of what was printed, by the block's slot. */
  printed: z.record(z.string(), z.string()),
  /** Kept file's name to where it was saved. */
  files: z.record(z.string(), z.object({ path: z.string(), seconds: z.number().optional() })),
});

interface Post {
  readonly number: number;
  readonly printed: Map<string, string>;
  readonly files: Map<string, SavedFile>;
  /** The unfinished state that changes at the bottom of the screen. */
  live: { readonly message: Message; readonly tail: string } | undefined;
  /** The last progress line of a screen that cannot change lines. */
  progress: string;
}

export interface Posts {
  /** Makes the message stand, and resolves to what must be remembered. Throws PlatformError. */
  show(message: Message, options: ShowOptions): Promise<Posted>;
  /** Shows text that is still being written. */
  showGrowing(message: Message, options: Pick<ShowOptions, 'key' | 'posted'>): void;
  /** Says something that is not a post. */
  say(heading: string, message: Message): Promise<void>;
  /** Prints a plain text that nobody said. */
  announce(text: string): void;
  /** What a number presses. */
  action(number: number): string | undefined;
  /** Lets the lines that change tell the time. */
  tick(): void;
}

export interface PostsOptions {
  readonly screen: Screen;
  readonly style: Style;
  readonly folder: FileFolder;
  readonly now: () => number;
  /** Whether the screen shows lines that change. */
  readonly changing: boolean;
}

const SPINNER = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇'];

export function createPosts({ screen, style, folder, now, changing }: PostsOptions): Posts {
  const posts = new Map<string, Post>();
  const numbers = new Map<string, number>();
  const actions: string[] = [];
  let speaker: Post | undefined;
  let frame = 0;

  function numberOf(action: string): number {
    const known = numbers.get(action);
    if (known !== undefined) return known;
    actions.push(action);
    numbers.set(action, actions.length);
    return actions.length;
  }

  const toolsFor = (files: ReadonlyMap<string, SavedFile>): RenderTools => ({
    style,
    numberOf,
    savedAs: ({ source }) => (source.type === 'kept' ? files.get(source.file.name) : undefined),
  });

  function postOf({ key, posted }: Pick<ShowOptions, 'key' | 'posted'>): Post {
    const known = posts.get(key);
    if (known) return known;
    const { data } = rememberedSchema.safeParse(posted);
    const post: Post = {
      number: posts.size + 1,
      printed: new Map(Object.entries(data?.printed ?? {})),
      files: new Map(
        Object.entries(data?.files ?? {}).map(([name, { path, seconds }]) => [name, saved(path, seconds)]),
      ),
      live: undefined,
      progress: '',
    };
    posts.set(key, post);
    return post;
  }

  function speak(post: Post, text: string, edited: boolean): void {
    if (speaker === post && !edited) screen.print(text);
    else
      screen.print(
        `\n${style(['bold', 'magenta'], `Minstrel #${post.number}${edited ? ', edited' : ''}`)}\n${text}`,
      );
    speaker = post;
  }

  function print(post: Post, blocks: readonly Block[]): void {
    const digests = new Map(blocks.map(({ slot, text, identity }) => [slot, digest(identity ?? text)]));
    const edited = [...digests].some(([slot, value]) => (post.printed.get(slot) ?? value) !== value);
    const fresh = edited ? blocks : blocks.filter(({ slot }) => !post.printed.has(slot));
    if (fresh.length === 0) return;
    speak(post, fresh.map(({ text, apart }) => (apart ? `\n${text}` : text)).join('\n'), edited);
    if (edited) post.printed.clear();
    for (const [slot, value] of digests) post.printed.set(slot, value);
  }

  function drawLive(): void {
    const lines = [...posts.values()].flatMap(({ live }) => {
      if (!live) return [];
      const buttons = renderActions(live.message.actions ?? [], toolsFor(new Map()));
      const progress = renderProgress(live.message, style, now());
      return [
        ...(live.tail ? live.tail.split('\n') : []),
        [SPINNER[frame % SPINNER.length], progress, buttons].filter(Boolean).join('  '),
      ];
    });
    screen.setLive(lines);
  }

  function showUnfinished(post: Post, message: Message, growing: boolean): void {
    const blocks = renderBeginning(message, toolsFor(post.files));
    // The last paragraph of a text that grows is not settled yet.
    const last = growing ? blocks.findLastIndex(({ slot }) => slot.startsWith('text ')) : -1;
    const tail = blocks[last]?.text ?? '';
    const settled = blocks.filter((_, index) => index !== last);
    if (settled.some(({ slot }) => slot !== 'title')) print(post, settled);
    if (changing) {
      post.live = { message, tail };
      drawLive();
      return;
    }
    const progress = renderProgress(message, style);
    if (progress === '' || progress === post.progress) return;
    const buttons = post.progress === '' ? renderActions(message.actions ?? [], toolsFor(post.files)) : '';
    speak(post, ['…', progress, buttons].filter(Boolean).join(' '), false);
    post.progress = progress;
  }

  async function save(post: Post, items: readonly MediaItem[], options: ShowOptions): Promise<void> {
    for (const { kind, name, source } of items) {
      if (source.type !== 'kept' || post.files.has(source.file.name)) continue;
      const path = await folder.save(source.file, name);
      post.files.set(source.file.name, saved(path, await durationOf(path, kind)));
      await options.remember(remembered(post));
    }
  }

  return {
    async show(message, options) {
      const post = postOf(options);
      await save(post, message.media ?? [], options);
      if (message.progress) {
        showUnfinished(post, message, false);
      } else {
        post.live = undefined;
        drawLive();
        print(post, renderWhole(message, toolsFor(post.files)));
      }
      const posted = remembered(post);
      await options.remember(posted);
      return posted;
    },

    showGrowing: (message, options) => showUnfinished(postOf(options), message, true),

    async say(heading, message) {
      const files = new Map<string, SavedFile>();
      const problems = new Set<string>();
      for (const { name, source } of message.media ?? []) {
        if (source.type !== 'kept') continue;
        try {
          files.set(source.file.name, { path: await folder.save(source.file, name) });
        } catch (error) {
          if (!(error instanceof PlatformError)) throw error;
          problems.add(error.advice ?? 'A file could not be saved now.');
        }
      }
      const text = renderWhole(message, toolsFor(files)).map((block) =>
        block.apart ? `\n${block.text}` : block.text,
      );
      screen.print(['', style(['bold', 'magenta'], heading), ...text, ...problems].join('\n'));
      speaker = undefined;
    },

    announce(text) {
      screen.print(printable(text));
      speaker = undefined;
    },

    action: (number) => actions[number - 1],

    tick() {
      frame += 1;
      if ([...posts.values()].some(({ live }) => live)) drawLive();
    },
  };
}

function saved(path: string, seconds: number | undefined): SavedFile {
  return seconds === undefined ? { path } : { path, seconds };
}

function remembered({ printed, files }: Post): Posted {
  return {
    printed: Object.fromEntries(printed),
    files: Object.fromEntries(
      [...files].map(([name, { path, seconds }]) => [
        name,
        seconds === undefined ? { path } : { path, seconds },
      ]),
    ),
  };
}

function digest(text: string): string {
  return createHash('sha256').update(stripVTControlCharacters(text)).digest('base64url').slice(0, 16);
}
