/** Texts in forms whose fields are too short for them: broken between words, and whole again when the form is sent. */
import { UserError } from '../../core/errors.ts';
import type { OptionValue, TextOption } from '../../core/options.ts';

/** The text between two parts, by the name of the break: the best first. */
const BREAKS = { paragraph: '\n\n', line: '\n', word: ' ', none: '' } as const;
type Break = keyof typeof BREAKS;

const PART = new RegExp(`^(.+):(${Object.keys(BREAKS).join('|')})\\d+$`);

export interface FieldPart {
  /** The field's name: {@link addField} reads from it where the text belongs. */
  readonly field: string;
  readonly text: string;
}

/**
 * The text of an option in fields of at most so many characters. Throws UserError for more than the option takes: what a
 * form cannot hold must not be lost in it.
 */
export function textParts(
  name: string,
  { maximumLength = Number.POSITIVE_INFINITY }: Pick<TextOption, 'maximumLength'>,
  text: string,
  fieldLength: number,
): readonly FieldPart[] {
  if (text.length > maximumLength) {
    const [has, takes] = [text.length, maximumLength].map((count) => count.toLocaleString('en'));
    throw new UserError(
      `The text is too long for “${name}”: ${has} characters, the limit is ${takes}. Use the command with a shorter text.`,
      name,
    );
  }
  const parts: FieldPart[] = [];
  let rest = text;
  let field = name;
  while (rest.length > fieldLength) {
    const { end, by } = breakIn(rest, fieldLength);
    parts.push({ field, text: rest.slice(0, end) });
    rest = rest.slice(end + BREAKS[by].length);
    field = `${name}:${by}${parts.length + 1}`;
  }
  return [...parts, { field, text: rest }];
}

/** Longer words are broken anywhere. */
const LONGEST_WORD = 50;

/** In the later half, so that few fields hold it; a text without any space is broken where its language ends a word. */
function breakIn(text: string, most: number): { readonly end: number; readonly by: Break } {
  for (const by of ['paragraph', 'line', 'word'] as const) {
    const end = text.lastIndexOf(BREAKS[by], most);
    if (end >= most / 2) return { end, by };
  }
  // Only what lies around the break is segmented: a language without spaces takes a thousand times as long as another.
  const from = Math.max(0, most - LONGEST_WORD);
  const around = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(
    text.slice(from, most + LONGEST_WORD),
  );
  const { index = 0 } = around.containing(most - from) ?? {};
  const end = from + index;
  return { end: index === 0 || end < most / 2 ? most : end, by: 'none' };
}

/** The option that a field belongs to, and whether it holds a further part of its text. */
export function fieldName(field: string): { readonly name: string; readonly by?: Break } {
  const [, name, by] = PART.exec(field) ?? [];
  // Sound because the pattern is made of these names.
  return name === undefined ? { name: field } : { name, by: by as Break };
}

/** Adds what a field holds to the options of its form; the parts of a text come in their order. */
export function addField(options: Record<string, OptionValue>, field: string, value: OptionValue): void {
  const { name, by = 'line' } = fieldName(field);
  const before = options[name];
  options[name] = typeof before === 'string' ? `${before}${BREAKS[by]}${String(value)}` : value;
}
