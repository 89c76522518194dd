/** Writes the latest state of a growing text: one write is in flight, and a new state replaces the waiting one. */
export interface NewestWinsOptions<State> {
  /** Resolves when the next write may start. The state may change until then. */
  readonly ready: (waiting: State) => Promise<void>;
  readonly write: (state: State) => Promise<void>;
  /** Called if a write or the wait before it fails. Later states are still written. */
  readonly failed: (error: unknown) => void;
}

export interface NewestWins<State> {
  /** Never blocks and never throws. */
  offer(state: State): void;
  /** Accepts no further states. Resolves when no write is in flight, so the caller can write the final state. */
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
