/** A stream of numbers that depends only on its seed, so that a prompt always gives the same media. */
export type Random = ReturnType<typeof createRandom>;

/** Returns the 32-bit FNV-1a hash of a text as an unsigned integer. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** Mulberry32, seeded with the hash of a text. */
export function createRandom(seed: string) {
  let state = hashText(seed);
  /** Returns a number in [0, 1). */
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  /** Returns an integer in [0, count). */
  const integer = (count: number): number => Math.floor(next() * count);
  return {
    next,
    integer,
    /** Returns a number in [low, high). */
    between: (low: number, high: number): number => low + (high - low) * next(),
    chance: (probability: number): boolean => next() < probability,
    /** Returns one of the values. Throws RangeError for an empty list. */
    pick<Value>(values: readonly Value[]): Value {
      const value = values[integer(values.length)];
      if (value === undefined) throw new RangeError('nothing to pick from');
      return value;
    },
  };
}
