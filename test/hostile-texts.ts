/** Texts that parsers and renderers must process quickly. */

/** Units to repeat: one of each kind of mark that parsers and renderers look for. */
const UNITS = [
  ...['[', '](', '[a](', '![', '<', '<a', '<!--', '<@a|', '{"a":'],
  ...['`', '```\n', '*', '*a_ ', '~~a '],
  ...[' ', '\r\n', '\n> ', '\n- ', '\n1. ', '# ', '\n|'],
  ...['--a=', '--a=‚b', ',', '//', '\\', 'a:', '&', '0', '"', "'"],
  ...['a', 'a ', 'a@', 'http://', 'www.'],
  ...['👍', 'e\u0301', '\u200d', '\ud800'],
];
const BEGINNINGS_AND_UNITS = [
  ['[a](', '<>'],
  ['[a](', '('],
  ['a', ' '],
  ['a', '\u00a0\n'],
  ['- ', ' '],
  ['```', '`'],
] as const;
const NESTED = [
  ['[', ']'],
  ['[', '](a)'],
  ['(', ')'],
  ['{"a":', '}'],
  ['<a>', '</a>'],
] as const;

/** Returns texts of the given length for which careless parsers take more than linear time. */
export function* hostileTexts(length: number): Generator<{ name: string; text: string }> {
  const repeated = (unit: string, most = length) => unit.repeat(Math.ceil(most / unit.length)).slice(0, most);
  // Regular expressions backtrack if the end they expect is missing.
  for (const unit of UNITS) yield { name: `${unit}, then another sign`, text: `${repeated(unit)}\u0001` };
  for (const [beginning, unit] of BEGINNINGS_AND_UNITS)
    yield { name: `${beginning}, then ${unit}`, text: beginning + repeated(unit) };
  for (const [open, close] of NESTED) {
    const text = `${repeated(open, length / 2)}1${repeated(close, length / 2)}`;
    yield { name: `1 in ${open} and ${close}`, text };
  }
  yield { name: 'letters, then a space', text: `${repeated('a')} ` };
}
