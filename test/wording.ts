/**
 * `npm run check:wording [-- files]`: wordings that sound translated, in the strings and comments of the code, the titles of tests and
 * the documents. Prints each with its place and a better form, and exits with 1 if there are any.
 */

import { globSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseSync, Visitor } from 'oxc-parser';
import { printedHelp } from '../src/app/process.ts';

interface Passage {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

interface Rule {
  readonly pattern: RegExp;
  readonly better: string;
}

const LONGEST_SENTENCE = 30;

const RULES: readonly Rule[] = [
  { pattern: /\banew\b/i, better: 'again' },
  { pattern: /\bwho(so)?ever\b/i, better: 'anyone who, the operator, the requester' },
  { pattern: /\b(at )?any more\b/i, better: 'no longer' },
  { pattern: /\b(goes|go|going|went) on\b(?! (strike|sale))/i, better: 'continues' },
  { pattern: /\b(comes?|came|coming) along\b/i, better: 'is included' },
  { pattern: /\b(is|are|was|were) none\b/i, better: 'there is no …, is not a …' },
  {
    pattern: /(?<!\bthere )\b(is|are|was|were) no\b(?! (longer|matter|more than))/i,
    better: 'is not a …, there is no …',
  },
  { pattern: /\bno more\b(?! than)/i, better: 'no longer' },
  { pattern: /\b(take|takes|took|taken|taking) (it |them |this )?(away|apart)\b/i, better: 'remove, split' },
  { pattern: /\bby (it|them)sel(f|ves)\b/i, better: 'automatically, on its own' },
  { pattern: /\black(s|ed|ing)?\b/i, better: 'needs, does not have, is missing' },
  { pattern: /\bpaint(s|ed|ing)?\b/i, better: 'create an image' },
  { pattern: /\bshall\b/i, better: 'should, will' },
  { pattern: /\bneed not\b/i, better: 'does not have to' },
  { pattern: /\bof (its|their|one's|his) own\b/i, better: 'its own …' },
  { pattern: /\bso many\b/i, better: 'this many, the given number of' },
  { pattern: /\bof use\b/i, better: 'useful' },
  { pattern: /\bof (which|whom)\b/i, better: 'two clauses with “and”' },
  { pattern: /\b(told|said|says|say) so\b/i, better: 'name what is reported' },
  { pattern: /\b(is|are|was|were) (told|said)\b/i, better: 'gets a message, reports' },
  { pattern: /\bup to where\b/i, better: 'up to the point where' },
  { pattern: /^(Who|What) .*[^?:]$/, better: 'start with the thing or the actor' },
  {
    pattern: /\b(canceled|canceling|organization|recognize[ds]?)\b/,
    better: 'cancelled, organisation, recognise',
  },
];

/** SQL and Lua in strings. */
const CODE =
  /\b(?:SELECT|INSERT INTO|UPDATE \w+ SET|CREATE TABLE)\b|\bredis\.call\b|\blocal \w+ =|\bthen return\b/;

/** Passages that may stay. */
const EXCEPTIONS: readonly { readonly file: string; readonly text: string; readonly reason: string }[] = [
  {
    file: 'docs/gateway.md',
    text: 'What the service does',
    reason: 'it quotes a heading of the contract',
  },
];

/** Strings of one word are names and values. Templates are read with a word in place of each expression. */
function passagesOfCode(file: string, isTest: boolean): Passage[] {
  const source = readFileSync(file, 'utf8');
  const { program, comments, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} could not be read: ${errors[0]?.message}`);
  const found: Passage[] = [];
  const add = (start: number, text: string) => {
    if (!/[a-z]+ [a-z]/i.test(text) || CODE.test(text)) return;
    const line = source.slice(0, start).split('\n').length;
    for (const sentence of sentencesOf(text)) found.push({ file, line, text: sentence });
  };
  for (const { start, value } of comments) {
    const text = value.replace(/^[ \t]*\*+[ \t]?/gm, '');
    if (!/^\s*(biome-ignore|v8 ignore|@ts-)/.test(text)) add(start, text);
  }
  const addString = (node: { readonly type: string; readonly start: number } | undefined) => {
    if (node && 'value' in node && node.type === 'Literal' && typeof node.value === 'string')
      add(node.start, node.value);
  };
  new Visitor(
    isTest
      ? {
          // it('…'), describe('…'), test.each(…)('…')
          CallExpression({ callee, arguments: [first] }) {
            const name = source.slice(callee.start, callee.end);
            if (/^(it|test|describe)\b/.test(name)) addString(first);
          },
        }
      : {
          Literal: addString,
          TemplateLiteral({ start, quasis }) {
            add(start, quasis.map(({ value }) => value.cooked ?? value.raw).join('word'));
          },
        },
  ).visit(program);
  return found;
}

/** Tables are read cell by cell. Code, inline or in fences, addresses and headings are left out. */
function passagesOfDocument(file: string): Passage[] {
  const found: Passage[] = [];
  let isCode = false;
  let paragraph: { line: number; text: string } | undefined;
  const flush = () => {
    for (const text of paragraph ? sentencesOf(paragraph.text) : [])
      found.push({ file, line: paragraph?.line ?? 0, text });
    paragraph = undefined;
  };
  for (const [index, written] of readFileSync(file, 'utf8').split('\n').entries()) {
    if (/^\s*(```|~~~)/.test(written)) isCode = !isCode;
    if (isCode || /^\s*(```|~~~|#|<|$)/.test(written)) {
      flush();
      continue;
    }
    const text = written
      .replace(/`[^`]*`/g, 'code')
      .replace(/\]\([^)]*\)/g, ']')
      .replace(/https?:\S+/g, 'address');
    if (/^\s*\|/.test(text)) {
      flush();
      for (const cell of text.split('|'))
        for (const sentence of sentencesOf(cell)) found.push({ file, line: index + 1, text: sentence });
      continue;
    }
    if (/^\s*([-*>]|\d+\.)\s/.test(text)) flush();
    paragraph = {
      line: paragraph?.line ?? index + 1,
      text: `${paragraph?.text ?? ''} ${text.replace(/^\s*([-*>]|\d+\.)\s/, '')}`,
    };
  }
  flush();
  return found;
}

function sentencesOf(text: string): string[] {
  // Tags of HTML separate texts.
  return text
    .replace(/<\/?[a-z!][^<>]*>/gi, '\n\n')
    .split(/(?<=[.!?:;])\s+|\n\s*\n/)
    .map((sentence) => sentence.replace(/\s+/g, ' ').trim())
    .filter(Boolean);
}

const wordsIn = (text: string): number => text.split(' ').filter((word) => /[a-z0-9]/i.test(word)).length;

function faultsOf({ text }: Passage): string[] {
  const faults = RULES.flatMap(({ pattern, better }) => {
    const [match] = pattern.exec(text) ?? [];
    return match === undefined ? [] : [`“${match.slice(0, 30)}” → ${better}`];
  });
  const words = wordsIn(text);
  return words > LONGEST_SENTENCE
    ? [...faults, `${words} words → at most ${LONGEST_SENTENCE}, better two sentences`]
    : faults;
}

if (
  printedHelp(`Usage: npm run check:wording [-- [--list] files]
Prints wordings that sound translated. Exits with 1 if there are any. --list prints all texts with their places instead.`)
)
  process.exit();

const { values, positionals: selected } = parseArgs({
  options: { list: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const files = (pattern: string | string[]) =>
  globSync(pattern, { exclude: ['**/node_modules/**', '.*/**'] }).filter(
    (file) => selected.length === 0 || selected.some((part) => file.startsWith(part)),
  );
const passages = [
  ...files(['src/**/*.{ts,js}', 'commands/**/*.ts', 'scripts/*.ts']).flatMap((file) =>
    passagesOfCode(file, false),
  ),
  ...files('test/**/*.ts').flatMap((file) => passagesOfCode(file, true)),
  ...files(['*.md', 'docs/**/*.md']).flatMap(passagesOfDocument),
];

if (values.list) {
  for (const { file, line, text } of passages) process.stdout.write(`${file}:${line}  ${text}\n`);
  process.exit();
}

let count = 0;
for (const passage of passages) {
  const isException = EXCEPTIONS.some(
    ({ file, text }) => file === passage.file && passage.text.includes(text),
  );
  if (isException) continue;
  for (const fault of faultsOf(passage)) {
    count += 1;
    process.stdout.write(`${passage.file}:${passage.line}  ${passage.text}\n    ${fault}\n`);
  }
}
process.stdout.write(`${count} wordings to improve in ${passages.length} passages\n`);
process.exitCode = count === 0 ? 0 : 1;
