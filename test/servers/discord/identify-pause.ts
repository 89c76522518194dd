import { onTestFinished, vi } from 'vitest';

/** Discord allows one identify per shard in five seconds, so discord.js waits. */
const PAUSE_MS = 5_000;

/** Advances this process's clock past the pause until the test ends. */
export function passIdentifyPause(): void {
  const from = Date.now() + PAUSE_MS - performance.now();
  const spy = vi.spyOn(Date, 'now').mockImplementation(() => Math.floor(from + performance.now()));
  onTestFinished(() => spy.mockRestore());
}
