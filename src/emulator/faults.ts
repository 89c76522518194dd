import { familyOf, pathOf } from './family.ts';

/** Something that goes wrong on purpose. `docs/emulator.md` lists how each is written. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter: string | null }
  | { readonly kind: 'body-code'; readonly code: number }
  | { readonly kind: 'slow'; readonly seconds: number }
  | { readonly kind: 'hang' | 'reset' | 'nonsense' | 'empty-202' }
  | { readonly kind: 'lost'; readonly how: 'reset' | 'hang' | 'error' }
  | { readonly kind: 'callback'; readonly how: CallbackFault; readonly amount: number | null }
  | { readonly kind: 'stream'; readonly how: StreamFault }
  | { readonly kind: 'video'; readonly how: VideoFault };

const callbackFaults = [
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
] as const;
export type CallbackFault = (typeof callbackFaults)[number];
const streamFaults = ['break', 'stall', 'error', 'no-end'] as const;
type StreamFault = (typeof streamFaults)[number];
const videoFaults = ['FAILED', 'CANCELED', 'UNKNOWN', 'stuck'] as const;
export type VideoFault = (typeof videoFaults)[number];
const lostAnswers = ['reset', 'hang', 'error'] as const;

/** A fault that befalls requests which no header asks it for. */
export interface FaultRule {
  /** As in the header: `status=503`, `callback=duplicate`, several separated by commas. */
  readonly fault: string;
  /** Only requests whose path contains this. Without it, files are left alone. */
  readonly path?: string;
  /** How many requests it befalls; default every one. */
  readonly times?: number;
}

/** A fault that cannot be read. */
export class UnknownFaultError extends Error {
  override readonly name = 'UnknownFaultError';
}

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
  const [value = '', amountText] = rest.join('=').split(':');
  const amount = amountText === undefined ? null : Number(amountText);
  const number = Number(value);
  const oneOf = <Word extends string>(words: readonly Word[]): Word => {
    const word = words.find((candidate) => candidate === value);
    if (word === undefined) throw new UnknownFaultError(`${kind} takes one of ${words.join(', ')}`);
    return word;
  };
  switch (kind) {
    case 'status':
      if (!Number.isInteger(number) || number < 400 || number > 599) break;
      return { kind, status: number, retryAfter: amountText ?? null };
    case 'body-code':
      if (!Number.isInteger(number)) break;
      return { kind, code: number };
    case 'slow':
      if (!(number >= 0)) break;
      return { kind, seconds: number };
    case 'hang':
    case 'reset':
    case 'nonsense':
    case 'empty-202':
      return { kind };
    case 'lost':
      return { kind, how: oneOf(lostAnswers) };
    case 'callback':
      if (amount !== null && !(amount >= 0)) break;
      return { kind, how: oneOf(callbackFaults), amount };
    case 'stream':
      return { kind, how: oneOf(streamFaults) };
    case 'video':
      return { kind, how: oneOf(videoFaults) };
  }
  throw new UnknownFaultError(`'${text}' is no fault of the emulator; docs/emulator.md lists them`);
}

/** The faults in force: rules by which requests meet faults. */
export interface Faults {
  /** Adds a rule after the others. Throws UnknownFaultError. */
  add(rule: FaultRule): void;
  clear(): void;
  /** The rules that still befall requests. */
  rules(): FaultRule[];
  /** The faults of one request: those of its header and the first rule that fits, which is used up by one. */
  take(method: string, url: string, header: string | undefined): Fault[];
}

export function createFaults(rules: readonly FaultRule[]): Faults {
  const active: { rule: FaultRule; faults: Fault[]; left: number }[] = [];
  const add = (rule: FaultRule): void => {
    active.push({ rule, faults: parseFaults(rule.fault), left: rule.times ?? Number.POSITIVE_INFINITY });
  };
  rules.forEach(add);
  return {
    add,
    clear: () => active.splice(0),
    rules: () =>
      active
        .filter(({ left }) => left > 0)
        .map(({ rule, left }) => ({ ...rule, ...(Number.isFinite(left) ? { times: left } : {}) })),
    take(method, url, header) {
      const asked = header === undefined ? [] : parseFaults(header);
      const path = pathOf(url);
      const entry = active.find(
        ({ rule, faults, left }) =>
          left > 0 &&
          (rule.path === undefined ? isGateway(path) : path.includes(rule.path)) &&
          faults.every((fault) => concerns(fault, method, path)),
      );
      if (entry === undefined) return asked;
      entry.left -= 1;
      return [...asked, ...entry.faults];
    },
  };
}

/** Whether a path is of the gateway itself: not a file, and not the emulator's own routes. */
function isGateway(path: string): boolean {
  return familyOf(path) !== 'files' && !path.startsWith('/emulator/');
}

/** Whether a fault can happen to such a request at all. */
function concerns(fault: Fault, method: string, path: string): boolean {
  switch (fault.kind) {
    case 'callback':
    case 'body-code':
      return familyOf(path) === 'music';
    case 'stream':
      return path.endsWith('/chat/completions') || path.endsWith(':streamGenerateContent');
    case 'video':
      return method === 'POST' && path.endsWith('/video-synthesis');
    case 'status':
    case 'slow':
    case 'hang':
    case 'reset':
    case 'nonsense':
    case 'empty-202':
    case 'lost':
      return true;
    default:
      return fault satisfies never;
  }
}
