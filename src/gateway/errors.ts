import type { AnswerSoFar } from './answers.ts';
import type { GatewayFamily, RouteName } from './routes.ts';

export const GATEWAY_ERROR_CODES = [
  'credits',
  'rate',
  'auth',
  'forbidden',
  'invalid',
  'too-long',
  'blocked',
  'not-found',
  'exists',
  'maintenance',
  'unavailable',
  'timeout',
  'network',
  'nonsense',
  'aborted',
  'broken-stream',
  'stalled',
] as const;
export type GatewayErrorCode = (typeof GATEWAY_ERROR_CODES)[number];

/** Whether the gateway may have accepted the work, and so may spend credits on it or call back. */
export type Taken = 'no' | 'unknown';

export interface GatewayErrorInit {
  code: GatewayErrorCode;
  family: GatewayFamily;
  route: RouteName;
  taken: Taken;
  retryable: boolean;
  status?: number | undefined;
  gatewayCode?: string | undefined;
  gatewayMessage?: string | undefined;
  retryAfterMs?: number | undefined;
  body?: string | undefined;
  partial?: AnswerSoFar | undefined;
  /** For the log: what was wrong, in our words. */
  explanation?: string | undefined;
  cause?: unknown;
}

/** The one error that the gateway client throws. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: GatewayErrorCode;
  readonly family: GatewayFamily;
  readonly route: RouteName;
  /** Whether the same request may be sent again without risk of paying twice. */
  readonly retryable: boolean;
  readonly taken: Taken;
  /** The HTTP status, when an answer came. */
  readonly status?: number;
  /** The gateway's own code, number or word, as text. */
  readonly gatewayCode?: string;
  /** The gateway's own message: written by somebody else, so escape it before showing it. */
  readonly gatewayMessage?: string;
  /** What the gateway asked us to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The raw body, bounded and with secrets and signed addresses taken out, for the log. */
  readonly body?: string;
  /** Not a plain member, so that no logger writes people's answers out. */
  #partial: AnswerSoFar | undefined;

  constructor(init: GatewayErrorInit) {
    super(describe(init), init.cause === undefined ? undefined : { cause: init.cause });
    this.code = init.code;
    this.family = init.family;
    this.route = init.route;
    this.retryable = init.retryable;
    this.taken = init.taken;
    if (init.status !== undefined) this.status = init.status;
    if (init.gatewayCode !== undefined) this.gatewayCode = init.gatewayCode;
    if (init.gatewayMessage !== undefined) this.gatewayMessage = init.gatewayMessage;
    if (init.retryAfterMs !== undefined) this.retryAfterMs = init.retryAfterMs;
    if (init.body !== undefined) this.body = init.body;
    this.#partial = init.partial;
  }

  /** What had come of an answer before it broke off. */
  get partial(): AnswerSoFar | undefined {
    return this.#partial;
  }

  set partial(partial: AnswerSoFar | undefined) {
    this.#partial = partial;
  }
}

function describe(init: GatewayErrorInit): string {
  const facts = [
    init.status === undefined ? undefined : `HTTP ${init.status}`,
    init.gatewayCode === undefined ? undefined : `gateway code ${init.gatewayCode}`,
  ].filter((fact) => fact !== undefined);
  const aside = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  const reason = init.gatewayMessage ?? init.explanation;
  return `${init.route}: ${init.code}${aside}${reason === undefined ? '' : `: ${reason}`}`;
}
