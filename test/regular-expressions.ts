/**
 * `npm run check:regex [folders]`: every regular expression of the bot takes at most linear time in its text. Each is checked with
 * recheck (https://makenowjust-labs.github.io/recheck/); those that are not linear are printed with a text that makes them slow.
 */
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseSync, Visitor, type VisitorObject } from 'oxc-parser';
import { check } from 'recheck';

interface Expression {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** How expressions begin that are not linear, and why that does no harm. */
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

/** In milliseconds. The defaults of a second and less make expressions look slow on a busy machine. */
const LIMITS = { attackTimeout: 10_000, incubationTimeout: null, timeout: 60_000 };

type Node = Parameters<NonNullable<VisitorObject['NewExpression']>>[0]['arguments'][number];

/** The text of a constant. Parts of a template that are not constants of the file are ids and names: a word stands for them. */
function textOf(node: Node | undefined, constants: ReadonlyMap<string, Node>): string | undefined {
  if (node?.type === 'Identifier') return textOf(constants.get(node.name), constants);
  if (node?.type === 'Literal') return String(node.value);
  if (node?.type !== 'TemplateLiteral') return undefined;
  const parts = node.expressions.map((part) => textOf(part, constants) ?? 'word');
  return node.quasis.map(({ value }, index) => `${value.cooked}${parts[index] ?? ''}`).join('');
}

/** The regular expressions that a file holds, as literals and as calls of `RegExp`. */
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

/** What is wrong with an expression, or undefined. */
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
  // The program that comes with the package, instead of Java where it is installed.
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

const named = process.argv.slice(2);
process.exitCode = await main(named.length > 0 ? named : ['src', 'commands']);
