/** Tolerant reading of JSON from outside, by hand and by schemas: any key style, nulls, numbers as text, nothing throws. */
import { z } from 'zod';

export type JsonObject = { readonly [key: string]: unknown };

/** Finds a member by any of its names, in order; absent, null and empty text all count as missing. */
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

/** JSON.parse; undefined for what is no JSON, and for nesting past any real body, before it costs memory. */
export function parseJson(text: string): unknown {
  if (nestsTooDeep(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
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

const NO_NAMES: ReadonlySet<string> = new Set();

/** Whether all members bear one of these names, as written; only those of the names in `nested` may hold something nested. */
export function isPlain(
  value: unknown,
  names: ReadonlySet<string>,
  nested: ReadonlySet<string> = NO_NAMES,
): value is JsonObject {
  if (!isObject(value)) return false;
  for (const name in value) {
    const member = value[name];
    if (!(typeof member === 'object' && member !== null ? nested : names).has(name)) return false;
  }
  return true;
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

/**
 * The building blocks of response schemas: kinds of values, however the gateway writes them. Finders search a member
 * wherever it may be. The schema decides whether the value is of the right kind, bounds it, and drops everything else.
 */

/** Trimmed text, cut at `longest` characters; numbers are written out. */
export const text = (longest: number) => z.preprocess((value) => asText(value, longest), z.string());
/** A number, or text that is one. */
export const number = z.preprocess(asNumber, z.number());
export const positive = z.preprocess(asNumber, z.number().positive());
export const notNegative = z.preprocess(asNumber, z.number().min(0));
/** A whole number of zero or more: tokens, pixels. */
export const count = z.preprocess(asCount, z.int());
export const httpUrl = z.preprocess(asHttpUrl, z.string());
/** `taskId`, `audioId`, `personaId`: contract, "Music task inputs". */
export const id = text(512);
/** Members of any name and kind: a function's arguments. */
export const anyMembers = z.record(z.string(), z.unknown());

/** A member that counts as missing where it cannot be read. */
export const maybe = <Kind extends z.ZodType>(kind: Kind) => kind.optional().catch(undefined);

/** The items that can be read, of the first `most`; nothing where there is no list. */
export const listOf = <Kind extends z.ZodType>(kind: Kind, most: number) =>
  z
    .preprocess((value) => asList(value).slice(0, most), z.array(maybe(kind)))
    .transform((items) => items.filter((item): item is z.output<Kind> => item !== undefined));

/**
 * An object whose members may be written in any case and with any separators, or under the other `names` given for
 * them, the first that is there; null and empty text count as missing, and what is missing is left out.
 */
export function members<Shape extends z.ZodRawShape>(
  shape: Shape,
  names: { readonly [Key in keyof Shape]?: readonly string[] } = {},
) {
  const found = (value: unknown) => {
    if (!isObject(value)) return value;
    const fields = fieldsOf(value);
    return Object.fromEntries(Object.keys(shape).map((key) => [key, fields(...(names[key] ?? [key]))]));
  };
  return z.preprocess(found, z.object(shape)).transform(withoutUndefined);
}

type Present<T> = { [Key in keyof T]: Exclude<T[Key], undefined> };

/** The same object without its undefined members. */
export function withoutUndefined<T extends object>(object: T): Present<T> {
  const present: Partial<T> = {};
  for (const name in object) if (object[name] !== undefined) present[name] = object[name];
  // Sound because every member left is of T, and is not undefined.
  return present as Present<T>;
}

/** The object that has one of the `marks`: the body itself, or what one of the `wrappers` in it holds. */
export function unwrapped(body: unknown, marks: readonly string[], wrappers: readonly string[]): unknown {
  const fields = fieldsOf(body);
  if (fields(...marks) !== undefined) return body;
  const inner = fields(...wrappers);
  return isObject(inner) ? inner : body;
}

/** What was found in a reply, as its schema lets it through. Throws the reply's error for what cannot be used. */
export function usable<Schema extends z.ZodType>(
  reply: { unusable(explanation: string): Error },
  schema: Schema,
  found: unknown,
): z.output<Schema> {
  const result = schema.safeParse(found);
  if (result.success) return result.data;
  throw reply.unusable(z.prettifyError(result.error));
}
