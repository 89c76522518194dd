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
  /** The messages that each person cleared last, by channel and person. */
  const cleared = new Map<string, readonly WebMessage[]>();
  /** Each follower with the function that ends it. */
  const followers = new Map<Follower, () => void>();

  function notify(change: HistoryChange): void {
    for (const follower of followers.keys()) follower(change);
  }

  function remove(matches: (message: WebMessage) => boolean): WebMessage[] {
    const removed = [...messages.values()].filter(matches);
    for (const { id } of removed) messages.delete(id);
    if (removed.length > 0) notify({ type: 'removed', messages: removed });
    return removed;
  }

  /** Oldest first. A message that was restored is older than its place in the map. */
  const all = (): WebMessage[] => [...messages.values()].toSorted((left, right) => left.at - right.at);

  /** Adds the message, or replaces its earlier state in place, with its time. */
  function put(newest: WebMessage): void {
    const message = { ...newest, at: messages.get(newest.id)?.at ?? newest.at };
    messages.set(message.id, message);
    notify({ type: 'put', message });
    const inChannel = all().filter(({ channel }) => channel === message.channel);
    const oldest = new Set(inChannel.slice(0, Math.max(0, inChannel.length - limit)));
    remove((entry) => oldest.has(entry));
  }

  return {
    all,
    find: (id: string): WebMessage | undefined => messages.get(id),
    put,

    /** Removes what the person sees in a channel, until {@link restore}. */
    clear(channel: string, person: string): void {
      const removed = remove((entry) => entry.channel === channel && (entry.to ?? person) === person);
      cleared.set(`${channel} ${person}`, removed);
    },

    restore(channel: string, person: string): void {
      for (const message of cleared.get(`${channel} ${person}`) ?? []) {
        // A running job may have posted it again. The newer state stays.
        if (!messages.has(message.id)) put(message);
      }
      cleared.delete(`${channel} ${person}`);
    },

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
