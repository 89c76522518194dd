/** Injected faults, written as text in rules or in a header. */
import { pathOf, RefusedRequest, routeFamily } from '../../src/emulator/requests.ts';

/** A fault for requests without a fault header. */
export interface FaultRule {
  /** As in the header: `status=503`, `callback=duplicate`, separated by commas. */
  readonly fault: string;
  /** Applies only to paths that contain this. Without it, files are left out. */
  readonly path?: string | undefined;
  /** The number of affected requests; default all. */
  readonly times?: number | undefined;
}

/** The kinds of faults. */
const hows = {
  lost: ['reset', 'hang', 'error'],
  callback: [
    'duplicate',
    'early',
    'staged',
    'complete-only',
    'out-of-order',
    'none',
    'late',
    'fail',
    'nonsense',
    'foreign',
  ],
  stream: ['break', 'stall', 'error', 'no-end'],
  video: ['FAILED', 'CANCELED', 'UNKNOWN', 'stuck'],
} as const;
type How<Kind extends keyof typeof hows> = (typeof hows)[Kind][number];

/**
 * An injected fault:
 * - `status=503`, `status=429:2`: this HTTP status in the family's dialect, the second with `retry-after: 2`;
 * - `body-code=430` (music): HTTP 200 with this code in the body;
 * - `slow=2`: two more real seconds; `hang`, `reset`: no response; `nonsense`: HTML; `empty-202`: a 202 without a body;
 * - `lost=reset`, `lost=hang`, `lost=error`: the request is processed, but its response is lost;
 * - `callback=…`: `duplicate`, `early`, `staged` (also for tasks without stages), `complete-only`, `out-of-order`, `none`,
 *   `late:30`, `fail:413`, `nonsense`, `foreign` (another task's id);
 * - `stream=…`: halfway, the connection ends (`break`), stalls (`stall`) or sends an `error` event; `no-end`: no end marker;
 * - `video=FAILED`, `video=CANCELED`, `video=UNKNOWN`, `video=stuck`.
 */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter: string | null }
  | { readonly kind: 'body-code'; readonly code: number }
  | { readonly kind: 'slow'; readonly seconds: number }
  | { readonly kind: 'hang' | 'reset' | 'nonsense' | 'empty-202' }
  | { readonly kind: 'lost'; readonly how: How<'lost'> }
  | { readonly kind: 'callback'; readonly how: How<'callback'>; readonly amount: number | null }
  | { readonly kind: 'stream'; readonly how: How<'stream'> }
  | { readonly kind: 'video'; readonly how: How<'video'> };

/** An invalid fault. Requests with it are refused. */
export class UnknownFaultError extends RefusedRequest {}

/** Parses faults in the format of the header `x-emulator-fault`. Throws UnknownFaultError. */
function parseFaults(text: string): Fault[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(parseFault);
}

function parseFault(text: string): Fault {
  const [kind = '', ...rest] = text.split('=');
  const [value = '', ...amounts] = rest.join('=').split(':');
  const example = (sentence: string) =>
    new UnknownFaultError('invalid', `'${text}' is no fault: ${sentence}`);
  const amountText = amounts.length === 0 ? undefined : amounts.join(':');
  const amount = amountText === undefined ? null : numberOf(amountText);
  const number = numberOf(value);
  const oneOf = <Word extends string>(words: readonly Word[]): Word => {
    const word = words.find((candidate) => candidate === value);
    if (word === undefined)
      throw new UnknownFaultError('invalid', `the fault ${kind} takes one of ${words.join(', ')}`);
    return word;
  };
  switch (kind) {
    case 'status':
      if (!Number.isInteger(number) || number < 400 || number > 599 || Number.isNaN(amount))
        throw example('a status is from 400 to 599, and its retry-after in seconds, as in status=429:30');
      return { kind, status: number, retryAfter: amountText ?? null };
    case 'body-code':
      if (!Number.isInteger(number)) throw example('a body code is a whole number, as in body-code=430');
      return { kind, code: number };
    case 'slow':
      if (!(number >= 0)) throw example('it is in seconds, as in slow=2');
      return { kind, seconds: number };
    case 'hang':
    case 'reset':
    case 'nonsense':
    case 'empty-202':
      return { kind };
    case 'lost':
      return { kind, how: oneOf(hows.lost) };
    case 'callback':
      if (amount !== null && !(amount >= 0)) throw example('it is in seconds, as in callback=late:30');
      return { kind, how: oneOf(hows.callback), amount };
    case 'stream':
      return { kind, how: oneOf(hows.stream) };
    case 'video':
      return { kind, how: oneOf(hows.video) };
  }
  throw new UnknownFaultError('invalid', `'${text}' is no fault of the emulator`);
}

/** Returns NaN for invalid numbers and empty text. */
function numberOf(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}

/** The active faults. */
export function createFaults(rules: readonly FaultRule[]) {
  const active: { rule: FaultRule; faults: Fault[]; left: number }[] = [];
  /** Appends a rule. Throws UnknownFaultError. */
  const add = (rule: FaultRule): void => {
    active.push({ rule, faults: parseFaults(rule.fault), left: rule.times ?? Number.POSITIVE_INFINITY });
  };
  rules.forEach(add);
  return {
    add,
    clear: (): void => {
      active.length = 0;
    },
    /** Returns the faults of a request: those of its header, or of the first matching rule, whose count decreases. */
    take(method: string, url: string, header: string | undefined): Fault[] {
      const requested = header === undefined ? [] : parseFaults(header);
      const path = pathOf(url);
      const entry = active.find(
        ({ rule, faults, left }) =>
          left > 0 &&
          (rule.path === undefined ? isGateway(path) : path.includes(rule.path)) &&
          faults.every(({ kind }) => affected[kind]?.(method, path) ?? true),
      );
      if (entry === undefined) return requested;
      entry.left -= 1;
      return [...requested, ...entry.faults];
    },
  };
}

/** True for paths of the gateway, not of files. */
function isGateway(path: string): boolean {
  return routeFamily(path) !== 'files';
}

const isMusic = (_method: string, path: string): boolean => routeFamily(path) === 'music';
/** The requests that a fault applies to. Faults without an entry apply to all. */
const affected: Partial<Record<Fault['kind'], (method: string, path: string) => boolean>> = {
  callback: isMusic,
  'body-code': isMusic,
  stream: (_, path) => path.endsWith('/chat/completions') || path.endsWith(':streamGenerateContent'),
  video: (method, path) => method === 'POST' && path.endsWith('/video-synthesis'),
};
