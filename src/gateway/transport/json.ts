/** Tolerant reading of parsed JSON from outside: nulls, numbers as text, several spellings. Nothing throws. */

export type JsonObject = { readonly [key: string]: unknown };

/** Finds a member by any of its names, in order; absent, null and empty text all count as missing. */
export type Fields = (...names: readonly string[]) => unknown;

const MOST_KEYS = 1_000;
const NOTHING: JsonObject = Object.freeze({});
const NO_FIELDS: Fields = () => undefined;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object itself, or an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : NOTHING;
}

/** `taskId`, `task_id`, `TaskID` and `task-id` are one name. */
export function normalName(name: string): string {
  return name
    .slice(0, 100)
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
}

/** The members of an object in any spelling. For bodies that come once; chunks of streams are read by their members' own names. */
export function fieldsOf(value: unknown): Fields {
  if (!isObject(value)) return NO_FIELDS;
  const byName = new Map<string, unknown>();
  for (const key of Object.keys(value).slice(0, MOST_KEYS)) {
    const member = value[key];
    if (member === null || member === undefined || member === '') continue;
    const name = normalName(key);
    if (!byName.has(name)) byName.set(name, member);
  }
  return (...names) =>
    names.map((name) => byName.get(normalName(name))).find((member) => member !== undefined);
}

/** Trimmed text, numbers written out; undefined when nothing is left. */
export function asText(value: unknown, longest = 100_000): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value !== 'string') return undefined;
  const text = value.slice(0, longest).trim();
  return text === '' ? undefined : text;
}

/** `taskId`, `audioId`, `personaId`: contract, "Music task inputs". */
export function asId(value: unknown): string | undefined {
  return asText(value, 512);
}

export function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || value.length > 40 || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** A number of zero or more: seconds. */
export function asAmount(value: unknown): number | undefined {
  const number = asNumber(value);
  return number !== undefined && number >= 0 ? number : undefined;
}

/** A whole number of zero or more: tokens, pixels. */
export function asCount(value: unknown): number | undefined {
  const amount = asAmount(value);
  return amount !== undefined && amount <= Number.MAX_SAFE_INTEGER ? Math.floor(amount) : undefined;
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

/** A table's own entry for a word from outside; never one of the prototype. */
export function lookUp<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

/** The kind whose words match, in a table of the words that others may use for each kind. */
export function kindOf<Kind extends string>(
  table: Readonly<Record<Kind, RegExp>>,
  word: string,
): Kind | undefined {
  for (const kind in table) if (table[kind].test(word)) return kind;
  return undefined;
}

/** JSON.parse; undefined for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface Visit {
  value: JsonObject;
  fields: Fields;
  /** The key of the object, or of the array that holds it; empty at the root. */
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
    const entry = queue[next];
    if (entry === undefined) return;
    const { value, key, inArray, depth } = entry;
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

/** The object that has one of the `marks`: the body itself, or what one of the `wrappers` in it holds. */
export function unwrapped(body: unknown, marks: readonly string[], wrappers: readonly string[]): JsonObject {
  const root = objectOf(body);
  if (marks.some((mark) => root[mark] !== undefined)) return root;
  return wrappers.map((name) => root[name]).find(isObject) ?? root;
}
