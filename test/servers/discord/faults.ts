/** Scripted faults of Discord: 429s, 5xx bursts, slow answers. Requests that come too early after a 429 are reported. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: object;
}

interface Burst {
  status: number;
  left: number;
  path: RegExp;
  afterTaking: boolean;
}

interface EditWindow {
  startedAt: number;
  used: number;
}

/** A grain for clocks that disagree by rounding. */
const TOLERANCE_MS = 20;

export class Faults {
  /** Requests that got a scripted 429. */
  readonly limited: string[] = [];
  readonly #bursts: Burst[] = [];
  readonly #blocked = new Map<string, { readonly since: number; readonly until: number }>();
  readonly #edits = new Map<string, EditWindow>();
  #every: { nth: number; retryAfterMs: number } | undefined;
  #editLimit: { limit: number; perMs: number } | undefined;
  /** Decides on each request, `METHOD path`, that meets no other fault. */
  decide: ((request: string) => 'limit' | 'fail' | 'dropped' | 'answer lost' | undefined) | undefined;
  #global: { retryAfterMs: number; since: number; until: number } | undefined;
  #count = 0;
  #delay: { ms: number; path: RegExp } | undefined;

  /** Every nth REST request is answered with 429. */
  limitEvery(nth: number, { retryAfterMs = 60 } = {}): void {
    this.#every = { nth, retryAfterMs };
  }

  /** The next request with the bot's token is refused as one too many of the bot's 50 a second; others of it then have to wait, too. */
  limitGlobally(retryAfterMs: number): void {
    this.#global = { retryAfterMs, since: Number.POSITIVE_INFINITY, until: 0 };
  }

  /** As Discord limits message edits: so many per channel in a span; `X-RateLimit-*` headers tell it beforehand. */
  limitEdits(limit: number, perMs: number): void {
    this.#editLimit = { limit, perMs };
  }

  /**
   * The next `times` requests whose `METHOD path` matches fail with a status. With `afterTaking` Discord does what was
   * asked and only the answer is lost, as when a proxy gives up.
   */
  fail(status: number, { times = 1, path = /./, afterTaking = false } = {}): void {
    this.#bursts.push({ status, left: times, path, afterTaking });
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
    const { since, until } = this.#blocked.get(bucket) ?? { since: 0, until: 0 };
    // What was on its way when the 429 was answered could not know of it.
    const early =
      now + TOLERANCE_MS < until && now > since + TOLERANCE_MS
        ? `${request}: sent ${Math.ceil(until - now)} ms before Retry-After was over`
        : undefined;
    const told = early === undefined ? {} : { early };

    const global = isBots ? this.#global : undefined;
    if (global && global.until === 0) {
      Object.assign(global, { since: now, until: now + global.retryAfterMs });
      const answer = this.#limit(request, `global ${now}`, global.retryAfterMs);
      return {
        answer: {
          ...answer,
          headers: { ...answer.headers, 'X-RateLimit-Global': 'true', 'X-RateLimit-Scope': 'global' },
        },
        headers: {},
      };
    }
    if (global && now + TOLERANCE_MS < global.until && now > global.since + TOLERANCE_MS)
      return { early: `${request}: sent while the bot is limited globally`, headers: {} };

    this.#count += 1;
    if (this.#every && this.#count % this.#every.nth === 0) {
      return { ...told, answer: this.#limit(request, bucket, this.#every.retryAfterMs), headers: {} };
    }
    const scripted = (status: number, afterTaking: boolean) => ({
      ...told,
      answer: { status, headers: {}, body: { message: `${status}: scripted`, code: 0 } },
      afterTaking,
      headers: {},
    });
    const burst = this.#bursts.find((b) => b.left > 0 && b.path.test(request));
    if (burst) {
      burst.left -= 1;
      return scripted(burst.status, burst.afterTaking);
    }
    const decided = this.decide?.(request);
    if (decided === 'limit') return { ...told, answer: this.#limit(request, bucket, 1_000), headers: {} };
    if (decided === 'dropped') return { ...told, isDropped: true, headers: {} };
    if (decided) return scripted(503, decided === 'answer lost');
    const channel = method === 'PATCH' ? /^\/channels\/(\d+)\/messages\//.exec(path)?.[1] : undefined;
    const edit =
      this.#editLimit &&
      (channel ?? (method === 'PATCH' ? /^\/webhooks\/\d+\/([^/]+)\//.exec(path)?.[1] : undefined));
    if (!this.#editLimit || !edit) return { ...told, headers: {} };

    const { limit, perMs } = this.#editLimit;
    const last = this.#edits.get(edit);
    const window = last && now - last.startedAt < perMs ? last : { startedAt: now, used: 0 };
    this.#edits.set(edit, window);
    const resetMs = window.startedAt + perMs - now;
    if (window.used >= limit) return { ...told, answer: this.#limit(request, bucket, resetMs), headers: {} };
    window.used += 1;
    return {
      ...told,
      headers: {
        'X-RateLimit-Limit': String(limit),
        'X-RateLimit-Remaining': String(limit - window.used),
        'X-RateLimit-Reset-After': (resetMs / 1000).toFixed(3),
        'X-RateLimit-Reset': ((Date.now() + resetMs) / 1000).toFixed(3),
        'X-RateLimit-Bucket': `edits`,
      },
    };
  }

  #limit(request: string, bucket: string, retryAfterMs: number): Answer {
    this.limited.push(request);
    const since = performance.now();
    this.#blocked.set(bucket, { since, until: since + retryAfterMs });
    const seconds = (retryAfterMs / 1000).toFixed(3);
    return {
      status: 429,
      headers: { 'Retry-After': seconds, 'X-RateLimit-Scope': 'user', 'X-RateLimit-Reset-After': seconds },
      body: { message: 'You are being rate limited.', retry_after: Number(seconds), global: false },
    };
  }
}

/** Requests that share a limit: the same route and the same channel, guild or webhook. */
function bucketOf(method: string, path: string): string {
  const route = path
    .replace(/^\/(channels|guilds|webhooks)\/(\d+)(\/[\w.-]{40,})?/, (whole) => whole.replaceAll('/', ':'))
    .replace(/^\/interactions\/(\d+)\/.*/, ':interactions:$1');
  return `${method} ${route.replace(/\/\d{15,}/g, '/:id')}`;
}
