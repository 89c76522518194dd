import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { MediaFile } from '../../../src/core/message.ts';
import {
  createTerminal,
  type Terminal,
  type TerminalOptions,
} from '../../../src/platforms/terminal/adapter.ts';
import type { VisibleMessage } from '../../contracts/platform.ts';

/** An output that records everything written to it, without control sequences. */
export function createPaper(): Writable & { readonly written: () => string } {
  let text = '';
  const paper = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      text += String(chunk);
      done();
    },
  });
  return Object.assign(paper, { written: () => stripVTControlCharacters(text).replaceAll('\r', '') });
}

/** Stored files in memory. */
function createFileStore() {
  const files = new Map<string, Uint8Array>();
  return {
    keep(bytes: Uint8Array, contentType = 'application/octet-stream'): MediaFile {
      const name = `kept-${files.size}`;
      files.set(name, bytes);
      return { name, bytes: bytes.byteLength, contentType };
    },
    async *read(name: string): AsyncGenerator<Uint8Array> {
      const bytes = files.get(name);
      if (!bytes) throw new Error(`${name} is not stored`);
      for (let start = 0; start < bytes.length; start += 4096) yield bytes.subarray(start, start + 4096);
    },
  };
}

export interface TerminalHarness {
  readonly terminal: Terminal;
  readonly folder: string;
  readonly keep: ReturnType<typeof createFileStore>['keep'];
  readonly paper: ReturnType<typeof createPaper>;
  make(options?: Partial<TerminalOptions>): Terminal;
  close(): Promise<void>;
}

/** A terminal with a recorded output and a temporary folder. Not started. */
export async function openTerminal(options: Partial<TerminalOptions> = {}): Promise<TerminalHarness> {
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-terminal-'));
  const paper = createPaper();
  const fileStore = createFileStore();
  let ids = 0;
  const terminals: Terminal[] = [];
  const make = (more: Partial<TerminalOptions> = {}) => {
    const terminal = createTerminal({
      output: paper,
      folder: join(folder, 'media'),
      media: { open: async ({ name }) => fileStore.read(name) },
      newId: () => {
        ids += 1;
        return `invocation-${ids}`;
      },
      ...options,
      ...more,
    });
    terminals.push(terminal);
    return terminal;
  };
  return {
    terminal: make(),
    folder: join(folder, 'media'),
    keep: fileStore.keep,
    paper,
    make,
    async close() {
      await Promise.all(terminals.map((terminal) => terminal.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Reads the output as a person does: separates messages and applies edits. */
export async function readPaper(
  written: string,
  folder: string,
): Promise<{ posts: VisibleMessage[]; privateMessages: VisibleMessage[] }> {
  const posts = new Map<string, string>();
  const privateMessages: string[] = [];
  for (const part of written.split(/^(?=Minstrel(?: #\d+(?:, edited)?| \(only visible to you\))$)/m)) {
    const [heading = '', ...lines] = part.split('\n');
    const text = lines.filter((line) => !line.startsWith('… ')).join('\n');
    const [, number, edited] = /^Minstrel #(\d+)(, edited)?$/.exec(heading) ?? [];
    if (number !== undefined) posts.set(number, (edited ? '' : (posts.get(number) ?? '')) + text);
    else if (heading === 'Minstrel (only visible to you)') privateMessages.push(text);
  }
  const names = await readdir(folder).catch(() => []);
  const files = await Promise.all(
    names.map(async (name) => ({ name, bytes: await readFile(join(folder, name)) })),
  );
  const toVisibleMessage = (text: string): VisibleMessage => ({
    text,
    files: files.filter(({ name }) => text.includes(join(folder, name))),
  });
  return {
    posts: [...posts.values()].map(toVisibleMessage),
    privateMessages: privateMessages.map(toVisibleMessage),
  };
}
