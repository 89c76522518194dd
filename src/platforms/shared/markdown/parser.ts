/** markdown-it, configured for chat. */
import MarkdownIt, { type Env, type Token } from 'markdown-it';

/** Maximum characters parsed in one go, except for code blocks. */
export const SECTION_LENGTH = 8_000;
/** Maximum nesting depth, deeper than any chat platform shows. */
export const MAX_DEPTH = 32;
/** markdown-it pads short rows up to 65,536 cells, which takes half a second. A real cell has at least two characters. */
const MAX_CELLS = SECTION_LENGTH * 2;

function createParser() {
  const parser = new MarkdownIt({ maxNesting: MAX_DEPTH + 1 });
  // markdown-it would drop unused link definitions.
  parser.disable('reference');
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false }).add('//', null);
  // Platforms decide which URLs become links, and show the others as text.
  parser.validateLink = () => true;
  parser.normalizeLink = (url) => url;
  parser.normalizeLinkText = (url) => url;
  parser.inline.State = CjkStateInline;
  parser.inline.ruler.before('escape', 'formula', (state, silent) => {
    const { src, pos } = state;
    if (!isFormulaSign(src, pos)) return false;
    if (!silent) state.pending += src.slice(pos, pos + 2);
    state.pos += 2;
    return true;
  });
  // Beyond `maxNesting`, the parser would drop text.
  parser.block.ruler.before('table', 'too_deep', (state, start, end, silent) => {
    if (silent || state.level < MAX_DEPTH) return false;
    state.push('paragraph_open', 'p', 1);
    const inline = state.push('inline', '', 0);
    inline.content = state.getLines(start, end, state.blkIndent, false).trim();
    inline.children = [];
    state.push('paragraph_close', 'p', -1);
    state.line = end;
    return true;
  });
  return parser;
}

/**
 * Whether the backslash at `pos` belongs to a formula, as in `\\(x\\)`, `\\{` and `\\\\`, where CommonMark would drop it. Square
 * brackets only count next to a space, as models write them.
 */
function isFormulaSign(src: string, pos: number): boolean {
  if (src.charAt(pos) !== '\\') return false;
  const sign = src.charAt(pos + 1);
  if (sign === '[') return /\s/.test(src.charAt(pos + 2));
  if (sign === ']') return /\s/.test(src.charAt(pos - 1));
  return sign !== '' && '(){},;\\'.includes(sign);
}

const CJK_PUNCTUATION = new Set('、。〈〉《》「」『』【】〔〕〖〗〜！（），：；？［］｛｝～｡｢｣､・“”‘’…—');

/**
 * Marks next to CJK punctuation both open and close: these scripts have no spaces, and CommonMark would not parse the marks in
 * `**「a」**b`. https://github.com/commonmark/commonmark-spec/issues/650
 */
class CjkStateInline extends MarkdownIt.StateInline {
  override scanDelims(start: number, canSplitWord: boolean) {
    const found = super.scanDelims(start, canSplitWord);
    const { can_open, can_close, length } = found;
    return {
      length,
      can_open: can_open || CJK_PUNCTUATION.has(this.src.charAt(start + length)),
      can_close: can_close || CJK_PUNCTUATION.has(this.src.charAt(start - 1)),
    };
  }
}

const reader = createParser();
const withoutTables = createParser().disable('table');

export const tokensOf = (markdown: string, references: References): Token[] =>
  (cellsOf(markdown) > MAX_CELLS ? withoutTables : reader).parse(markdown, { references });

/** An upper bound for table cells: treats each block between empty lines as a table. */
function cellsOf(markdown: string): number {
  let cells = 0;
  let rows = 0;
  let columns = 0;
  for (const line of `${markdown}\n`.split('\n')) {
    if (line.trim() === '') {
      cells += rows * columns;
      rows = 0;
      columns = 0;
    } else {
      rows += 1;
      columns = Math.max(columns, line.split('|').length);
    }
  }
  return cells;
}

type References = NonNullable<Env['references']>;

/** Link definitions by name, for links such as `[words][name]`. */
export function definitionsIn(markdown: string): References {
  const found = markdown.matchAll(/^ {0,3}\[([^[\]\n]{1,200})\]:[ \t]*<?(https?:[^\s<>]+)/gm);
  const { normalizeReference } = reader.utils;
  return Object.fromEntries(
    [...found].map(([, name = '', href = '']) => [normalizeReference(name), { href, title: '' }]),
  );
}

/** The bare URLs in plain text, with their positions. */
export const addressesIn = (text: string) => reader.linkify.match(text) ?? [];
