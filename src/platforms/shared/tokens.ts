/** Tokenizes a typed command into words and flags, with their positions. */

export type Token =
  /** `value` is the word without surrounding quotes. */
  | { readonly type: 'word'; readonly value: string; readonly from: number; readonly to: number }
  /** `--name` or `--name=value`. `named` marks Discord's `name:value`, whose value is the words after it. */
  | {
      readonly type: 'flag';
      readonly name: string;
      readonly value: string | undefined;
      readonly named?: true;
    };

/** Straight quotes, and the curly ones that keyboards and Slack replace them with. */
const QUOTED = /["“”„«]([^"“”„«»]*)["“”»]|'([^']*)'/y;
const SINGLE_QUOTED = /[‘‚](.*?)[’‘](?=\s|$)/sy;
const SINGLE_QUOTE_ENDS = /[’‘](?=\s|$)/g;
/** Macs and phones replace two hyphens with a dash. A dash only starts a flag if the option exists. */
const FLAG = /(--|[—–])([A-Za-z_][\w-]*)(=?)/y;
/** Discord's notation. With a space after the colon it may be prose, so that form only counts at the start. */
const NAMED = /([a-z][\w-]*):(?=\S)/y;
const NAMED_FIRST = /([a-z][\w-]*):/y;
/** Nothing after this is a flag. */
const END_OF_FLAGS = /--(?=\s|$)/y;
const WORD = /\S+/y;
const SPACE = /\s*/y;
/** First characters of quotations and flags. Checked before the patterns, since a text may have 100,000 words. */
const QUOTES = '"“”„«\'‘‚';
const DASHES = '-—–';

/** Never fails: every character is part of a word, a flag, the end-of-flags mark, or the space between them. */
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
    return isWordEnd(text, at + flag[0].length, flag[3] === '=') ? flag : null;
  };
  const skipSpace = (): void => {
    SPACE.lastIndex = at;
    SPACE.test(text);
    at = SPACE.lastIndex;
  };
  const lastEnd = [...text.matchAll(SINGLE_QUOTE_ENDS)].at(-1)?.index ?? 0;
  // After the last closing quote, each single quote would scan the rest of the text.
  const matchQuoted = (): RegExpExecArray | null =>
    QUOTES.includes(text.charAt(at)) ? (match(QUOTED) ?? (at < lastEnd ? match(SINGLE_QUOTED) : null)) : null;
  for (skipSpace(); at < text.length; skipSpace()) {
    if (!flagsEnded && match(END_OF_FLAGS)) {
      flagsEnded = true;
      at = END_OF_FLAGS.lastIndex;
      continue;
    }
    const namedMatch = flagsEnded ? null : match(tokens.length === 0 ? NAMED_FIRST : NAMED);
    const [whole = '', name = ''] = namedMatch ?? [];
    if (name !== '' && isOption(name)) {
      tokens.push({ type: 'flag', name, value: undefined, named: true });
      at += whole.length;
      continue;
    }
    const flag = matchFlag();
    if (flag !== null) {
      at += flag[0].length;
      const [, , name = '', equals] = flag;
      if (equals !== '=') {
        tokens.push({ type: 'flag', name, value: undefined });
        continue;
      }
      const value = matchQuoted() ?? match(WORD);
      tokens.push({ type: 'flag', name, value: value?.[1] ?? value?.[2] ?? value?.[0] ?? '' });
      at += value?.[0].length ?? 0;
      continue;
    }
    const quoted = matchQuoted();
    // A quotation followed by text without a space, as in "a"b, is an ordinary word.
    const word = quoted !== null && isWordEnd(text, at + quoted[0].length, false) ? quoted : match(WORD);
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

function isWordEnd(text: string, end: number, mayContinue: boolean): boolean {
  return mayContinue || end >= text.length || /\s/.test(text.charAt(end));
}
