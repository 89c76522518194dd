/** A fault for one valid call. */
export type Fault =
  /** 429 with `Retry-After`, in seconds. */
  | { readonly type: 'ratelimited'; readonly retryAfter: number }
  | { readonly type: 'status'; readonly status: number }
  /** Responds with `{ok: false, error}`. */
  | { readonly type: 'error'; readonly error: string }
  /** Breaks the connection before the call is executed. */
  | { readonly type: 'dropped' }
  /** Executes the call but breaks the connection before the response. */
  | { readonly type: 'answer lost' }
  /** Responds with invalid JSON. */
  | { readonly type: 'nonsense' };

interface Plan {
  readonly method: string;
  readonly every: number;
  left: number;
  matches: number;
  readonly fault: Fault;
}

/** Scripted faults. They are not refusals, because the bot made no mistake. */
export class Faults {
  readonly #plans: Plan[] = [];
  /** The number of calls that met a fault. */
  met = 0;
  /** Called with the method of each call without another fault. */
  decide: ((method: string) => Fault | undefined) | undefined;

  /** Applies the fault to the next `times` calls of this method (`*`: any except uploads). */
  next(method: string, fault: Fault, times = 1): void {
    this.#plans.push({ method, every: 1, left: times, matches: 0, fault });
  }

  /** Applies the fault to every nth call of this method (`*`: any except uploads), until {@link clear}. */
  every(nth: number, method: string, fault: Fault): void {
    this.#plans.push({ method, every: nth, left: Number.POSITIVE_INFINITY, matches: 0, fault });
  }

  clear(): void {
    this.decide = undefined;
    this.#plans.length = 0;
  }

  take(method: string): Fault | undefined {
    for (const plan of this.#plans) {
      const isMatch = plan.method === method || (plan.method === '*' && method !== 'upload');
      if (plan.left <= 0 || !isMatch) continue;
      plan.matches += 1;
      if (plan.matches % plan.every !== 0) continue;
      plan.left -= 1;
      this.met += 1;
      return plan.fault;
    }
    return this.decide?.(method);
  }
}
