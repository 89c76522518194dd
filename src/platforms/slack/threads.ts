/** Which threads the bot takes part in, so that busy channels cost no reading. */

/** A thread without the bot is looked at again after this long: somebody may have pressed a button in it. */
const FOREIGN_MS = 10 * 60_000;
const MOST = 10_000;

export interface ThreadMemory {
  joined(channel: string, thread: string): void;
  isJoined(channel: string, thread: string): boolean;
  foreign(channel: string, thread: string): void;
  isForeign(channel: string, thread: string): boolean;
}

/** A restart forgets it; the thread itself then tells. */
export function createThreadMemory(now: () => number): ThreadMemory {
  const joined = new Set<string>();
  const foreignUntil = new Map<string, number>();
  const keyOf = (channel: string, thread: string): string => `${channel}:${thread}`;
  return {
    joined(channel, thread) {
      if (joined.size >= MOST) joined.clear();
      joined.add(keyOf(channel, thread));
      foreignUntil.delete(keyOf(channel, thread));
    },
    isJoined: (channel, thread) => joined.has(keyOf(channel, thread)),
    foreign(channel, thread) {
      if (foreignUntil.size >= MOST) foreignUntil.clear();
      foreignUntil.set(keyOf(channel, thread), now() + FOREIGN_MS);
    },
    isForeign: (channel, thread) => (foreignUntil.get(keyOf(channel, thread)) ?? 0) > now(),
  };
}
