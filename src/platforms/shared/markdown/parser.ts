/** markdown-it as chats need it. */
import MarkdownIt, { type Env, type Token } from 'markdown-it';

/** Characters that are parsed in one go, code blocks aside. */
export const SECTION = 8_000;
/** Containers in containers. No chat shows so many. */
export const DEEPEST = 32;
/** markdown-it fills short rows up to 65,536 cells, which takes it half a second. An honest cell has two characters. */
const MOST_CELLS = SECTION * 2;

function createParser() {
  const parser = new MarkdownIt({ maxNesting: DEEPEST + 1 });
  // It would leave out what nothing refers to.
  parser.disable('reference');
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false }).add('//', null);
  // Platforms decide which addresses they link, and show the others.
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
  // Past its `maxNesting`, the parser leaves text out.
  parser.block.ruler.before('table', 'too_deep', (state, start, end, silent) => {
    if (silent || state.level < DEEPEST) return false;
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
 * Whether the backslash at `pos` belongs to a formula, as in `\\(x\\)`, `\\{` and `\\\\`: CommonMark would drop it. Brackets count
 * with a space inside, as models write them.
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
 * Next to the punctuation of Chinese, Japanese and Korean, marks both open and close: these scripts have no spaces, and
 * CommonMark's rules would leave the marks of `**「a」**b` as they are. https://github.com/commonmark/commonmark-spec/issues/650
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
  (cellsOf(markdown) > MOST_CELLS ? withoutTables : reader).parse(markdown, { references });

/** Cells, if all that stands between empty lines were tables. */
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

/** Where links such as `[words][name]` lead, by name. */
export function definitionsIn(markdown: string): References {
  const found = markdown.matchAll(/^ {0,3}\[([^[\]\n]{1,200})\]:[ \t]*<?(https?:[^\s<>]+)/gm);
  const { normalizeReference } = reader.utils;
  return Object.fromEntries(
    [...found].map(([, name = '', href = '']) => [normalizeReference(name), { href, title: '' }]),
  );
}

/** The bare addresses in plain text, with their places. */
export const addressesIn = (text: string) => reader.linkify.match(text) ?? [];
