/**
 * `npm run check:regex [folders]`: checks with recheck (https://makenowjust-labs.github.io/recheck/) that every regular expression
 * takes linear time. Prints each that does not, with a text that makes it slow.
 */

import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseSync, Visitor, type VisitorObject } from 'oxc-parser';
import { check } from 'recheck';
import { printedHelp } from '../src/app/process.ts';

interface Expression {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** Harmless expressions that are not linear, by their beginning, with the reason. */
const EXCEPTIONS = [
  {
    begins: 'too (?:long|large|big|many',
    reason: 'messages of the gateway are cut to 500 characters when they are read',
  },
  {
    begins: '^\\p{RGI_Emoji}$',
    reason: 'it is one of a fixed set of short strings (recheck does not know the flag v)',
  },
] as const;

/** In milliseconds. With the shorter defaults, expressions look slow on a busy machine. */
const LIMITS = { attackTimeout: 10_000, incubationTimeout: null, timeout: 60_000 };

type Node = Parameters<NonNullable<VisitorObject['NewExpression']>>[0]['arguments'][number];

/** Returns the text of a constant. Template parts that are not constants are ids and names, so a word replaces them. */
function textOf(node: Node | undefined, constants: ReadonlyMap<string, Node>): string | undefined {
  if (node?.type === 'Identifier') return textOf(constants.get(node.name), constants);
  if (node?.type === 'Literal') return String(node.value);
  if (node?.type !== 'TemplateLiteral') return undefined;
  const parts = node.expressions.map((part) => textOf(part, constants) ?? 'word');
  return node.quasis.map(({ value }, index) => `${value.cooked}${parts[index] ?? ''}`).join('');
}

/** Returns the regular expressions in a file, as literals and `RegExp` calls. */
function expressionsOf(file: string): Expression[] {
  const text = readFileSync(file, 'utf8');
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} could not be read: ${errors[0]?.message}`);
  const constants = new Map<string, Node>();
  const found: Expression[] = [];
  const add = (start: number, source: string, flags: string) =>
    found.push({ place: `${file}:${text.slice(0, start).split('\n').length}`, source, flags });
  const addCall = (start: number, [source, flags]: readonly Node[]) => {
    const pattern = textOf(source, constants);
    if (pattern === undefined) throw new Error(`${file} builds a regular expression that cannot be checked`);
    add(start, pattern, textOf(flags, constants) ?? '');
  };
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && init) constants.set(id.name, init);
    },
  }).visit(program);
  new Visitor({
    Literal(node) {
      if ('regex' in node) add(node.start, node.regex.pattern, node.regex.flags);
    },
    NewExpression({ start, callee, arguments: given }) {
      if (callee.type === 'Identifier' && callee.name === 'RegExp') addCall(start, given);
    },
    CallExpression({ start, callee, arguments: given }) {
      if (callee.type === 'Identifier' && callee.name === 'RegExp') addCall(start, given);
    },
  }).visit(program);
  return found;
}

/** Returns a description of the problem, or undefined. */
async function faultOf({ source, flags }: Expression): Promise<string | undefined> {
  const result = await check(source, flags, LIMITS);
  switch (result.status) {
    case 'safe':
      return undefined;
    case 'vulnerable':
      return `${result.complexity.summary}, for example with ${result.attack.pattern}`;
    case 'unknown':
      return `could not be checked (${result.error.kind})`;
    default:
      return result satisfies never;
  }
}

async function main(folders: readonly string[]): Promise<number> {
  // Uses the package's own binary even if Java is installed.
  process.env.RECHECK_BACKEND ??= 'native';
  const files = globSync(folders.map((folder) => `${folder}/**/*.{ts,js}`)).sort();
  const found = files.flatMap(expressionsOf).filter((expression) => !isException(expression));
  const distinct = Map.groupBy(found, ({ source, flags }) => `/${source}/${flags}`);
  const left = distinct.entries();
  const faults: string[] = [];
  const work = async () => {
    for (const [text, same] of left) {
      const fault = same[0] && (await faultOf(same[0]));
      const places = same.map(({ place }) => place).join(', ');
      if (fault !== undefined) faults.push(`${places}\n  ${text}\n  ${fault}\n`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  process.stdout.write(faults.sort().join(''));
  process.stdout.write(`${distinct.size} regular expressions, ${faults.length} of them not linear\n`);
  return faults.length === 0 ? 0 : 1;
}

function isException({ source }: Expression): boolean {
  return EXCEPTIONS.some(({ begins }) => source.startsWith(begins));
}

if (
  printedHelp(`Usage: npm run check:regex [-- folders]
Prints regular expressions that do not take linear time. Exits with 1 if there are any.`)
)
  process.exit();

const named = process.argv.slice(2);
process.exitCode = await main(named.length > 0 ? named : ['src', 'commands']);
