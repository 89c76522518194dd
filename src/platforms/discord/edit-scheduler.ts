/** One row of edits for each channel: whatever changes there waits for what is in flight, and the newest state wins. */
import type { Log } from '../../command.ts';
import { troubleOf } from './errors.ts';

export interface EditSchedulerOptions {
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}

/** Discord takes about five edits in five seconds from a channel. */
const EDIT_EVERY_MS = 1_200;
/** After failures the pause grows to this. */
const LONGEST_PAUSE_MS = 15_000;

type Write = () => Promise<unknown>;

interface Lane {
  /** By message: the newest state that waits, in the order in which the messages began to wait. */
  readonly waiting: Map<string, Write>;
  /** Messages of which a state was written already: others' first words go before their next ones. */
  readonly begun: Set<string>;
  /** By message: its last write under way. */
  readonly underWay: Map<string, Promise<void>>;
  /** Resolves when nothing is in flight. */
  free: Promise<void>;
  /** When something was written here last, in milliseconds since the epoch. */
  writtenAt: number;
  running: boolean;
}

export interface WriteOptions {
  /** It carries files, which may take long: other messages of the channel need not wait for it. */
  readonly uploads: boolean;
}

/**
 * Streams offer states that the next one may replace; what must stand is written. A write that Discord limits holds
 * its channel back for as long as the REST client waits out Retry-After.
 */
export class EditScheduler {
  readonly #options: EditSchedulerOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #closing = new AbortController();

  constructor(options: EditSchedulerOptions) {
    this.#options = options;
  }

  /** Takes the newest state of a message, to be written when the channel's turn comes. Never waits and never throws. */
  offer(channel: string, message: string, write: Write): void {
    if (this.#closing.signal.aborted) return;
    const lane = this.#lane(channel);
    lane.waiting.set(message, write);
    if (!lane.running) void this.#run(channel, lane);
  }

  /** Writes what must stand, before everything that was offered. Rejects as `write` does. */
  async write<Value>(
    channel: string,
    message: string,
    write: () => Promise<Value>,
    options: WriteOptions,
  ): Promise<Value> {
    const lane = this.#lane(channel);
    lane.waiting.delete(message);
    const written = this.#enter(lane, message, write, options);
    if (!lane.running) void this.#run(channel, lane);
    try {
      return await written;
    } finally {
      this.#forget(channel, lane);
    }
  }

  /** Nothing more is taken; what is under way ends by itself. */
  close(): void {
    this.#closing.abort();
  }

  #lane(channel: string): Lane {
    const known = this.#lanes.get(channel);
    if (known) return known;
    const lane: Lane = {
      waiting: new Map(),
      begun: new Set(),
      underWay: new Map(),
      free: Promise.resolve(),
      writtenAt: Number.NEGATIVE_INFINITY,
      running: false,
    };
    this.#lanes.set(channel, lane);
    return lane;
  }

  #forget(channel: string, lane: Lane): void {
    if (!lane.running && lane.waiting.size === 0 && lane.underWay.size === 0) this.#lanes.delete(channel);
  }

  async #enter<Value>(
    lane: Lane,
    message: string,
    write: () => Promise<Value>,
    { uploads }: WriteOptions,
  ): Promise<Value> {
    const go = async (): Promise<Value> => {
      lane.writtenAt = this.#options.now();
      return await write();
    };
    const before = lane.underWay.get(message) ?? Promise.resolve();
    const written = before.then(() => {
      if (uploads) return go();
      const inTurn = lane.free.then(go);
      lane.free = settled(inTurn);
      return inTurn;
    });
    const underWay = settled(written);
    lane.underWay.set(message, underWay);
    try {
      return await written;
    } finally {
      if (lane.underWay.get(message) === underWay) lane.underWay.delete(message);
    }
  }

  async #run(channel: string, lane: Lane): Promise<void> {
    const { now, sleep, log } = this.#options;
    lane.running = true;
    let pause = EDIT_EVERY_MS;
    while (!this.#closing.signal.aborted) {
      // Whatever was written meanwhile counts, so the wait may begin again; a channel is forgotten after its pause.
      const wait = lane.writtenAt + pause - now();
      if (wait > 0) {
        await sleep(wait, this.#closing.signal);
        continue;
      }
      await lane.free;
      const [oldest] = lane.waiting;
      const next = lane.waiting.entries().find(([message]) => !lane.begun.has(message)) ?? oldest;
      if (!next) break;
      const [message, write] = next;
      lane.waiting.delete(message);
      lane.begun.add(message);
      try {
        await this.#enter(lane, message, write, { uploads: false });
        pause = EDIT_EVERY_MS;
      } catch (error) {
        log.debug({ err: error }, 'An edit of a stream failed');
        // What passes is tried again; the rest is left to the last write, whose failure is told.
        const isFinishing = lane.underWay.has(message);
        if (troubleOf(error) === 'unavailable' && !isFinishing && !lane.waiting.has(message))
          lane.waiting.set(message, write);
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      }
    }
    lane.running = false;
    this.#forget(channel, lane);
  }
}

const settled = (work: Promise<unknown>): Promise<void> =>
  work.then(
    () => undefined,
    () => undefined,
  );
