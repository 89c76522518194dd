/** Text that is still being written: the newest wins, one edit is in flight, the last state always stands. */
import type { Log } from '../../command.ts';
import type { Message } from '../../message.ts';
import { type MessageStream, PlatformError, type Posted } from '../platform.ts';
import type { Pace } from './pace.ts';

export interface StreamOptions {
  /** Makes the message stand, given what stood after the last write. `passing`: it will change again at once. */
  readonly write: (message: Message, state: { readonly passing: boolean }) => Promise<Posted>;
  readonly pace: Pace;
  readonly log: Log;
}

export function createStream({ write, pace, log }: StreamOptions): MessageStream {
  let newest: Message | undefined;
  let running = false;
  let closed = false;
  let inFlight: Promise<unknown> = Promise.resolve();

  async function run(): Promise<void> {
    running = true;
    while (newest !== undefined && !closed) {
      await pace.turn();
      const message: Message | undefined = newest;
      newest = undefined;
      if (closed || message === undefined) break;
      inFlight = write(message, { passing: true }).catch((error: unknown) => {
        log.debug({ err: error }, 'A passing state of a stream was not written');
        // A place that is closed will not open again while the text is written; the end says so.
        if (error instanceof PlatformError && error.code !== 'unavailable') closed = true;
      });
      await inFlight;
    }
    running = false;
  }

  return {
    update(message) {
      newest = message;
      if (!running && !closed) void run();
    },
    async close(message) {
      closed = true;
      await inFlight;
      await pace.open();
      return await write(message, { passing: false });
    },
  };
}
