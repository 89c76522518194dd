/** What was said, as long as the process runs. */
import type { WebMessage } from '../render/message.ts';

export type HistoryChange =
  | { readonly type: 'put'; readonly message: WebMessage }
  | { readonly type: 'removed'; readonly messages: readonly WebMessage[] };

export interface HistoryOptions {
  /** Messages of a channel that are kept. */
  readonly most: number;
  readonly onChange: (change: HistoryChange) => void;
}

export type History = ReturnType<typeof createHistory>;

export function createHistory({ most, onChange }: HistoryOptions) {
  const messages = new Map<string, WebMessage>();

  function remove(isMeant: (message: WebMessage) => boolean): void {
    const gone = [...messages.values()].filter(isMeant);
    if (gone.length === 0) return;
    for (const { id } of gone) messages.delete(id);
    onChange({ type: 'removed', messages: gone });
  }

  return {
    /** Oldest first. */
    all: (): WebMessage[] => [...messages.values()],
    find: (id: string): WebMessage | undefined => messages.get(id),

    /** Adds the message, or puts it where its earlier state was. */
    put(message: WebMessage): void {
      messages.set(message.id, message);
      onChange({ type: 'put', message });
      const there = [...messages.values()].filter(({ channel }) => channel === message.channel);
      const oldest = new Set(there.slice(0, Math.max(0, there.length - most)));
      remove((one) => oldest.has(one));
    },

    remove,
  };
}
