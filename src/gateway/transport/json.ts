/** Tolerant access to untrusted JSON: nulls, numbers as text, several spellings. Nothing throws. */

export type JsonObject = { readonly [key: string]: unknown };

/** Returns the first member with one of the names. Null and empty text count as missing. */
export type Fields = (...names: readonly string[]) => unknown;

const MAX_KEYS = 1_000;
const EMPTY_OBJECT: JsonObject = Object.freeze({});
const NO_FIELDS: Fields = () => undefined;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns an object itself, and an empty one for other values. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : EMPTY_OBJECT;
}

type Members = readonly (readonly [string, unknown])[];

/** The first members of an object. `Object.entries` would create a pair for each of a hostile body's 100,000 members. */
const membersOf = (value: JsonObject): Members =>
  Object.keys(value)
    .slice(0, MAX_KEYS)
    .map((key) => [key, value[key]]);

/** `taskId`, `task_id`, `TaskID` and `task-id` count as one name. */
export function normalName(name: string): string {
  return name
    .slice(0, 100)
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
}

/** Finds members in any spelling. Used for whole bodies; stream chunks are read by exact names. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? fieldsIn(membersOf(value)) : NO_FIELDS;
}

function fieldsIn(members: Members): Fields {
  const byName = new Map<string, unknown>();
  for (const [key, member] of members) {
    if (member === null || member === undefined || member === '') continue;
    const name = normalName(key);
    if (!byName.has(name)) byName.set(name, member);
  }
  return (...names) =>
    names.map((name) => byName.get(normalName(name))).find((member) => member !== undefined);
}

/** Returns trimmed text, or a number as text. Undefined if empty. */
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

/** Returns a number of at least zero, such as seconds. */
export function asNonNegative(value: unknown): number | undefined {
  const number = asNumber(value);
  return number !== undefined && number >= 0 ? number : undefined;
}

/** Returns a whole number of at least zero, such as tokens. */
export function asCount(value: unknown): number | undefined {
  const amount = asNonNegative(value);
  return amount !== undefined && amount <= Number.MAX_SAFE_INTEGER ? Math.floor(amount) : undefined;
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns an http or https URL unchanged. */
export function asHttpUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 8_192) return undefined;
  const text = value.trim();
  return /^https?:\/\/[^\s/?#]/i.test(text) && URL.canParse(text) ? text : undefined;
}

/** Returns the first kind whose pattern matches a word. */
export function kindOf<Kind extends string>(
  table: Readonly<Record<Kind, RegExp>>,
  word: string,
): Kind | undefined {
  for (const kind in table) if (table[kind].test(word)) return kind;
  return undefined;
}

/** Parses JSON. Returns undefined if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface Visit {
  value: JsonObject;
  members: Members;
  fields: Fields;
  /** The key of the object, or of the array that contains it. Empty at the root. */
  key: string;
  inArray: boolean;
}

const MAX_VISITS = 5_000;
const MAX_DEPTH = 16;

/** Yields the objects in a value, outermost first, up to a maximum depth and number. Does not enter the keys in `skip`. */
export function* objectsIn(root: unknown, skip: ReadonlySet<string> = new Set()): Generator<Visit> {
  const queue: { value: unknown; key: string; inArray: boolean; depth: number }[] = [
    { value: root, key: '', inArray: false, depth: 0 },
  ];
  for (let next = 0; next < queue.length; next++) {
    const entry = queue[next];
    if (entry === undefined) return;
    const { value, key, inArray, depth } = entry;
    const members: Members = Array.isArray(value)
      ? value.slice(0, MAX_KEYS).map((item) => [key, item])
      : membersOf(objectOf(value));
    if (isObject(value)) yield { value, members, fields: fieldsIn(members), key, inArray };
    if (depth >= MAX_DEPTH) continue;
    for (const [name, member] of members) {
      if (queue.length >= MAX_VISITS) break;
      if (typeof member !== 'object' || member === null || skip.has(normalName(name))) continue;
      queue.push({ value: member, key: name, inArray: Array.isArray(value), depth: depth + 1 });
    }
  }
}

/** Returns the object that has one of the `marks`: the body, or the value of one of its `wrappers`. */
export function unwrapped(body: unknown, marks: readonly string[], wrappers: readonly string[]): JsonObject {
  const root = objectOf(body);
  if (marks.some((mark) => root[mark] !== undefined)) return root;
  return wrappers.map((name) => root[name]).find(isObject) ?? root;
}
