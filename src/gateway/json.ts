/** Tolerant reading of JSON that somebody else wrote: any key style, nulls, numbers as text, nothing throws. */

export type JsonObject = { readonly [key: string]: unknown };

/** Looks a member up by any of its names, in order; absent, null and empty text all count as missing. */
export type Fields = (...names: readonly string[]) => unknown;

/** Deeper than any body of the gateway; JSON.parse spends some 60 bytes of memory on every level. */
const DEEPEST = 200;
const MOST_KEYS = 1_000;

const NO_FIELDS: Fields = () => undefined;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `taskId`, `task_id`, `TaskID` and `task-id` are one name. */
export function normalName(name: string): string {
  const letters = /^[a-z0-9]{1,100}$/i.test(name) ? name : name.slice(0, 100).replace(/[^\p{L}\p{N}]/gu, '');
  return letters.toLowerCase();
}

export function fieldsOf(value: unknown): Fields {
  if (!isObject(value)) return NO_FIELDS;
  const byName = new Map<string, unknown>();
  for (const key of Object.keys(value).slice(0, MOST_KEYS)) {
    const member = value[key];
    if (member === null || member === undefined || member === '') continue;
    const name = normalName(key);
    if (!byName.has(name)) byName.set(name, member);
  }
  return (...names) => {
    for (const name of names) {
      const member = byName.get(normalName(name));
      if (member !== undefined) return member;
    }
    return undefined;
  };
}

/** Trimmed text, numbers written out; undefined when nothing is left. */
export function asText(value: unknown, longest = 100_000): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value !== 'string') return undefined;
  const text = value.slice(0, longest).trim();
  return text === '' ? undefined : text;
}

export function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || value.length > 40 || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** A whole number of zero or more: tokens, pixels. */
export function asCount(value: unknown): number | undefined {
  const number = asNumber(value);
  return number !== undefined && number >= 0 ? Math.floor(number) : undefined;
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** An http or https address, as it was written. */
export function asHttpUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 8_192) return undefined;
  const text = value.trim();
  return /^https?:\/\/[^\s/?#]/i.test(text) && URL.canParse(text) ? text : undefined;
}

/** What a table has under a word that somebody else chose; nothing that only the prototype has. */
export function lookUp<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

export type ParsedJson = { ok: true; value: unknown } | { ok: false };

/** JSON.parse that refuses nesting past any real body instead of spending the memory. */
export function parseJson(text: string): ParsedJson {
  if (nestsTooDeep(text)) return { ok: false };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}

function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) at = endOfString(text, at);
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > DEEPEST) return true;
    } else if (char === 0x5d || char === 0x7d) depth--;
  }
  return false;
}

function endOfString(text: string, opening: number): number {
  let closing = text.indexOf('"', opening + 1);
  while (closing !== -1) {
    let slashes = 0;
    while (text.charCodeAt(closing - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return closing;
    closing = text.indexOf('"', closing + 1);
  }
  return text.length;
}

export interface Visit {
  value: JsonObject;
  fields: Fields;
  /** The key it stands under, or that of the array it stands in; empty at the root. */
  key: string;
  inArray: boolean;
}

const MOST_VISITS = 5_000;
const DEEPEST_VISIT = 16;

/** Every object in a value, outermost first, within bounds of depth and number; `skip` names keys not entered. */
export function* objectsIn(root: unknown, skip: ReadonlySet<string> = new Set()): Generator<Visit> {
  const queue: { value: unknown; key: string; inArray: boolean; depth: number }[] = [
    { value: root, key: '', inArray: false, depth: 0 },
  ];
  for (let next = 0; next < queue.length; next++) {
    const place = queue[next];
    if (place === undefined) return;
    const { value, key, inArray, depth } = place;
    if (isObject(value)) yield { value, fields: fieldsOf(value), key, inArray };
    if (depth >= DEEPEST_VISIT || typeof value !== 'object' || value === null) continue;
    const members: [string, unknown][] = Array.isArray(value)
      ? value.slice(0, MOST_KEYS).map((item) => [key, item])
      : Object.entries(value).slice(0, MOST_KEYS);
    for (const [name, member] of members) {
      if (queue.length >= MOST_VISITS) break;
      if (typeof member !== 'object' || member === null || skip.has(normalName(name))) continue;
      queue.push({ value: member, key: name, inArray: Array.isArray(value), depth: depth + 1 });
    }
  }
}
