/** One queue of edits for each budget that Discord has: a change waits for those in flight, the newest state of a message wins. */
import type { APIRequest, ResponseLike } from 'discord.js';
import type { System } from '../../../core/system.ts';
import { troubleOf } from '../errors.ts';

/** Where Discord tells nothing: about five edits in five seconds from a channel. */
const EDIT_EVERY_MS = 1_200;
/** Of all queues together: Discord takes 50 requests a second from a bot, and other things have to be said too. */
const EDITS_PER_SECOND = 40;
/** After failures the pause grows to this. */
const LONGEST_PAUSE_MS = 15_000;

type Write = () => Promise<unknown>;

interface Queue {
  /** The newest waiting state of each message. The message that has waited longest comes first. */
  readonly waiting: Map<string, Write>;
  /** Messages with a state written already: the first words of others go before their next ones. */
  readonly begun: Set<string>;
  /** By message: its last write in flight. */
  readonly inFlight: Map<string, Promise<void>>;
  /** Resolves when no write is in flight, except uploads. */
  free: Promise<void>;
  /** When the last edit began, by a clock that is never set. */
  writtenAt: number;
  running: boolean;
}

interface SchedulerOptions extends Pick<System, 'elapsed' | 'sleep' | 'log'> {
  /** Milliseconds until a queue's next edit as Discord tells it; undefined where it told nothing. */
  readonly pauseOf?: (queue: string) => number | undefined;
}

export interface WriteOptions {
  /** The message carries files, which may take long: other messages of the channel need not wait for it. */
  readonly uploads: boolean;
  /** The message is not there yet. Discord counts posts apart from edits, so an edit need not wait after one. */
  readonly posts: boolean;
}

/**
 * Streams offer states that the next one may replace; final states are written. A write that Discord limits delays its
 * channel for as long as the REST client waits out Retry-After.
 */
export function createEditScheduler({ elapsed, sleep, log, pauseOf = () => undefined }: SchedulerOptions) {
  const queues = new Map<string, Queue>();
  const closing = new AbortController();

  function queueOf(channel: string): Queue {
    const known = queues.get(channel);
    if (known) return known;
    const queue: Queue = {
      waiting: new Map(),
      begun: new Set(),
      inFlight: new Map(),
      free: Promise.resolve(),
      writtenAt: Number.NEGATIVE_INFINITY,
      running: false,
    };
    queues.set(channel, queue);
    return queue;
  }

  function forget(channel: string, queue: Queue): void {
    if (!queue.running && queue.waiting.size === 0 && queue.inFlight.size === 0) queues.delete(channel);
  }

  async function enter<Value>(
    queue: Queue,
    message: string,
    write: () => Promise<Value>,
    { uploads, posts }: WriteOptions,
  ): Promise<Value> {
    const go = async (): Promise<Value> => {
      if (!posts) queue.writtenAt = elapsed();
      return await write();
    };
    const before = queue.inFlight.get(message) ?? Promise.resolve();
    const written = before.then(() => {
      if (uploads) return go();
      const afterOthers = queue.free.then(go);
      queue.free = settled(afterOthers);
      return afterOthers;
    });
    const inFlight = settled(written);
    queue.inFlight.set(message, inFlight);
    try {
      return await written;
    } finally {
      if (queue.inFlight.get(message) === inFlight) queue.inFlight.delete(message);
    }
  }

  /** Counted from the beginning of the last edit, and from Discord's answer if it named a time. */
  function pauseAfterEdit(channel: string, { writtenAt }: Queue): number {
    const told = pauseOf(channel);
    const pause = told === undefined ? EDIT_EVERY_MS : elapsed() - writtenAt + told;
    return Math.max(pause, (queues.size * 1_000) / EDITS_PER_SECOND);
  }

  async function run(channel: string, queue: Queue): Promise<void> {
    queue.running = true;
    let pause = EDIT_EVERY_MS;
    while (!closing.signal.aborted) {
      // Writes meanwhile count too, so the wait may begin again; a channel is forgotten after its pause.
      const wait = queue.writtenAt + pause - elapsed();
      if (wait > 0) {
        await sleep(wait, closing.signal);
        continue;
      }
      await queue.free;
      const [oldest] = queue.waiting;
      const next = queue.waiting.entries().find(([message]) => !queue.begun.has(message)) ?? oldest;
      if (!next) break;
      const [message, write] = next;
      queue.waiting.delete(message);
      queue.begun.add(message);
      try {
        await enter(queue, message, write, { uploads: false, posts: false });
        pause = pauseAfterEdit(channel, queue);
      } catch (error) {
        log.debug({ err: error }, 'An edit of a stream failed');
        // A failure that may pass is tried again; for others the final write comes, and its failure is reported.
        const isFinishing = queue.inFlight.has(message);
        if (troubleOf(error) === 'unavailable' && !isFinishing && !queue.waiting.has(message))
          queue.waiting.set(message, write);
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      }
    }
    queue.running = false;
    forget(channel, queue);
  }

  return {
    /** Takes the newest state of a message, to be written as soon as the channel allows it. Never blocks and never throws. */
    offer(channel: string, message: string, write: Write): void {
      if (closing.signal.aborted) return;
      const queue = queueOf(channel);
      queue.waiting.set(message, write);
      if (!queue.running) void run(channel, queue);
    },

    /** Writes a final state, before everything that was offered. Rejects as `write` does. */
    async write<Value>(
      channel: string,
      message: string,
      write: () => Promise<Value>,
      options: WriteOptions,
    ): Promise<Value> {
      const queue = queueOf(channel);
      queue.waiting.delete(message);
      const written = enter(queue, message, write, options);
      if (!queue.running) void run(channel, queue);
      try {
        return await written;
      } finally {
        forget(channel, queue);
      }
    },

    /** Takes no further states; writes in flight end by themselves. */
    close(): void {
      closing.abort();
    },
  };
}

const settled = async (work: Promise<unknown>): Promise<void> => void (await work.catch(() => undefined));

/** The channel, or the interaction's token, whose messages share one budget of edits. */
const EDITED = /\/(?:channels|webhooks\/\d+)\/([^/]+)\/messages\/[^/]+$/;
/** Budgets that are remembered, the latest ones. */
const REMEMBERED = 1_000;

interface Budget {
  readonly remaining: number;
  /** By a clock that is never set. */
  readonly resetAt: number;
}

/** How many edits Discord still takes, by its own headers: https://docs.discord.com/developers/topics/rate-limits. */
export interface EditBudgets {
  /** Reads what the answer to a request tells. */
  readonly read: (
    request: Pick<APIRequest, 'method' | 'path'>,
    response: Pick<ResponseLike, 'headers'>,
  ) => void;
  /**
   * Milliseconds until the next edit, so that what remains is spread over the time until it is renewed. Undefined where Discord told
   * nothing, or what it told is over. `edited`: channels and tokens.
   */
  readonly pause: (edited: readonly string[]) => number | undefined;
}

export function createEditBudgets(elapsed: () => number): EditBudgets {
  const budgets = new Map<string, Budget>();

  function read(
    { method, path }: Pick<APIRequest, 'method' | 'path'>,
    { headers }: Pick<ResponseLike, 'headers'>,
  ): void {
    const [, edited] = method === 'PATCH' ? (EDITED.exec(path) ?? []) : [];
    const remaining = headers.get('x-ratelimit-remaining');
    const seconds = headers.get('x-ratelimit-reset-after');
    if (edited === undefined || remaining === null || seconds === null) return;
    budgets.delete(edited);
    budgets.set(edited, { remaining: Number(remaining), resetAt: elapsed() + Number(seconds) * 1_000 });
    const [oldest] = budgets.size > REMEMBERED ? budgets.keys() : [];
    if (oldest !== undefined) budgets.delete(oldest);
  }

  return {
    read,
    pause(edited) {
      const pauses = edited.flatMap((key) => {
        const budget = budgets.get(key);
        const left = budget ? budget.resetAt - elapsed() : Number.NaN;
        return budget && left >= 0 ? left / (budget.remaining + 1) : [];
      });
      return pauses.length === 0 ? undefined : Math.max(...pauses);
    },
  };
}
