/** Things that go wrong on purpose: written in words, and met by the requests of rules or of a header. */
import { pathOf, RefusedRequest, routeFamily } from '../../src/emulator/requests.ts';

/** A fault of requests whose headers ask for none. */
export interface FaultRule {
  /** As in the header: `status=503`, `callback=duplicate`, several separated by commas. */
  readonly fault: string;
  /** Only requests whose path contains this. Without it, files are left alone. */
  readonly path?: string | undefined;
  /** How many requests meet it; default every one. */
  readonly times?: number | undefined;
}

/** What a fault of several kinds can be. */
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
 * Something that goes wrong on purpose:
 * - `status=503`, `status=429:2`: that HTTP status in the family's dialect, the second with `retry-after: 2`;
 * - `body-code=430` (music): HTTP 200 with that code in the body;
 * - `slow=2`: two real seconds more; `hang`, `reset`: no answer; `nonsense`: HTML; `empty-202`: a 202 without a body;
 * - `lost=reset`, `lost=hang`, `lost=error`: the request is carried out, and its answer is lost;
 * - `callback=…`: `duplicate`, `early`, `staged` (also where there are no stages), `complete-only`, `out-of-order`, `none`,
 *   `late:30`, `fail:413`, `nonsense`, `foreign` (another task's id);
 * - `stream=…`: halfway the connection ends (`break`), `stall`, an `error` event; or `no-end` mark;
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

/** A fault that cannot be read; a request that asks for it is refused. */
export class UnknownFaultError extends RefusedRequest {}

/** Reads faults as the header `x-emulator-fault` writes them. Throws UnknownFaultError. */
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

/** NaN for what is no number, an empty text included. */
function numberOf(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}

/** The faults in force: rules by which requests meet faults. */
export function createFaults(rules: readonly FaultRule[]) {
  const active: { rule: FaultRule; faults: Fault[]; left: number }[] = [];
  /** Adds a rule after the others. Throws UnknownFaultError. */
  const add = (rule: FaultRule): void => {
    active.push({ rule, faults: parseFaults(rule.fault), left: rule.times ?? Number.POSITIVE_INFINITY });
  };
  rules.forEach(add);
  return {
    add,
    clear: (): void => {
      active.length = 0;
    },
    /** The faults of one request: those of its header and the first rule that fits, which is used up by one. */
    take(method: string, url: string, header: string | undefined): Fault[] {
      const asked = header === undefined ? [] : parseFaults(header);
      const path = pathOf(url);
      const entry = active.find(
        ({ rule, faults, left }) =>
          left > 0 &&
          (rule.path === undefined ? isGateway(path) : path.includes(rule.path)) &&
          faults.every(({ kind }) => concerned[kind]?.(method, path) ?? true),
      );
      if (entry === undefined) return asked;
      entry.left -= 1;
      return [...asked, ...entry.faults];
    },
  };
}

/** Whether a path is of the gateway itself, and not a file. */
function isGateway(path: string): boolean {
  return routeFamily(path) !== 'files';
}

const isMusic = (_method: string, path: string): boolean => routeFamily(path) === 'music';
/** Which requests a fault can happen to at all; the faults that are not here, to every one. */
const concerned: Partial<Record<Fault['kind'], (method: string, path: string) => boolean>> = {
  callback: isMusic,
  'body-code': isMusic,
  stream: (_, path) => path.endsWith('/chat/completions') || path.endsWith(':streamGenerateContent'),
  video: (method, path) => method === 'POST' && path.endsWith('/video-synthesis'),
};
