/** Splits a text over several form fields when it is too long for one, and joins it again on submit. */
import { UserError } from '../../core/errors.ts';
import { fieldLabel, type OptionDeclaration, type OptionValue, type TextOption } from '../../core/options.ts';

/** The separator for each kind of break, best first. */
const BREAKS = { paragraph: '\n\n', line: '\n', word: ' ', none: '' } as const;
type Break = keyof typeof BREAKS;

const PART = new RegExp(`^(.+):(${Object.keys(BREAKS).join('|')})\\d+$`);

export interface FieldPart {
  /** The field's name, which {@link addField} decodes. */
  readonly field: string;
  readonly text: string;
}

/**
 * Splits an option's text into fields of at most `fieldLength` characters. Throws UserError if the text exceeds the option's
 * limit, because a form would lose the rest.
 */
export function textParts(
  name: string,
  option: Pick<TextOption, 'label' | 'maximumLength'>,
  text: string,
  fieldLength: number,
): readonly FieldPart[] {
  const { maximumLength = Number.POSITIVE_INFINITY } = option;
  if (text.length > maximumLength) {
    const [actual, maximum] = [text.length, maximumLength].map((count) => count.toLocaleString('en'));
    throw new UserError(
      `The text is too long for “${fieldLabel(name, option)}”: ${actual} characters. The limit is ${maximum}. Use the command with a shorter text.`,
      name,
    );
  }
  const parts: FieldPart[] = [];
  let rest = text;
  let field = name;
  while (rest.length > fieldLength) {
    const { end, by } = findBreak(rest, fieldLength);
    parts.push({ field, text: rest.slice(0, end) });
    rest = rest.slice(end + BREAKS[by].length);
    field = `${name}:${by}${parts.length + 1}`;
  }
  return [...parts, { field, text: rest }];
}

/** Longer words are split anywhere. */
const LONGEST_WORD = 50;

/** Breaks in the second half, to use few fields. Text without spaces breaks at a word boundary of its language. */
function findBreak(text: string, max: number): { readonly end: number; readonly by: Break } {
  for (const by of ['paragraph', 'line', 'word'] as const) {
    const end = text.lastIndexOf(BREAKS[by], max);
    if (end >= max / 2) return { end, by };
  }
  // Segmenting only around the break: languages without spaces take a thousand times as long.
  const from = Math.max(0, max - LONGEST_WORD);
  const around = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(
    text.slice(from, max + LONGEST_WORD),
  );
  const { index = 0 } = around.containing(max - from) ?? {};
  const end = from + index;
  return { end: index === 0 || end < max / 2 ? max : end, by: 'none' };
}

/** Decodes a field's name: its option, and the break before it if it continues a text. */
export function fieldName(field: string): { readonly name: string; readonly by?: Break } {
  const [, name, by] = PART.exec(field) ?? [];
  // Safe: the pattern is built from these names.
  return name === undefined ? { name: field } : { name, by: by as Break };
}

/** The label of a field that may continue a text. */
export function partLabel(field: string, option: Pick<OptionDeclaration, 'label'>): string {
  const { name, by } = fieldName(field);
  return `${fieldLabel(name, option)}${by === undefined ? '' : ' (continued)'}`;
}

/** Adds a field's value to the form's options. Parts of a text must be added in order. */
export function addField(options: Record<string, OptionValue>, field: string, value: OptionValue): void {
  const { name, by = 'line' } = fieldName(field);
  const before = options[name];
  options[name] = typeof before === 'string' ? `${before}${BREAKS[by]}${String(value)}` : value;
}
