/**
 * `npm run bench`: what Minstrel's work costs, compared with its peers and limits. `npm run bench -- p1 p7` measures rows alone; `--short`
 * measures little and allows twice the goals; `--markdown` prints the table as docs/performance.md has it. `npm run bench -- scale` measures what docs/scale.md goes by, and `-- growth` how
 * costs grow. Exits with 1 when a ratio falls behind its goal. See docs/performance.md.
 */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { lagRow, manyAnswersRow } from './answers.ts';
import { callbacksRow } from './callbacks.ts';
import { commandsRow } from './commands.ts';
import { engineRow } from './engine.ts';
import { firstWordsRow } from './first-words.ts';
import { installRow } from './install.ts';
import type { BenchRow, Comparison } from './measure.ts';
import { pagesRow } from './pages.ts';
import { startupRow } from './startup.ts';
import { streamsRow } from './streams.ts';
import { uploadsRow } from './uploads.ts';
import { voiceRow } from './voice.ts';
import { waitingRow } from './waiting.ts';

const ROWS: readonly BenchRow[] = [
  streamsRow,
  lagRow,
  manyAnswersRow,
  callbacksRow,
  commandsRow,
  firstWordsRow,
  startupRow,
  engineRow,
  uploadsRow,
  installRow,
  waitingRow,
  pagesRow,
  voiceRow,
];

/** What a short run forgives: it is there to catch a relapse. */
const SHORT_SLACK = 2;
/** A short run measures a row so often before it believes that it is behind: a relapse stays, what else the machine did does not. */
const SHORT_ATTEMPTS = 4;

const { values, positionals } = parseArgs({
  options: { short: { type: 'boolean', default: false }, markdown: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const slack = values.short ? SHORT_SLACK : 1;

function chosenRows(): readonly BenchRow[] {
  const unknown = positionals.filter((name) => !ROWS.some(({ id }) => id === name.toLowerCase()));
  if (unknown.length > 0) {
    process.stderr.write(
      `No row is called ${unknown.join(', ')}. There are: ${ROWS.map(({ id }) => id).join(', ')}\n`,
    );
    process.exit(2);
  }
  return positionals.length === 0
    ? ROWS
    : ROWS.filter(({ id }) => positionals.some((name) => name.toLowerCase() === id));
}

function ratioOf({ product, theirs }: Comparison): number {
  return product / theirs;
}

function saying(goal: Comparison['goal']): string {
  if (goal === undefined) return '';
  return 'atLeast' in goal ? `at least ${goal.atLeast}` : `at most ${goal.atMost}`;
}

/** A figure that is missing is behind. */
function isReached(comparison: Comparison): boolean {
  const { goal } = comparison;
  if (goal === undefined) return true;
  return 'atLeast' in goal
    ? ratioOf(comparison) >= goal.atLeast / slack
    : ratioOf(comparison) <= goal.atMost * slack;
}

function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

type Cells = readonly [
  id: string,
  what: string,
  unit: string,
  product: string,
  peer: string,
  theirs: string,
  ratio: string,
  goal: string,
];

function line(cells: Cells): string {
  const [id, what, unit, product, peer, theirs, ratio, goal] = cells;
  if (values.markdown)
    return `| ${[id, [what, unit].filter(Boolean).join(', '), product, `${peer} ${theirs}`, ratio, goal].join(' | ')} |\n`;
  return `${id.padEnd(5)}${what.padEnd(64)} ${unit.padEnd(14)}${product.padStart(9)}  ${peer.padEnd(46)}${theirs.padStart(9)}${ratio.padStart(8)}  ${goal}\n`;
}

if (positionals[0] === 'growth') {
  const { measureGrowth } = await import('./growth/growth.ts');
  const worse = await measureGrowth({ short: values.short }, (text) => process.stdout.write(text));
  process.exit(worse > 0 ? 1 : 0);
}
if (positionals[0] === 'scale') {
  const { measureScale } = await import('./scale/scale.ts');
  await measureScale({ short: values.short }, (text) => process.stdout.write(text));
  process.exit(0);
}
if (values.markdown) {
  const machine = `Node ${process.versions.node}; ${availableParallelism()} of ${cpus()[0]?.model ?? 'unknown'}`;
  const load = loadavg()
    .map((value) => value.toFixed(1))
    .join(', ');
  process.stdout.write(`${machine}; load ${load}; ${new Date().toISOString().slice(0, 10)}\n\n`);
}
process.stdout.write(line(['row', 'what', '', 'product', 'peer or limit', '', 'ratio', 'goal']));
if (values.markdown) process.stdout.write(`${'|---'.repeat(6)}|\n`);

/** Prints a row as it is measured; returns the comparisons that are behind. */
async function measureRow({ id, title, measure }: BenchRow): Promise<string[]> {
  if (!values.markdown) process.stdout.write(`${id.toUpperCase()} ${title}\n`);
  const behind: string[] = [];
  for (const comparison of await measure({ short: values.short })) {
    const { what, unit, product, peer, theirs, goal } = comparison;
    const reached = isReached(comparison);
    if (!reached) behind.push(`${id.toUpperCase()} ${what}, ${peer}`);
    process.stdout.write(
      line([
        values.markdown ? id.toUpperCase() : '',
        what,
        unit,
        figure(product),
        peer,
        figure(theirs),
        figure(ratioOf(comparison)),
        `${saying(goal)}${reached ? '' : '  BEHIND'}`,
      ]),
    );
  }
  return behind;
}

const behind: string[] = [];
for (const row of chosenRows()) {
  let inRow = await measureRow(row);
  for (let attempt = 2; values.short && inRow.length > 0 && attempt <= SHORT_ATTEMPTS; attempt += 1) {
    const again = await measureRow(row);
    inRow = inRow.filter((comparison) => again.includes(comparison));
  }
  behind.push(...inRow);
}
if (behind.length > 0) {
  process.stdout.write(
    `Behind ${values.short ? `${SHORT_SLACK} times ` : ''}the goal${values.short ? ', each time' : ''}:\n${behind.map((comparison) => `  ${comparison}\n`).join('')}`,
  );
  process.exitCode = 1;
}
