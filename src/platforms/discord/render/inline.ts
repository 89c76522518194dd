/**
 * Phrasing content as a row of words that carry their marks, so that it can be broken anywhere and stay balanced; and the
 * escaping of plain text for Discord.
 */
import { isBareLink, type PhrasingContent } from '../../shared/markdown.ts';

export type Mark = '**' | '*' | '~~';

/** The smallest part that stays on one line: a word, a space, a line break, a piece of code, a link. */
export interface InlineToken {
  readonly kind: 'word' | 'space' | 'break' | 'code' | 'link';
  /** Plain for words, spaces and code; finished Markdown for links. */
  readonly text: string;
  readonly marks: readonly Mark[];
}

/** Takes a tree that has passed `withoutReferences`. */
export const tokens = (nodes: readonly PhrasingContent[], marks: readonly Mark[] = []): InlineToken[] =>
  nodes.flatMap((node) => tokensOf(node, marks));

function tokensOf(node: PhrasingContent, marks: readonly Mark[]): InlineToken[] {
  switch (node.type) {
    case 'text':
      return words(node.value, marks);
    case 'strong':
      return tokens(node.children, withMark(marks, '**'));
    case 'emphasis':
      return tokens(node.children, withMark(marks, '*'));
    case 'delete':
      return tokens(node.children, withMark(marks, '~~'));
    case 'inlineCode':
      return words(node.value, marks).map((token) =>
        token.kind === 'word' ? { ...token, kind: 'code' } : token,
      );
    case 'break':
      return [{ kind: 'break', text: '\n', marks }];
    case 'link':
      return link(tokens(node.children, marks), node.url, marks);
    case 'html':
    case 'image':
    case 'imageReference':
    case 'linkReference':
    case 'footnoteReference':
      return [];
    default:
      return node satisfies never;
  }
}

const withMark = (marks: readonly Mark[], mark: Mark): readonly Mark[] =>
  marks.includes(mark) ? marks : [...marks, mark];

const words = (text: string, marks: readonly Mark[]): InlineToken[] =>
  [...text.matchAll(/\r?\n|[^\S\n]+|\S+/g)].map(([piece]) => {
    if (/^\r?\n$/.test(piece)) return { kind: 'break', text: '\n', marks };
    return { kind: /^\s/.test(piece) ? 'space' : 'word', text: piece, marks };
  });

/** Longer ones are written out, so that they can be broken. */
const LONGEST_MASKED_LINK = 1_000;

/** A link that Discord does not unfold into a preview. Where it cannot be a link, its words and its address. */
function link(label: readonly InlineToken[], url: string, marks: readonly Mark[]): InlineToken[] {
  const plainLabel = label.map((token) => token.text).join('');
  const isBare = isBareLink(plainLabel, url);
  const address = safeUrl(url);
  if (address === undefined) return [...label, ...(url && !isBare ? words(` (${url})`, marks) : [])];
  const bare: InlineToken = { kind: 'link', text: `<${address}>`, marks };
  if (isBare || address === `${plainLabel}/` || plainLabel.trim() === '') return [bare];
  // Discord does not make a link of a label that contains an address, nor of one with brackets or code.
  const isSimple =
    label.every((token) => token.kind === 'word' || token.kind === 'space') &&
    !/https?:|[[\]`\\]|discord\.gg/i.test(plainLabel);
  const masked = `[${deadenMentions(plainLabel).replace(/[*_~|]/g, '\\$&')}](<${address}>)`;
  if (isSimple && masked.length <= LONGEST_MASKED_LINK) return [{ kind: 'link', text: masked, marks }];
  return [...label, { kind: 'space', text: ' ', marks }, bare];
}

/** Markdown of one token, without its marks. */
function write({ kind, text }: InlineToken, atLineStart: boolean): string {
  switch (kind) {
    case 'word':
      return escapeText(text, atLineStart);
    case 'code':
      return codeSpan(text);
    case 'space':
    case 'break':
    case 'link':
      return text;
    default:
      return kind satisfies never;
  }
}

/** Discord reads nothing in it, mentions neither. Three backticks would be a fence, so the sign around it are two at most. */
function codeSpan(code: string): string {
  const runs = new Set(code.match(/`+/g)?.map((run) => run.length));
  if (!runs.has(1)) return padCode(code, '`');
  return padCode(runs.has(2) ? code.replace(/`(?=`)/g, `\`${ZERO_WIDTH_SPACE}`) : code, '``');
}

const padCode = (code: string, sign: string): string =>
  /^`|`$/.test(code) ? `${sign} ${code} ${sign}` : `${sign}${code}${sign}`;

/**
 * Writes tokens as Markdown in which every mark that opens also closes. Runs of code become one code span.
 * @param prefix begins every line after the first
 */
export function writeTokens(row: readonly InlineToken[], prefix: string): string {
  let written = '';
  let open: readonly Mark[] = [];
  let atLineStart = true;
  const merged = merge(trim(row));
  const following = followingWords(merged);
  for (const [index, token] of merged.entries()) {
    // Marks may not touch spaces: `** a**` is not bold. So a space keeps those marks only that go on after it.
    const next = following[index];
    const wanted = isBlank(token)
      ? open.filter((mark) => token.marks.includes(mark) && next?.marks.includes(mark))
      : token.marks;
    const different = open.findIndex((mark, at) => mark !== wanted[at]);
    const kept = different < 0 ? open.length : different;
    written += open.slice(kept).reverse().join('');
    // Two spans that touch would be read as one longer mark.
    if (kept < open.length && kept < wanted.length) written += ZERO_WIDTH_SPACE;
    written += wanted.slice(kept).join('');
    open = wanted;
    written += token.kind === 'break' ? `\n${prefix}` : write(token, atLineStart);
    atLineStart = token.kind === 'break' || (atLineStart && token.kind === 'space');
  }
  return written + [...open].reverse().join('');
}

/** For each token: itself, or what follows if it is blank. */
function followingWords(row: readonly InlineToken[]): (InlineToken | undefined)[] {
  let next: InlineToken | undefined;
  const reversed = row.toReversed().map((token) => {
    if (!isBlank(token)) next = token;
    return next;
  });
  return reversed.reverse();
}

const isBlank = ({ kind }: InlineToken): boolean => kind === 'space' || kind === 'break';

const trim = (row: readonly InlineToken[]): readonly InlineToken[] =>
  row.slice(
    row.findIndex((token) => !isBlank(token)),
    row.findLastIndex((token) => !isBlank(token)) + 1,
  );

/** Words that touch become one, so that no mention arises between them; code spans join over spaces. */
function merge(row: readonly InlineToken[]): InlineToken[] {
  const merged: InlineToken[] = [];
  for (const [index, token] of row.entries()) {
    const last = merged.at(-1);
    const next = row[index + 1];
    const isSameKind = last?.kind === token.kind && (token.kind === 'word' || token.kind === 'code');
    const isGapInCode = last?.kind === 'code' && token.kind === 'space' && next?.kind === 'code';
    const joins =
      (isSameKind || (isGapInCode && sameMarks(token, next))) && last !== undefined && sameMarks(last, token);
    if (joins) merged[merged.length - 1] = { ...last, text: last.text + token.text };
    else merged.push(token);
  }
  return merged;
}

const sameMarks = (left: InlineToken, right: InlineToken): boolean =>
  left.marks === right.marks || left.marks.join() === right.marks.join();

/** Nothing can be seen of it, and Discord does not read a mention across it. */
export const ZERO_WIDTH_SPACE = '\u200b';

/** Kills user, role, channel, command, guild, emoji and time references, `@everyone` and `@here`. */
export function deadenMentions(text: string): string {
  return text
    .replace(/<(?=[@#/:a-z])/gi, `<${ZERO_WIDTH_SPACE}`)
    .replace(/@(?=everyone|here)/gi, `@${ZERO_WIDTH_SPACE}`);
}

/**
 * Text as it is, anywhere in a line. Any sign may have a backslash before it.
 * @param atLineStart also escapes what makes headings, lists, quotes and small print
 */
export function escapeText(text: string, atLineStart: boolean): string {
  const escaped = deadenMentions(text).replace(/[\\*_~|`[\]]/g, '\\$&');
  if (!atLineStart) return escaped;
  return escaped.replace(/^(\s*)([#>\-+])/, '$1\\$2').replace(/^(\s*\d+)([.)])/, '$1\\$2');
}

/** Several lines of plain text, as Discord's Markdown that shows exactly them. */
export function escapePlain(text: string): string {
  return escapeText(text, false)
    .replace(/^([^\S\r\n\u2028\u2029]*)([#>\-+])/gm, '$1\\$2')
    .replace(/^([^\S\r\n\u2028\u2029]*\d+)([.)])/gm, '$1\\$2');
}

/** Code between fences: a fence in it would end it. */
export function escapeFenced(code: string): string {
  return code.replace(/`(?=``)/g, `\`${ZERO_WIDTH_SPACE}`);
}

/** An address that a link may have, or undefined when it is none that people should open. */
export function safeUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return undefined;
  return href
    .replace(/[()<>\\|*`]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/@(?=everyone|here)/gi, '%40');
}
