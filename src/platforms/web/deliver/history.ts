/** In-memory messages and the pages that follow them. */
import type { WebMessage } from '../render/message.ts';

export type HistoryChange =
  | { readonly type: 'put'; readonly message: WebMessage }
  | { readonly type: 'removed'; readonly messages: readonly WebMessage[] };
type Follower = (change: HistoryChange) => void;

export type History = ReturnType<typeof createHistory>;

/** @param limit maximum number of messages per channel */
export function createHistory(limit: number) {
  const messages = new Map<string, WebMessage>();
  /** Each follower with the function that ends it. */
  const followers = new Map<Follower, () => void>();

  function notify(change: HistoryChange): void {
    for (const follower of followers.keys()) follower(change);
  }

  function remove(matches: (message: WebMessage) => boolean): void {
    const removed = [...messages.values()].filter(matches);
    if (removed.length === 0) return;
    for (const { id } of removed) messages.delete(id);
    notify({ type: 'removed', messages: removed });
  }

  return {
    /** Oldest first. */
    all: (): WebMessage[] => [...messages.values()],
    find: (id: string): WebMessage | undefined => messages.get(id),

    /** Adds the message, or replaces its earlier state in place. */
    put(message: WebMessage): void {
      messages.set(message.id, message);
      notify({ type: 'put', message });
      const inChannel = [...messages.values()].filter(({ channel }) => channel === message.channel);
      const oldest = new Set(inChannel.slice(0, Math.max(0, inChannel.length - limit)));
      remove((entry) => oldest.has(entry));
    },

    remove,

    /** Resolves when the signal aborts or the history closes. */
    async follow(follower: Follower, signal: AbortSignal): Promise<void> {
      if (signal.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      followers.set(follower, resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
      await promise;
      followers.delete(follower);
    },

    followers: (): number => followers.size,

    close(): void {
      for (const end of followers.values()) end();
    },
  };
}
