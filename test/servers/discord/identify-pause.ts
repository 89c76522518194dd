import { onTestFinished, vi } from 'vitest';

/** Discord takes one identify of a shard in five seconds, so discord.js waits for the rest of them. */
const PAUSE_MS = 5_000;

/** Moves the clock of this process, as if the last identify were longer ago, until the test ends. */
export function passIdentifyPause(): void {
  const from = Date.now() + PAUSE_MS - performance.now();
  const spy = vi.spyOn(Date, 'now').mockImplementation(() => Math.floor(from + performance.now()));
  onTestFinished(() => spy.mockRestore());
}
