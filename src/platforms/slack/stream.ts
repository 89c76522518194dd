/** Text that is still being written: the newest wins, one edit is in flight, the last state always stands. */
import type { Address, Log } from '../../command.ts';
import type { Message } from '../../message.ts';
import { type MessageStream, PlatformError, type Posted, type ShowOptions } from '../platform.ts';
import type { Pace } from './pace.ts';
import type { ShowTools } from './post.ts';
import { show } from './show.ts';
import type { Workspace } from './workspaces.ts';

interface StreamOptions extends Pick<Pace, 'turn' | 'open'> {
  /** Makes the message stand, given what stood after the last write. `passing`: it will change again at once. */
  readonly write: (message: Message, state: { readonly passing: boolean }) => Promise<Posted>;
  readonly log: Log;
}

function createStream({ write, turn, open, log }: StreamOptions): MessageStream {
  let newest: Message | undefined;
  let running = false;
  let closed = false;
  let inFlight: Promise<unknown> = Promise.resolve();

  async function run(): Promise<void> {
    running = true;
    while (newest !== undefined && !closed) {
      try {
        await turn();
      } catch {
        // The end says why.
        break;
      }
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
      await open();
      return await write(message, { passing: false });
    },
  };
}

/** What a stream needs of the workspace that it writes in. */
export type StreamTools = Omit<ShowTools, keyof Workspace>;

/** See Platform.stream. What stands after each write is remembered. */
export function streamTo(
  address: Address,
  options: ShowOptions,
  opening: Promise<Workspace>,
  tools: StreamTools,
): MessageStream {
  let { posted } = options;
  const remember: ShowOptions['remember'] = async (state) => {
    posted = state;
    await options.remember(state);
  };
  // Whoever writes or closes hears of it.
  opening.catch(() => undefined);
  return createStream({
    turn: async () => (await opening).pace.turn(),
    open: async () => (await opening).pace.open(),
    log: tools.log,
    write: async (message, { passing }) => {
      const workspace = await opening;
      posted = await show(
        address,
        message,
        { ...options, posted, remember },
        { ...tools, ...workspace, passing },
      );
      return posted;
    },
  });
}
