/** Phrasing content as a row of words that carry their marks, so that it can be broken anywhere and stay balanced. */
import { deadenMentions, escapeText, safeUrl, ZERO_WIDTH_SPACE } from './escape.ts';
import type { PhrasingContent } from './parse.ts';

export type Mark = '**' | '*' | '~~';

/** The smallest thing that stays on one line: a word, a space, a line break, a piece of code, a link. */
export interface Token {
  readonly kind: 'word' | 'space' | 'break' | 'code' | 'link';
  /** Plain for words, spaces and code; finished Markdown for links. */
  readonly text: string;
  readonly marks: readonly Mark[];
}

/** Addresses by the identifier of their definition. */
export type Definitions = ReadonlyMap<string, string>;

export function* tokens(
  nodes: readonly PhrasingContent[],
  definitions: Definitions,
  marks: readonly Mark[] = [],
): Generator<Token> {
  for (const node of nodes) yield* tokensOf(node, definitions, marks);
}

function* tokensOf(
  node: PhrasingContent,
  definitions: Definitions,
  marks: readonly Mark[],
): Generator<Token> {
  switch (node.type) {
    case 'text':
    case 'html':
      yield* words(node.value, marks);
      return;
    case 'strong':
      yield* tokens(node.children, definitions, withMark(marks, '**'));
      return;
    case 'emphasis':
      yield* tokens(node.children, definitions, withMark(marks, '*'));
      return;
    case 'delete':
      yield* tokens(node.children, definitions, withMark(marks, '~~'));
      return;
    case 'inlineCode':
      for (const { kind, text } of split(node.value))
        yield { kind: kind === 'word' ? 'code' : kind, text, marks };
      return;
    case 'break':
      yield { kind: 'break', text: '\n', marks };
      return;
    case 'link':
      yield* link([...tokens(node.children, definitions, marks)], node.url, marks);
      return;
    case 'linkReference':
      yield* link(
        [...tokens(node.children, definitions, marks)],
        definitions.get(node.identifier) ?? '',
        marks,
      );
      return;
    case 'image':
      yield* link([...words(node.alt || 'picture', marks)], node.url, marks);
      return;
    case 'imageReference':
      yield* link([...words(node.alt || 'picture', marks)], definitions.get(node.identifier) ?? '', marks);
      return;
    case 'footnoteReference':
      yield* words(`[${node.label ?? node.identifier}]`, marks);
      return;
    default:
      node satisfies never;
  }
}

const withMark = (marks: readonly Mark[], mark: Mark): readonly Mark[] =>
  marks.includes(mark) ? marks : [...marks, mark];

function* split(text: string): Generator<{ kind: 'word' | 'space' | 'break'; text: string }> {
  for (const [piece] of text.matchAll(/\r?\n|[^\S\n]+|\S+/g)) {
    const kind = /^\r?\n$/.test(piece) ? 'break' : /^\s/.test(piece) ? 'space' : 'word';
    yield { kind, text: kind === 'break' ? '\n' : piece };
  }
}

function* words(text: string, marks: readonly Mark[]): Generator<Token> {
  for (const piece of split(text)) yield { ...piece, marks };
}

/** A link that Discord does not unfold into a preview. Where it cannot be one, its words and its address. */
function* link(label: Token[], url: string, marks: readonly Mark[]): Generator<Token> {
  const plainLabel = label.map((token) => token.text).join('');
  const address = safeUrl(url);
  if (address === undefined) {
    yield* label;
    if (url && url !== plainLabel) yield* words(` (${url})`, marks);
    return;
  }
  const bare =
    plainLabel === url ||
    `mailto:${plainLabel}` === url ||
    plainLabel.trim() === '' ||
    address === `${plainLabel}/`;
  if (bare) {
    yield { kind: 'link', text: `<${address}>`, marks };
    return;
  }
  // Discord does not make a link of a label that contains an address, nor of one with brackets or code.
  const simple =
    label.every((token) => token.kind === 'word' || token.kind === 'space') &&
    !/https?:|[[\]`\\]|discord\.gg/i.test(plainLabel);
  const masked = `[${deadenMentions(plainLabel).replace(/[*_~|]/g, '\\$&')}](<${address}>)`;
  if (simple && masked.length <= LONGEST_MASKED_LINK) {
    yield { kind: 'link', text: masked, marks };
    return;
  }
  yield* label;
  yield { kind: 'space', text: ' ', marks };
  yield { kind: 'link', text: `<${address}>`, marks };
}

/** Longer ones are written out, so that they can be broken. */
const LONGEST_MASKED_LINK = 1_000;

/** Markdown of one token, without its marks. */
function write(token: Token, atLineStart: boolean): string {
  switch (token.kind) {
    case 'word':
      return escapeText(token.text, atLineStart);
    case 'code':
      return writeCode(token.text);
    case 'space':
    case 'break':
    case 'link':
      return token.text;
    default:
      return token.kind satisfies never;
  }
}

function writeCode(code: string): string {
  const safe = deadenMentions(code).replace(/`(?=`)/g, `\`${ZERO_WIDTH_SPACE}`);
  return safe.includes('`') ? `\`\` ${safe} \`\`` : `\`${safe}\``;
}

/**
 * Writes tokens as Markdown in which every mark that opens also closes. Runs of code become one code span.
 * @param prefix what stands at the start of every line after the first
 */
export function writeTokens(row: readonly Token[], prefix: string): string {
  let written = '';
  let open: readonly Mark[] = [];
  let atLineStart = true;
  const merged = [...merge(trim(row))];
  for (const [index, token] of merged.entries()) {
    // Marks may not hug spaces: `** a**` is not bold. So a space keeps those marks only that go on after it.
    const blank = token.kind === 'space' || token.kind === 'break';
    const next = blank
      ? merged.slice(index).find((other) => other.kind !== 'space' && other.kind !== 'break')
      : token;
    const wanted = blank
      ? open.filter((mark) => token.marks.includes(mark) && next?.marks.includes(mark))
      : token.marks;
    const kept = commonStart(open, wanted);
    written += [...open.slice(kept)].reverse().join('');
    // Two spans that touch would be read as one longer mark.
    if (kept < open.length && kept < wanted.length) written += ZERO_WIDTH_SPACE;
    written += wanted.slice(kept).join('');
    open = wanted;
    written += token.kind === 'break' ? `\n${prefix}` : write(token, atLineStart);
    atLineStart = token.kind === 'break' || (atLineStart && token.kind === 'space');
  }
  return written + [...open].reverse().join('');
}

function commonStart(left: readonly Mark[], right: readonly Mark[]): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length += 1;
  return length;
}

function trim(row: readonly Token[]): readonly Token[] {
  const blank = (token: Token | undefined) => token?.kind === 'space' || token?.kind === 'break';
  let start = 0;
  let end = row.length;
  while (start < end && blank(row[start])) start += 1;
  while (end > start && blank(row[end - 1])) end -= 1;
  return row.slice(start, end);
}

/** Words that touch become one, so that no mention arises between them; code spans join over spaces. */
function* merge(row: readonly Token[]): Generator<Token> {
  let last: Token | undefined;
  for (const [index, token] of row.entries()) {
    const next = row[index + 1];
    const joins =
      last !== undefined &&
      sameMarks(last, token) &&
      ((last.kind === token.kind && (token.kind === 'word' || token.kind === 'code')) ||
        (last.kind === 'code' && token.kind === 'space' && next?.kind === 'code' && sameMarks(token, next)));
    if (joins && last !== undefined) {
      last = { ...last, text: last.text + token.text };
      continue;
    }
    if (last !== undefined) yield last;
    last = token;
  }
  if (last !== undefined) yield last;
}

const sameMarks = (left: Token, right: Token): boolean => left.marks.join() === right.marks.join();
