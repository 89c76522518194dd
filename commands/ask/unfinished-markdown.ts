/** Markdown that is still being written, closed where it ends: it already renders as the whole text will. */

/** Characters. Closing looks ahead from each sign, and a mark is not missed in so long a paragraph. */
const LONGEST_BLOCK = 3_000;
const GAPS = ['\n\n', '\n```\n', '\n~~~\n'] as const;
const LONGEST_GAP = 5;

/**
 * Closes what the last block has open: emphasis, code, links. Marks without text are left out until text follows. Blocks
 * need nothing: every reader of Markdown takes an open fence as a fence.
 */
export function closeMarkdown(text: string): string {
  const fence = openFence(text);
  // The first signs of the closing fence are not code.
  if (fence !== undefined)
    return text.replace(new RegExp(`\\n[ \\t]*${fence[0]}{1,${fence.length - 1}}$`), '');
  const start = lastBlock(text);
  if (start === undefined) return text;
  const block = withoutFirstSigns(text.slice(start));
  return text.slice(0, start) + closeInline(block);
}

const FENCE = /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(`{3,}|~{3,})(.*)$/;

/** The marks of the code fence that is open at the end of the text. */
function openFence(text: string): string | undefined {
  let open: string | undefined;
  for (const line of linesWithFences(text)) {
    const [, marks = '', info = ''] = FENCE.exec(line) ?? [];
    if (marks === '') continue;
    if (open === undefined) open = marks.startsWith('`') && info.includes('`') ? undefined : marks;
    else if (marks.startsWith(open) && info.trim() === '') open = undefined;
  }
  return open;
}

/** Only these: a growing text is searched from its beginning at each edit. */
function* linesWithFences(text: string): Generator<string> {
  const marks = /`{3}|~{3}/g;
  for (let found = marks.exec(text); found !== null; found = marks.exec(text)) {
    const end = text.indexOf('\n', found.index);
    marks.lastIndex = end < 0 ? text.length : end;
    yield text.slice(text.lastIndexOf('\n', found.index) + 1, marks.lastIndex);
  }
}

const BEGINS_BLOCK = /\n(?=[ \t>]*(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t])/g;

/**
 * Where the last paragraph, item or heading begins: marks never reach over an empty line, nor out of an item. Undefined where it is
 * longer than {@link LONGEST_BLOCK}.
 */
function lastBlock(text: string): number | undefined {
  const from = Math.max(0, text.length - LONGEST_BLOCK - LONGEST_GAP);
  const tail = text.slice(from);
  const gap = Math.max(...GAPS.map((sign) => tail.lastIndexOf(sign)));
  const after = gap < 0 ? 0 : gap + (tail.startsWith('\n\n', gap) ? 2 : LONGEST_GAP);
  let start = after;
  for (const match of tail.slice(after).matchAll(BEGINS_BLOCK)) start = after + match.index + 1;
  return tail.length - start > LONGEST_BLOCK ? undefined : from + start;
}

/** Signs at the beginning of a line are left out until more follows: dashes alone would make the text above a heading. */
function withoutFirstSigns(block: string): string {
  return block.replace(/(?:^|\n)[ \t]*(?:[-=_*+]+|\d{1,9}[.)]?|`{1,2}|~{1,2}|#{1,6})[ \t]*$/, '');
}

interface Mark {
  readonly sign: string;
  /** Its index in what was written so far. */
  readonly at: number;
}

function closeInline(block: string): string {
  let written = '';
  const open: Mark[] = [];
  let at = 0;
  while (at < block.length) {
    const rest = block.slice(at);
    const sign = block[at] ?? '';
    // It may become a picture: no character before it, and nothing after it yet.
    if (sign === '!' && rest.length === 1 && !/\S/.test(block[at - 1] ?? '')) break;
    if (sign === '\\') {
      // The sign that it escapes has not come yet.
      if (rest.length === 1) break;
      written += rest.slice(0, 2);
      at += 2;
    } else if (sign === '`') {
      const [run = ''] = /^`+/.exec(rest) ?? [];
      const end = endOfCode(block, at + run.length, run);
      if (end !== undefined) {
        written += block.slice(at, end);
        at = end;
        continue;
      }
      const code = block.slice(at + run.length).replace(/`+$/, '');
      if (code.trim() !== '') written += `${run}${code.endsWith('`') ? `${code} ` : code}${run}`;
      return finish(written, open);
    } else if (sign === '[' || (sign === '!' && block[at + 1] === '[')) {
      const link = readLink(rest);
      if (link.type === 'unfinished') {
        // Its words are shown; its address is not known yet.
        return finish(written + closeInline(link.label), open);
      }
      written += rest.slice(0, link.length);
      at += link.length;
    } else if (sign === '*' || sign === '_' || sign === '~') {
      const [run = ''] = new RegExp(`^\\${sign}+`).exec(rest) ?? [];
      written = mark(written, run, { before: block[at - 1], after: block[at + run.length] }, open);
      at += run.length;
    } else {
      written += sign;
      at += 1;
    }
  }
  return finish(written, open);
}

function endOfCode(block: string, from: number, run: string): number | undefined {
  for (const match of block.slice(from).matchAll(/`+/g)) {
    if (match[0].length === run.length) return from + match.index + run.length;
  }
  return undefined;
}

type Link =
  | { readonly type: 'whole'; readonly length: number }
  | { readonly type: 'unfinished'; readonly label: string };

function readLink(rest: string): Link {
  const opening = rest.startsWith('!') ? 2 : 1;
  let depth = 0;
  for (let at = opening; at < rest.length; at += 1) {
    const sign = rest[at];
    if (sign === '\\') at += 1;
    else if (sign === '\n' && rest[at + 1] === '\n') break;
    else if (sign === '[') depth += 1;
    else if (sign === ']' && depth > 0) depth -= 1;
    else if (sign === ']') {
      const label = rest.slice(opening, at);
      if (rest[at + 1] === undefined) return { type: 'unfinished', label };
      if (rest[at + 1] !== '(') return { type: 'whole', length: opening };
      const address = /^\((?:<[^<>\n]*>|[^\s()]|\((?:[^\s()]*)\))*(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(
        rest.slice(at + 1),
      );
      if (address) return { type: 'whole', length: at + 1 + address[0].length };
      const unfinished = /^\([^\s()]*(?:\([^\s()]*\)?[^\s()]*)?(?:\s+["'][^"']*["']?)?\s*$/.test(
        rest.slice(at + 1),
      );
      return unfinished ? { type: 'unfinished', label } : { type: 'whole', length: opening };
    }
  }
  // A bracket that never closes is only a bracket; one at the very end may still become a link.
  const label = rest.slice(opening);
  return label.length <= 200 && !label.includes('\n')
    ? { type: 'unfinished', label }
    : { type: 'whole', length: opening };
}

/** Opens or closes emphasis by CommonMark's flanking rules, as far as they matter for text that goes on. */
function mark(
  written: string,
  run: string,
  { before, after }: { before: string | undefined; after: string | undefined },
  open: Mark[],
): string {
  const opens = after === undefined || !/\s/.test(after);
  const closes = before !== undefined && !/\s/.test(before);
  const insideWord =
    run.startsWith('_') && /\w/.test(before ?? '') && after !== undefined && /\w/.test(after);
  // A second sign may follow.
  if (run === '~' && after === undefined) return written;
  if (insideWord || (run.startsWith('~') && run.length !== 2)) return written + run;
  let left = run;
  while (closes && left !== '') {
    const last = open.at(-1);
    if (!last || !left.startsWith(last.sign)) break;
    open.pop();
    left = left.slice(last.sign.length);
  }
  if (left === '') return written + run;
  // Half of a mark that closes: `**bold*` is one sign short of its end.
  if (after === undefined && closes && open.at(-1)?.sign.startsWith(left))
    return written + run.slice(0, -left.length);
  const done = run.slice(0, run.length - left.length);
  if (!opens) return written + run;
  const signs = left.startsWith('~') || left.length <= 2 ? [left] : [left.slice(0, 2), left.slice(2)];
  let text = written + done;
  for (const sign of signs) {
    open.push({ sign, at: text.length });
    text += sign;
  }
  return text;
}

function finish(written: string, open: readonly Mark[]): string {
  let text = written;
  const closing: string[] = [];
  for (const { sign, at } of open.toReversed()) {
    const inside = text.slice(at + sign.length);
    if (inside.trim() === '') text = text.slice(0, at);
    else closing.push(sign);
  }
  if (closing.length === 0) return text;
  const [, words = '', space = ''] = /^([\s\S]*?)(\s*)$/.exec(text) ?? [];
  return words + closing.join('') + space;
}
