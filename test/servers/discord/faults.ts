/** Scripted faults of Discord: 429, 5xx bursts, slow responses. Reports requests sent too early after a 429. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** JSON, or a proxy's error page. */
  body: object | string;
}

interface Burst {
  status: number;
  left: number;
  path: RegExp;
  afterTaking: boolean;
  body: object | string;
}

interface EditWindow {
  startedAt: number;
  used: number;
}

/** Clients read a response before they reuse its connection, so its time shows what the client can know. */
export interface Connection {
  answeredAt: number;
}

interface Block {
  readonly since: number;
  readonly until: number;
  /** Connections on which the client got the 429. */
  readonly notified: Set<Connection>;
}

/** Tolerates rounding of clocks, and responses on two connections. */
const TOLERANCE_MS = 20;
/** Requests are never in transit for longer. */
const LONGEST_WAY_MS = 1_000;

export class Faults {
  /** Requests that got a scripted 429. */
  readonly limited: string[] = [];
  readonly #bursts: Burst[] = [];
  readonly #blocked = new Map<string, Block>();
  readonly #edits = new Map<string, EditWindow>();
  #every: { nth: number; retryAfterMs: number } | undefined;
  #editLimit: { limit: number; perMs: number } | undefined;
  /** Called for each request (`METHOD path`) without another fault. */
  decide: ((request: string) => 'limit' | 'fail' | 'dropped' | 'answer lost' | undefined) | undefined;
  #global: { readonly retryAfterMs: number; block?: Block } | undefined;
  #count = 0;
  #delay: { ms: number; path: RegExp } | undefined;

  /** Every nth REST request is answered with 429. */
  limitEvery(nth: number, { retryAfterMs = 60 } = {}): void {
    this.#every = { nth, retryAfterMs };
  }

  /** Answers the bot's next request with the global 429 (50 requests a second). Its other requests then have to wait too. */
  limitGlobally(retryAfterMs: number): void {
    this.#global = { retryAfterMs };
  }

  /** Limits edits per channel and period, as Discord does. `X-RateLimit-*` headers announce the limit. */
  limitEdits(limit: number, perMs: number): void {
    this.#editLimit = { limit, perMs };
  }

  /**
   * Fails the next `times` requests whose `METHOD path` matches. With `afterTaking`, Discord executes the request and only
   * the response is lost, as when a proxy gives up.
   */
  fail(
    status: number,
    {
      times = 1,
      path = /./,
      afterTaking = false,
      body = { message: `${status}: scripted`, code: 0 } as object | string,
    } = {},
  ): void {
    this.#bursts.push({ status, left: times, path, afterTaking, body });
  }

  /** Ends all faults. */
  clear(): void {
    this.decide = undefined;
    this.#bursts.length = 0;
    this.#every = undefined;
    this.#editLimit = undefined;
    this.#delay = undefined;
  }

  /** Delays responses to matching requests; undefined ends the delay. */
  delay(ms: number | undefined, path = /./): void {
    this.#delay = ms === undefined ? undefined : { ms, path };
  }

  delayFor(request: string): number {
    return this.#delay?.path.test(request) ? this.#delay.ms : 0;
  }

  /** Returns the fault for a request, if any. `early` is set if the client ignored a Retry-After. */
  intercept(
    method: string,
    path: string,
    isBots: boolean,
    connection: Connection,
  ): {
    answer?: Answer;
    early?: string;
    afterTaking?: boolean;
    /** True if the connection breaks before the request is executed. */
    isDropped?: boolean;
    headers: Record<string, string>;
  } {
    const request = `${method} ${path}`;
    const bucket = bucketOf(method, path);
    const now = performance.now();
    const block = this.#blocked.get(bucket);
    const report =
      block && isEarly(block, now, connection)
        ? { early: `${request}: sent ${Math.ceil(block.until - now)} ms before Retry-After was over` }
        : {};
    const limit = (key: string, retryAfterMs: number) => this.#limit(request, key, retryAfterMs, connection);

    const global = isBots ? this.#global : undefined;
    if (global && !global.block) {
      const answer = limit(`global ${now}`, global.retryAfterMs);
      global.block = { since: now, until: now + global.retryAfterMs, notified: new Set([connection]) };
      return {
        answer: {
          ...answer,
          headers: { ...answer.headers, 'X-RateLimit-Global': 'true', 'X-RateLimit-Scope': 'global' },
        },
        headers: {},
      };
    }
    if (global?.block && isEarly(global.block, now, connection))
      return { early: `${request}: sent while the bot is limited globally`, headers: {} };

    this.#count += 1;
    if (this.#every && this.#count % this.#every.nth === 0) {
      return { ...report, answer: limit(bucket, this.#every.retryAfterMs), headers: {} };
    }
    const scripted = (
      status: number,
      afterTaking: boolean,
      body: object | string = { message: `${status}: scripted`, code: 0 },
    ) => ({
      ...report,
      answer: { status, headers: {}, body },
      afterTaking,
      headers: {},
    });
    const burst = this.#bursts.find((b) => b.left > 0 && b.path.test(request));
    if (burst) {
      burst.left -= 1;
      return scripted(burst.status, burst.afterTaking, burst.body);
    }
    const decided = this.decide?.(request);
    if (decided === 'limit') return { ...report, answer: limit(bucket, 1_000), headers: {} };
    if (decided === 'dropped') return { ...report, isDropped: true, headers: {} };
    if (decided) return scripted(503, decided === 'answer lost');
    const channel = method === 'PATCH' ? /^\/channels\/(\d+)\/messages\//.exec(path)?.[1] : undefined;
    const edit =
      this.#editLimit &&
      (channel ?? (method === 'PATCH' ? /^\/webhooks\/\d+\/([^/]+)\//.exec(path)?.[1] : undefined));
    if (!this.#editLimit || !edit) return { ...report, headers: {} };

    const { limit: most, perMs } = this.#editLimit;
    const last = this.#edits.get(edit);
    const window = last && now - last.startedAt < perMs ? last : { startedAt: now, used: 0 };
    this.#edits.set(edit, window);
    const resetMs = window.startedAt + perMs - now;
    if (window.used >= most) return { ...report, answer: limit(bucket, resetMs), headers: {} };
    window.used += 1;
    return {
      ...report,
      headers: {
        'X-RateLimit-Limit': String(most),
        'X-RateLimit-Remaining': String(most - window.used),
        'X-RateLimit-Reset-After': (resetMs / 1000).toFixed(3),
        'X-RateLimit-Reset': ((Date.now() + resetMs) / 1000).toFixed(3),
        'X-RateLimit-Bucket': `edits`,
      },
    };
  }

  #limit(request: string, bucket: string, retryAfterMs: number, connection: Connection): Answer {
    this.limited.push(request);
    const now = performance.now();
    const previous = this.#blocked.get(bucket);
    const { since, notified } =
      previous && now < previous.until ? previous : { since: now, notified: new Set<Connection>() };
    this.#blocked.set(bucket, { since, until: now + retryAfterMs, notified: notified.add(connection) });
    const seconds = (retryAfterMs / 1000).toFixed(3);
    return {
      status: 429,
      headers: { 'Retry-After': seconds, 'X-RateLimit-Scope': 'user', 'X-RateLimit-Reset-After': seconds },
      body: { message: 'You are being rate limited.', retry_after: Number(seconds), global: false },
    };
  }
}

/** Requests in transit when the 429 was sent do not count. */
function isEarly({ since, until, notified }: Block, now: number, connection: Connection): boolean {
  const isKnown =
    notified.has(connection) || connection.answeredAt > since + TOLERANCE_MS || now > since + LONGEST_WAY_MS;
  return isKnown && now + TOLERANCE_MS < until;
}

/** Requests share a limit if they have the same route and the same channel, guild or webhook. */
function bucketOf(method: string, path: string): string {
  const route = path
    .replace(/^\/(channels|guilds|webhooks)\/(\d+)(\/[\w.-]{40,})?/, (whole) => whole.replaceAll('/', ':'))
    .replace(/^\/interactions\/(\d+)\/.*/, ':interactions:$1');
  return `${method} ${route.replace(/\/\d{15,}/g, '/:id')}`;
}
