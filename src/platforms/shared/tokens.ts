/** Words and flags of a typed command, with their positions. */

export type Token =
  /** `value` is the word without the quotes around it. */
  | { readonly type: 'word'; readonly value: string; readonly from: number; readonly to: number }
  /** `--name` or `--name=value`; `named` for `name:value`, as Discord writes it: its value are the words behind it. */
  | {
      readonly type: 'flag';
      readonly name: string;
      readonly value: string | undefined;
      readonly named?: true;
    };

/** Straight quotes, and the curved ones that keyboards and Slack make of them. */
const QUOTED = /["“”„«]([^"“”„«»]*)["“”»]|'([^']*)'/y;
const SINGLE_QUOTED = /[‘‚](.*?)[’‘](?=\s|$)/sy;
const SINGLE_QUOTE_ENDS = /[’‘](?=\s|$)/g;
/** Macs and phones write a dash for two hyphens; it is a flag only where the name is one. */
const FLAG = /(--|[—–])([A-Za-z_][\w-]*)(=?)/y;
/** Discord's notation. With a space behind the colon it may be prose, so it counts at the beginning alone. */
const NAMED = /([a-z][\w-]*):(?=\S)/y;
const NAMED_FIRST = /([a-z][\w-]*):/y;
/** Behind it nothing is a flag. */
const END_OF_FLAGS = /--(?=\s|$)/y;
const WORD = /\S+/y;
const SPACE = /\s*/y;
/** Signs that quotations and flags begin with. Most words have none of them, and a text may have 100,000 words. */
const QUOTES = '"“”„«\'‘‚';
const DASHES = '-—–';

/** Total: every character is in a word, in a flag, in the mark that ends the flags, or between them. */
export function tokenize(text: string, isOption: (name: string) => boolean): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let flagsEnded = false;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  const matchFlag = (): RegExpExecArray | null => {
    if (flagsEnded || !DASHES.includes(text.charAt(at))) return null;
    const flag = match(FLAG);
    if (flag === null || (flag[1] !== '--' && !isOption(flag[2] ?? ''))) return null;
    return endsWell(text, at + flag[0].length, flag[3] === '=') ? flag : null;
  };
  const skipSpace = (): void => {
    SPACE.lastIndex = at;
    SPACE.test(text);
    at = SPACE.lastIndex;
  };
  const lastEnd = [...text.matchAll(SINGLE_QUOTE_ENDS)].at(-1)?.index ?? 0;
  // Each single quote behind the last end would be followed to the end of the text.
  const matchQuoted = (): RegExpExecArray | null =>
    QUOTES.includes(text.charAt(at)) ? (match(QUOTED) ?? (at < lastEnd ? match(SINGLE_QUOTED) : null)) : null;
  for (skipSpace(); at < text.length; skipSpace()) {
    if (!flagsEnded && match(END_OF_FLAGS)) {
      flagsEnded = true;
      at = END_OF_FLAGS.lastIndex;
      continue;
    }
    const isNamed = flagsEnded ? null : match(tokens.length === 0 ? NAMED_FIRST : NAMED);
    const [whole = '', name = ''] = isNamed ?? [];
    if (name !== '' && isOption(name)) {
      tokens.push({ type: 'flag', name, value: undefined, named: true });
      at += whole.length;
      continue;
    }
    const flag = matchFlag();
    if (flag !== null) {
      at += flag[0].length;
      const [, , name = '', isFilled] = flag;
      if (isFilled !== '=') {
        tokens.push({ type: 'flag', name, value: undefined });
        continue;
      }
      const value = matchQuoted() ?? match(WORD);
      tokens.push({ type: 'flag', name, value: value?.[1] ?? value?.[2] ?? value?.[0] ?? '' });
      at += value?.[0].length ?? 0;
      continue;
    }
    const quoted = matchQuoted();
    // A quotation that goes on without a space, as in "a"b, is a word like any other.
    const word = quoted !== null && endsWell(text, at + quoted[0].length, false) ? quoted : match(WORD);
    const found = word?.[0] ?? text.slice(at);
    tokens.push({
      type: 'word',
      value: word?.[1] ?? word?.[2] ?? found,
      from: at,
      to: at + found.length,
    });
    at += found.length;
  }
  return tokens;
}

function endsWell(text: string, end: number, goesOn: boolean): boolean {
  return goesOn || end >= text.length || /\s/.test(text.charAt(end));
}
