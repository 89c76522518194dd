/** What goes wrong with one call, although the call itself was right. */
export type Fault =
  /** 429 with `Retry-After`, in seconds. */
  | { readonly type: 'ratelimited'; readonly retryAfter: number }
  | { readonly type: 'status'; readonly status: number }
  /** `{ok: false, error}`, as if Slack were in that state. */
  | { readonly type: 'error'; readonly error: string }
  /** The connection breaks before the call did anything. */
  | { readonly type: 'dropped' }
  /** The call did what it should, and the connection breaks before the answer. */
  | { readonly type: 'answer lost' }
  /** Not JSON. */
  | { readonly type: 'nonsense' };

interface Plan {
  readonly method: string;
  readonly every: number;
  left: number;
  seen: number;
  readonly fault: Fault;
}

/** Scripted trouble. These are not refusals: the bot did nothing wrong. */
export class Faults {
  readonly #plans: Plan[] = [];
  /** How many calls met a fault. */
  met = 0;
  /** Decides on each call, by its method, that meets no other fault. */
  decide: ((method: string) => Fault | undefined) | undefined;

  /** The next `times` calls of this method (`*`: of any, uploads apart) meet the fault. */
  next(method: string, fault: Fault, times = 1): void {
    this.#plans.push({ method, every: 1, left: times, seen: 0, fault });
  }

  /** Every nth call of this method (`*`: of any, uploads apart) meets the fault, until {@link clear}. */
  every(nth: number, method: string, fault: Fault): void {
    this.#plans.push({ method, every: nth, left: Number.POSITIVE_INFINITY, seen: 0, fault });
  }

  clear(): void {
    this.decide = undefined;
    this.#plans.length = 0;
  }

  take(method: string): Fault | undefined {
    for (const plan of this.#plans) {
      const isMeant = plan.method === method || (plan.method === '*' && method !== 'upload');
      if (plan.left <= 0 || !isMeant) continue;
      plan.seen += 1;
      if (plan.seen % plan.every !== 0) continue;
      plan.left -= 1;
      this.met += 1;
      return plan.fault;
    }
    return this.decide?.(method);
  }
}
