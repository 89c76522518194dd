/** Messages on a screen whose lines cannot be changed: what is new is printed, and nothing twice. */
import { createHash } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import type { MediaItem, Message } from '../../../core/message.ts';
import { PlatformError, type Posted, postedSchema, type ShowOptions } from '../../platform.ts';
import {
  type Block,
  type RenderTools,
  renderActions,
  renderBeginning,
  renderProgress,
  renderWhole,
  type SavedFile,
} from '../render/render.ts';
import { printable, wrapWords } from '../render/style.ts';
import { durationOf, type SaveFile } from './files.ts';
import type { Screen } from './screen.ts';

/** What is stored of a post. */
const storedSchema = z.object({
  /** Digest of the printed text, by the block's slot. */
  printed: z.record(z.string(), z.string()),
  /** By the kept file's name. */
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

export interface PostsOptions extends Pick<RenderTools, 'style' | 'layOut'> {
  readonly screen: Screen;
  readonly saveFile: SaveFile;
  readonly now: () => number;
  /** Whether the screen shows lines that change. */
  readonly changing: boolean;
}

const SPINNER = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇'];

export function createPosts({ screen, style, layOut, saveFile, now, changing }: PostsOptions) {
  const posts = new Map<string, Post>();
  const actions: string[] = [];
  let speaker: Post | undefined;
  let frame = 0;

  function numberOf(action: string): number {
    if (!actions.includes(action)) actions.push(action);
    return actions.indexOf(action) + 1;
  }

  const toolsFor = (files: ReadonlyMap<string, SavedFile>): RenderTools => ({
    style,
    layOut,
    numberOf,
    savedAs: ({ source }) => (source.type === 'kept' ? files.get(source.file.name) : undefined),
  });

  function postOf({ key, posted }: Pick<ShowOptions, 'key' | 'posted'>): Post {
    const known = posts.get(key);
    if (known) return known;
    const { data } = storedSchema.safeParse(posted);
    const post: Post = {
      number: posts.size + 1,
      printed: new Map(Object.entries(data?.printed ?? {})),
      files: new Map(Object.entries(data?.files ?? {})),
      live: undefined,
      progress: '',
    };
    posts.set(key, post);
    return post;
  }

  function speak(post: Post, text: string, edited: boolean): void {
    const heading = style(['bold', 'magenta'], `Minstrel #${post.number}${edited ? ', edited' : ''}`);
    screen.print(speaker === post && !edited ? text : `\n${heading}\n${text}`);
    speaker = post;
  }

  function print(post: Post, blocks: readonly Block[]): void {
    const digests = new Map(blocks.map(({ slot, text, identity }) => [slot, digest(identity ?? text)]));
    const edited = [...digests].some(([slot, value]) => (post.printed.get(slot) ?? value) !== value);
    const fresh = edited ? blocks : blocks.filter(({ slot }) => !post.printed.has(slot));
    if (fresh.length === 0) return;
    speak(post, textOf(fresh), edited);
    if (edited) post.printed.clear();
    for (const [slot, value] of digests) post.printed.set(slot, value);
  }

  function drawLive(): void {
    const lines = [...posts.values()].flatMap(({ live }) => {
      if (!live) return [];
      const buttons = renderActions(live.message.actions ?? [], { style, numberOf });
      const progress = renderProgress(live.message, style, now());
      return [
        ...(live.tail ? wrapWords(live.tail, screen.columns() - 1).split('\n') : []),
        [SPINNER[frame % SPINNER.length], progress, buttons].filter(Boolean).join('  '),
      ];
    });
    screen.setLive(lines);
  }

  async function showUnfinished(post: Post, message: Message, growing: boolean): Promise<void> {
    const blocks = await renderBeginning(message, toolsFor(post.files));
    // The last paragraph of a growing text may still change.
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
    const buttons = post.progress === '' ? renderActions(message.actions ?? [], { style, numberOf }) : '';
    speak(post, ['…', progress, buttons].filter(Boolean).join(' '), false);
    post.progress = progress;
  }

  const hasUnfinished = (): boolean => [...posts.values()].some(({ live }) => live);

  async function save(post: Post, items: readonly MediaItem[]): Promise<void> {
    for (const { kind, name, source } of items) {
      if (source.type !== 'kept' || post.files.has(source.file.name)) continue;
      const path = await saveFile(source.file, name);
      post.files.set(source.file.name, { path, seconds: await durationOf(path, kind) });
    }
  }

  return {
    /** Shows the message, and resolves with what is to be stored. Throws PlatformError. */
    async show(message: Message, options: ShowOptions): Promise<Posted> {
      const post = postOf(options);
      await save(post, message.media ?? []);
      if (message.progress) {
        await showUnfinished(post, message, false);
      } else {
        const blocks = await renderWhole(message, toolsFor(post.files));
        post.live = undefined;
        drawLive();
        print(post, blocks);
      }
      const stored = { printed: Object.fromEntries(post.printed), files: Object.fromEntries(post.files) };
      return postedSchema.parse(JSON.parse(JSON.stringify(stored)));
    },

    /** Shows text that is still being written. */
    showGrowing(message: Message, options: ShowOptions): Promise<void> {
      return showUnfinished(postOf(options), message, true);
    },

    /** Prints a message that is no post. */
    async say(heading: string, message: Message): Promise<void> {
      const files = new Map<string, SavedFile>();
      const problems = new Set<string>();
      for (const { name, source } of message.media ?? []) {
        if (source.type !== 'kept') continue;
        try {
          files.set(source.file.name, { path: await saveFile(source.file, name) });
        } catch (error) {
          if (!(error instanceof PlatformError)) throw error;
          problems.add(error.advice ?? 'A file could not be saved now.');
        }
      }
      const text = textOf(await renderWhole(message, toolsFor(files)));
      screen.print(['', style(['bold', 'magenta'], heading), text, ...problems].join('\n'));
      speaker = undefined;
    },

    /** Prints a plain text without a heading. */
    announce(text: string): void {
      screen.print(printable(text));
      speaker = undefined;
    },

    /** The action of the button with this number. */
    action: (number: number): string | undefined => actions[number - 1],

    /** Whether a message changes at the bottom of the screen. */
    hasUnfinished,

    /** Moves the lines that show time. */
    tick(): void {
      frame += 1;
      if (hasUnfinished()) drawLive();
    },
  };
}

function textOf(blocks: readonly Block[]): string {
  return blocks.map(({ text, apart }) => (apart ? `\n${text}` : text)).join('\n');
}

function digest(text: string): string {
  return createHash('sha256').update(stripVTControlCharacters(text)).digest('base64url').slice(0, 16);
}
