import { z } from 'zod';
import { asCount, asHttpUrl, asList, asNumber, asText, fieldsOf, isObject } from './json.ts';
import type { Reply } from './request.ts';

/**
 * What the schemas of responses are made of: kinds of values, however the gateway writes them. Finders look a member
 * up wherever it may stand and hand over what they found; the schema decides whether it is of the right kind, bounds
 * it, and leaves everything else out.
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
  // Sound because every member left is of T, and is not undefined.
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Present<T>;
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
  reply: Reply,
  schema: Schema,
  found: unknown,
): z.output<Schema> {
  const result = schema.safeParse(found);
  if (result.success) return result.data;
  throw reply.unusable(z.prettifyError(result.error));
}
