import { randomInt } from 'node:crypto';

const DISCORD_EPOCH = 1_420_070_400_000n;

/** Creates ids like Discord's: milliseconds since 2015 in the high bits, a counter in the low ones. Unique across servers. */
export function snowflakes(now: () => number): () => string {
  let counter = BigInt(randomInt(0x1fffff));
  return () => {
    counter = (counter + 1n) & 0x3fffffn;
    return (((BigInt(Math.floor(now())) - DISCORD_EPOCH) << 22n) | counter).toString();
  };
}
