import type { MediaFile } from '../../../src/core/message.ts';
import type { BrowserEvent, BrowserMessage, MarkdownNode } from '../../../src/core/web/browser-chat.ts';
import type { BrowserChat } from '../../../src/core/web/platform-routes.ts';
import { createWeb, type WebOptions } from '../../../src/platforms/web/adapter.ts';
import type { VisibleMessage } from '../../contracts/platform.ts';

const TOKEN = 'a-token-that-is-only-for-tests';

/** The state of a page that has processed each event. */
export function watchChat(chat: BrowserChat, person: string) {
  const messages = new Map<string, BrowserMessage>();
  const events: BrowserEvent[] = [];
  const abort = new AbortController();
  const ended = chat.watch(
    person,
    (sent) => {
      // Safe: the events come from our own code. The copy simulates the connection.
      const event = JSON.parse(JSON.stringify(sent)) as BrowserEvent;
      events.push(event);
      if (event.type === 'all') {
        messages.clear();
        for (const message of event.messages) messages.set(message.id, message);
      }
      if (event.type === 'message') messages.set(event.message.id, event.message);
      if (event.type === 'removed') for (const id of event.ids) messages.delete(id);
    },
    abort.signal,
  );
  return {
    events,
    messages: () => [...messages.values()],
    async leave() {
      abort.abort();
      await ended;
    },
  };
}

export async function openWeb(options: Partial<WebOptions> = {}) {
  const files = new Map<string, Uint8Array>();
  const created: ReturnType<typeof createWeb>[] = [];
  let ids = 0;
  const make = () => {
    const web = createWeb({
      url: 'http://127.0.0.1:3000',
      token: TOKEN,
      media: { path: ({ name }, title) => `files/${name}?as=${title}` },
      now: () => 1_700_000_000_000,
      newId: () => {
        ids += 1;
        return `id${ids}`;
      },
      ...options,
    });
    created.push(web);
    return web;
  };
  return {
    make,
    files,
    keep(bytes: Uint8Array, contentType: string): MediaFile {
      const name = `kept-${files.size}`;
      files.set(name, bytes);
      return { name, bytes: bytes.byteLength, contentType };
    },
    /** The platform created last, which the page has open. */
    newest: () => created.at(-1),
    async close() {
      await Promise.all(created.map((web) => web.close()));
    },
  };
}

/** All text of a message, as a person reads it. */
function textOfMessage({
  title,
  body,
  fields = [],
  footer,
  buttons = [],
  more = [],
  progress,
}: BrowserMessage) {
  const labels = [...buttons, ...more].map(({ label }) => label);
  const facts = fields.map(({ name, value }) => `${name}: ${value}`);
  return [title, progress?.stage, ...body.map(textOfNode), ...facts, footer, ...labels]
    .filter(Boolean)
    .join('\n');
}

function textOfNode({ value = '', children = [] }: MarkdownNode): string {
  return value + children.map(textOfNode).join('');
}

export function visibleMessageOf(
  message: BrowserMessage,
  files: ReadonlyMap<string, Uint8Array>,
): VisibleMessage {
  return {
    text: textOfMessage(message),
    files: (message.media ?? []).flatMap(({ url, name }) => {
      const fileName = /\/files\/([\w-]+)\?/.exec(url ?? '')?.[1];
      return fileName === undefined ? [] : [{ name, bytes: files.get(fileName) ?? new Uint8Array() }];
    }),
  };
}
