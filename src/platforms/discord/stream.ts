import type { Log } from '../../command.ts';
import type { Message } from '../../message.ts';
import { type MessageStream, PlatformError, type Posted } from '../platform.ts';

export interface StreamDependencies {
  /** Makes the message stand; edits what an earlier call posted. */
  readonly write: (message: Message, streaming: boolean) => Promise<Posted>;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly now: () => number;
  readonly log: Log;
}

/** Discord takes about five edits in five seconds from a channel. */
const EDIT_EVERY_MS = 1_200;
/** After failures the pause grows to this. */
const LONGEST_PAUSE_MS = 15_000;

/** The newest message wins, one edit is in flight at a time, and the last state is always written. */
export function createStream({ write, sleep, now, log }: StreamDependencies): MessageStream {
  const closing = new AbortController();
  let newest: Message | undefined;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    let pause = EDIT_EVERY_MS;
    while (newest && !closing.signal.aborted) {
      const message = newest;
      newest = undefined;
      const startedAt = now();
      try {
        await write(message, true);
        pause = EDIT_EVERY_MS;
      } catch (error) {
        log.debug({ err: error }, 'An edit of a stream failed');
        // What passes is tried again; the rest is left to the last write, whose failure is told.
        if (error instanceof PlatformError && error.code === 'unavailable') newest ??= message;
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      }
      // An edit that waited for Retry-After has paused already.
      await sleep(Math.max(0, pause - (now() - startedAt)), closing.signal);
    }
    running = undefined;
  }

  return {
    update(message) {
      if (closing.signal.aborted) return;
      newest = message;
      running ??= run();
    },
    async close(message) {
      closing.abort();
      await running;
      return await write(message, false);
    },
  };
}
