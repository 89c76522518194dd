/** What was said, as long as the process runs, and who follows it. */
import type { WebMessage } from '../render/message.ts';

export type HistoryChange =
  | { readonly type: 'put'; readonly message: WebMessage }
  | { readonly type: 'removed'; readonly messages: readonly WebMessage[] };
type Follower = (change: HistoryChange) => void;

export type History = ReturnType<typeof createHistory>;

/** @param most messages of a channel that are kept */
export function createHistory(most: number) {
  const messages = new Map<string, WebMessage>();
  /** With what ends each of them. */
  const followers = new Map<Follower, () => void>();

  function tell(change: HistoryChange): void {
    for (const follower of followers.keys()) follower(change);
  }

  function remove(isMeant: (message: WebMessage) => boolean): void {
    const gone = [...messages.values()].filter(isMeant);
    if (gone.length === 0) return;
    for (const { id } of gone) messages.delete(id);
    tell({ type: 'removed', messages: gone });
  }

  return {
    /** Oldest first. */
    all: (): WebMessage[] => [...messages.values()],
    find: (id: string): WebMessage | undefined => messages.get(id),

    /** Adds the message, or puts it where its earlier state was. */
    put(message: WebMessage): void {
      messages.set(message.id, message);
      tell({ type: 'put', message });
      const there = [...messages.values()].filter(({ channel }) => channel === message.channel);
      const oldest = new Set(there.slice(0, Math.max(0, there.length - most)));
      remove((one) => oldest.has(one));
    },

    remove,

    /** Resolves when the signal aborts, or when all of it closes. */
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
