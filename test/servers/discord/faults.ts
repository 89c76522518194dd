/** Scripted faults of Discord: 429s, 5xx bursts, slow answers. Requests that come too early after a 429 are reported. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** JSON, or the page of a proxy. */
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

/** A client sends on a connection when it has read the answer before: when that was made tells what the client may know. */
export interface Connection {
  answeredAt: number;
}

interface Block {
  readonly since: number;
  readonly until: number;
  /** Those on which the client was told. */
  readonly told: Set<Connection>;
}

/** A grain for clocks that disagree by rounding, and for answers on two connections. */
const TOLERANCE_MS = 20;
/** No request is on its way for so long. */
const LONGEST_WAY_MS = 1_000;

export class Faults {
  /** Requests that got a scripted 429. */
  readonly limited: string[] = [];
  readonly #bursts: Burst[] = [];
  readonly #blocked = new Map<string, Block>();
  readonly #edits = new Map<string, EditWindow>();
  #every: { nth: number; retryAfterMs: number } | undefined;
  #editLimit: { limit: number; perMs: number } | undefined;
  /** Decides on each request, `METHOD path`, that meets no other fault. */
  decide: ((request: string) => 'limit' | 'fail' | 'dropped' | 'answer lost' | undefined) | undefined;
  #global: { readonly retryAfterMs: number; block?: Block } | undefined;
  #count = 0;
  #delay: { ms: number; path: RegExp } | undefined;

  /** Every nth REST request is answered with 429. */
  limitEvery(nth: number, { retryAfterMs = 60 } = {}): void {
    this.#every = { nth, retryAfterMs };
  }

  /** The next request with the bot's token is refused as one too many of the bot's 50 a second; others of it then have to wait, too. */
  limitGlobally(retryAfterMs: number): void {
    this.#global = { retryAfterMs };
  }

  /** As Discord limits message edits: so many per channel in a span; `X-RateLimit-*` headers tell it beforehand. */
  limitEdits(limit: number, perMs: number): void {
    this.#editLimit = { limit, perMs };
  }

  /**
   * The next `times` requests whose `METHOD path` matches fail with a status. With `afterTaking` Discord does what was
   * asked and only the answer is lost, as when a proxy gives up.
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

  /** Ends all of them. */
  clear(): void {
    this.decide = undefined;
    this.#bursts.length = 0;
    this.#every = undefined;
    this.#editLimit = undefined;
    this.#delay = undefined;
  }

  /** Answers to matching requests are held back for so long; undefined ends it. */
  delay(ms: number | undefined, path = /./): void {
    this.#delay = ms === undefined ? undefined : { ms, path };
  }

  delayFor(request: string): number {
    return this.#delay?.path.test(request) ? this.#delay.ms : 0;
  }

  /** What to answer instead of serving, if anything. `early` says that the client ignored a Retry-After. */
  intercept(
    method: string,
    path: string,
    isBots: boolean,
    connection: Connection,
  ): {
    answer?: Answer;
    early?: string;
    afterTaking?: boolean;
    /** The connection breaks before anything was done. */
    isDropped?: boolean;
    headers: Record<string, string>;
  } {
    const request = `${method} ${path}`;
    const bucket = bucketOf(method, path);
    const now = performance.now();
    const block = this.#blocked.get(bucket);
    const told =
      block && isEarly(block, now, connection)
        ? { early: `${request}: sent ${Math.ceil(block.until - now)} ms before Retry-After was over` }
        : {};
    const limit = (key: string, retryAfterMs: number) => this.#limit(request, key, retryAfterMs, connection);

    const global = isBots ? this.#global : undefined;
    if (global && !global.block) {
      const answer = limit(`global ${now}`, global.retryAfterMs);
      global.block = { since: now, until: now + global.retryAfterMs, told: new Set([connection]) };
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
      return { ...told, answer: limit(bucket, this.#every.retryAfterMs), headers: {} };
    }
    const scripted = (
      status: number,
      afterTaking: boolean,
      body: object | string = { message: `${status}: scripted`, code: 0 },
    ) => ({
      ...told,
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
    if (decided === 'limit') return { ...told, answer: limit(bucket, 1_000), headers: {} };
    if (decided === 'dropped') return { ...told, isDropped: true, headers: {} };
    if (decided) return scripted(503, decided === 'answer lost');
    const channel = method === 'PATCH' ? /^\/channels\/(\d+)\/messages\//.exec(path)?.[1] : undefined;
    const edit =
      this.#editLimit &&
      (channel ?? (method === 'PATCH' ? /^\/webhooks\/\d+\/([^/]+)\//.exec(path)?.[1] : undefined));
    if (!this.#editLimit || !edit) return { ...told, headers: {} };

    const { limit: most, perMs } = this.#editLimit;
    const last = this.#edits.get(edit);
    const window = last && now - last.startedAt < perMs ? last : { startedAt: now, used: 0 };
    this.#edits.set(edit, window);
    const resetMs = window.startedAt + perMs - now;
    if (window.used >= most) return { ...told, answer: limit(bucket, resetMs), headers: {} };
    window.used += 1;
    return {
      ...told,
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
    const before = this.#blocked.get(bucket);
    const { since, told } =
      before && now < before.until ? before : { since: now, told: new Set<Connection>() };
    this.#blocked.set(bucket, { since, until: now + retryAfterMs, told: told.add(connection) });
    const seconds = (retryAfterMs / 1000).toFixed(3);
    return {
      status: 429,
      headers: { 'Retry-After': seconds, 'X-RateLimit-Scope': 'user', 'X-RateLimit-Reset-After': seconds },
      body: { message: 'You are being rate limited.', retry_after: Number(seconds), global: false },
    };
  }
}

/** What was on its way when the 429 was answered could not know of it. */
function isEarly({ since, until, told }: Block, now: number, connection: Connection): boolean {
  const isKnown =
    told.has(connection) || connection.answeredAt > since + TOLERANCE_MS || now > since + LONGEST_WAY_MS;
  return isKnown && now + TOLERANCE_MS < until;
}

/** Requests that share a limit: the same route and the same channel, guild or webhook. */
function bucketOf(method: string, path: string): string {
  const route = path
    .replace(/^\/(channels|guilds|webhooks)\/(\d+)(\/[\w.-]{40,})?/, (whole) => whole.replaceAll('/', ':'))
    .replace(/^\/interactions\/(\d+)\/.*/, ':interactions:$1');
  return `${method} ${route.replace(/\/\d{15,}/g, '/:id')}`;
}
