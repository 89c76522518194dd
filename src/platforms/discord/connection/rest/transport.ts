/**
 * How the requests of discord.js go out: by undici, and within those that a bot may make in a second. Its replicas share
 * these: they are leased in batches, so that few requests ask Redis.
 */
import { STATUS_CODES } from 'node:http';
import type { RESTOptions } from 'discord.js';
import { type Dispatcher, Headers, request } from 'undici';
import type { Replicas } from '../../../../core/replicas.ts';
import type { System } from '../../../../core/system.ts';
import { UnreadableFile } from '../../deliver/payload.ts';

type MakeRequest = RESTOptions['makeRequest'];
type Lessor = Pick<Replicas, 'take' | 'block'>;

const BUDGET = 'discord requests';
/** https://docs.discord.com/developers/topics/rate-limits#global-rate-limit */
const PER_SECOND = 50;
/** A batch lapses with its second, so more would be kept from other replicas. */
const LARGEST_BATCH = 10;
/** Routes whose Retry-After is remembered, the latest ones. */
const REMEMBERED = 100;
/** While storage cannot be asked: five replicas together stay below the limit. */
const ALONE_PER_SECOND = 10;

interface RequestBudgetOptions extends Pick<System, 'elapsed' | 'sleep'> {
  /** Of all replicas; this process alone without them. */
  readonly replicas?: Lessor | undefined;
  readonly signal: AbortSignal;
}

/** Makes requests as `request` does, each when the budget of the bot's token allows it. */
export function createRequestBudget({ replicas, elapsed, sleep, signal }: RequestBudgetOptions) {
  const own = createLessor(elapsed);
  const lessor = replicas ?? own;
  let batch = { left: 0, until: Number.NEGATIVE_INFINITY };
  let leasing: Promise<void> | undefined;
  let waiting = 0;
  /** Requests of the last two seconds, by second. */
  let used = { second: 0, now: 0, before: 0 };

  /** By route and its major id: when Retry-After is over. */
  const limited = new Map<string, number>();

  /** What waited for the budget was let go by discord.js before its route was limited. */
  async function waitOut(route: string): Promise<void> {
    for (let left = leftOf(route); left > 0 && !signal.aborted; left = leftOf(route))
      await sleep(left, signal);
  }

  const leftOf = (route: string): number => (limited.get(route) ?? 0) - elapsed();

  function remember(route: string, milliseconds: number): void {
    const until = Math.max(limited.get(route) ?? 0, elapsed() + milliseconds);
    limited.delete(route);
    limited.set(route, until);
    const [oldest] = limited.size > REMEMBERED ? limited.keys() : [];
    if (oldest !== undefined) limited.delete(oldest);
  }

  function count(): void {
    const second = Math.floor(elapsed() / 1_000);
    if (second !== used.second) used = { second, now: 0, before: second === used.second + 1 ? used.now : 0 };
    used.now += 1;
  }

  /** One at a time while there is little to do; more at a time, the more there is. */
  const wanted = () =>
    Math.min(LARGEST_BATCH, Math.max(waiting, Math.ceil(Math.max(used.now, used.before) / 5)));

  async function lease(): Promise<void> {
    const askedAt = elapsed();
    const request = { perSecond: PER_SECOND, wanted: wanted() };
    const { granted, milliseconds } = await lessor
      .take(BUDGET, request)
      .catch(() => own.take(BUDGET, { ...request, perSecond: ALONE_PER_SECOND }));
    if (granted > 0) batch = { left: granted, until: askedAt + milliseconds };
    else await sleep(milliseconds, signal);
  }

  async function take(): Promise<void> {
    waiting += 1;
    try {
      while ((batch.left <= 0 || elapsed() >= batch.until) && !signal.aborted) {
        leasing ??= lease().finally(() => {
          leasing = undefined;
        });
        await leasing;
      }
      batch.left -= 1;
      count();
    } finally {
      waiting -= 1;
    }
  }

  return {
    limiting:
      (request: MakeRequest): MakeRequest =>
      async (url, init) => {
        // discord.js passes a plain object. What answers an interaction carries no token of the bot, and does not count.
        if (!Reflect.has(Object(init.headers), 'Authorization')) return await request(url, init);
        const route = `${init.method} ${routeOf(url)}`;
        await take();
        await waitOut(route);
        init.signal?.throwIfAborted();
        const response = await request(url, init);
        const seconds = Number(response.headers.get('retry-after'));
        if (response.status !== 429 || !(seconds > 0)) return response;
        if (response.headers.get('x-ratelimit-global') === null) remember(route, seconds * 1_000);
        else {
          batch.left = 0;
          await lessor.block(BUDGET, seconds * 1_000).catch(() => undefined);
        }
        return response;
      },
  };
}

/** Without the ids that are not major: https://docs.discord.com/developers/topics/rate-limits#rate-limits. */
function routeOf(url: string): string {
  const [first = '', second = '', ...rest] = new URL(url).pathname.split('/').slice(3);
  return [first, second, ...rest.map((part) => (/^\d{15,}$/.test(part) ? ':id' : part))].join('/');
}

/** The budget of one process. */
function createLessor(elapsed: () => number): Lessor {
  let second = 0;
  let taken = 0;
  let blockedUntil = 0;
  return {
    async take(_budget, { perSecond, wanted }) {
      const now = elapsed();
      if (now < blockedUntil) return { granted: 0, milliseconds: blockedUntil - now };
      if (Math.floor(now / 1_000) !== second) taken = 0;
      second = Math.floor(now / 1_000);
      const granted = Math.max(0, Math.min(wanted, perSecond - taken));
      taken += granted;
      return { granted, milliseconds: 1_000 - (now % 1_000) };
    },
    async block(_budget, milliseconds) {
      blockedUntil = elapsed() + milliseconds;
    },
  };
}

/**
 * For discord.js's `makeRequest`. A response is read whole before it resolves, because an unread one keeps its connection in
 * use.
 */
export const sendRequest: RESTOptions['makeRequest'] = async (url, { method, headers, body, signal }) => {
  try {
    // discord.js passes names of methods, plain objects, and text or what `formOf` made; its types are those of fetch.
    const options = { method, headers, body, signal } as unknown as Dispatcher.DispatchOptions;
    const { statusCode: status, headers: told, body: content } = await request(url, options);
    const bytes = await content.arrayBuffer();
    const text = () => new TextDecoder().decode(bytes);
    return {
      body: null,
      bodyUsed: true,
      arrayBuffer: async () => bytes,
      text: async () => text(),
      json: async () => JSON.parse(text()),
      headers: new Headers(Object.entries(told).map(([name, value]) => [name, String(value)])),
      ok: status >= 200 && status < 300,
      status,
      statusText: STATUS_CODES[status] ?? '',
    };
  } catch (error) {
    if (error instanceof UnreadableFile || signal?.aborted) throw error;
    // The library tries again what has this code.
    throw Object.assign(new Error('The connection to Discord failed', { cause: error }), {
      code: 'ECONNRESET',
    });
  }
};
