/**
 * What was said, in a file: on other platforms their servers keep it. A change is a line at the end of the file, written
 * before the change counts as shown, so that a process that dies afterwards finds it again.
 */
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type WebMessage, webMessageSchema } from '../render/message.ts';

const lineSchema = z.union([z.object({ put: webMessageSchema }), z.object({ remove: z.array(z.string()) })]);
type Line = z.infer<typeof lineSchema>;

/** Lines that no longer count; past that, the file is written anew. */
const MOST_STALE_LINES = 2_000;

export type HistoryChange =
  | { readonly type: 'put'; readonly message: WebMessage }
  | { readonly type: 'removed'; readonly messages: readonly WebMessage[] };

export interface History {
  /** Oldest first. */
  all(): WebMessage[];
  find(id: string): WebMessage | undefined;
  /** Adds the message, or puts it where its earlier state was. Resolves when it is stored. */
  put(message: WebMessage): Promise<void>;
  /** Like `put`, for a state that the next one replaces soon: it is shown and not stored. */
  putBriefly(message: WebMessage): void;
  remove(isMeant: (message: WebMessage) => boolean): Promise<void>;
}

export interface HistoryOptions {
  readonly folder: string;
  /** Messages of a channel that are kept. */
  readonly most: number;
  readonly onChange: (change: HistoryChange) => void;
}

/** Reads what earlier processes wrote. Lines that cannot be read are left out. */
export async function openHistory({ folder, most, onChange }: HistoryOptions): Promise<History> {
  const path = join(folder, 'playground.jsonl');
  const messages = new Map<string, WebMessage>();
  let lines = 0;
  /** Writes come one after the other. */
  let written = Promise.resolve();

  const write = (work: () => Promise<void>): Promise<void> => {
    const done = written.then(work);
    written = done.catch(() => undefined);
    return done;
  };

  const append = (line: Line): Promise<void> =>
    write(async () => {
      lines += 1;
      if (lines > messages.size + MOST_STALE_LINES) await compact();
      else await appendFile(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
    });

  async function compact(): Promise<void> {
    const all = messages.values().map((message) => `${JSON.stringify({ put: message } satisfies Line)}\n`);
    await writeFile(`${path}.part`, all.toArray().join(''), { mode: 0o600 });
    await rename(`${path}.part`, path);
    lines = messages.size;
  }

  function apply(line: Line): void {
    if ('put' in line) messages.set(line.put.id, line.put);
    else for (const id of line.remove) messages.delete(id);
  }

  async function remove(isMeant: (message: WebMessage) => boolean): Promise<void> {
    const gone = messages.values().filter(isMeant).toArray();
    if (gone.length === 0) return;
    const line = { remove: gone.map(({ id }) => id) };
    apply(line);
    onChange({ type: 'removed', messages: gone });
    await append(line);
  }

  async function dropOldest(channel: string): Promise<void> {
    const there = messages
      .values()
      .filter((message) => message.channel === channel)
      .toArray();
    const gone = new Set(there.slice(0, Math.max(0, there.length - most)));
    await remove((message) => gone.has(message));
  }

  await mkdir(folder, { recursive: true });
  for (const text of (await readFile(path, 'utf8').catch(() => '')).split('\n')) {
    const line = lineSchema.safeParse(parsed(text)).data;
    if (line) apply(line);
  }
  await compact();

  return {
    all: () => [...messages.values()],
    find: (id) => messages.get(id),
    async put(message) {
      apply({ put: message });
      onChange({ type: 'put', message });
      await append({ put: message });
      await dropOldest(message.channel);
    },
    putBriefly(message) {
      apply({ put: message });
      onChange({ type: 'put', message });
    },
    remove,
  };
}

/** The last line may end in its middle, where a process died. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
