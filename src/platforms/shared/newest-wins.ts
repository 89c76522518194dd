/** The writer of texts that grow: one write is in flight, and what comes meanwhile replaces what waited. */
export interface NewestWinsOptions<State> {
  /** Resolves when the next write may be made. What waits is written anew by then. */
  readonly ready: (waiting: State) => Promise<void>;
  readonly write: (state: State) => Promise<void>;
  /** A write or the wait for it failed. What is offered next is written all the same. */
  readonly failed: (error: unknown) => void;
}

export interface NewestWins<State> {
  /** Never blocks and never throws. */
  offer(state: State): void;
  /** Takes no further states. Resolves when no write is in flight, so that the last state can be written. */
  close(): Promise<void>;
}

export function createNewestWins<State>({
  ready,
  write,
  failed,
}: NewestWinsOptions<State>): NewestWins<State> {
  let waiting: { readonly state: State } | undefined;
  let running = false;
  let closed = false;
  let inFlight = Promise.resolve();

  async function run(): Promise<void> {
    running = true;
    while (waiting !== undefined && !closed) {
      const isReady = await ready(waiting.state).then(
        () => true,
        (error: unknown) => failed(error),
      );
      if (closed || !isReady) break;
      const { state } = waiting;
      waiting = undefined;
      inFlight = write(state).catch(failed);
      await inFlight;
    }
    running = false;
  }

  return {
    offer(state) {
      if (closed) return;
      waiting = { state };
      if (!running) void run();
    },
    async close() {
      closed = true;
      await inFlight;
    },
  };
}
