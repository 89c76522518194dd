/** `npm run bench [-- --only <row>]`: prints the table of docs/performance.md. Exits with 1 if a budget is missed. */

import { parseArgs } from 'node:util';
import { printedHelp } from '../../src/app/process.ts';
import { acknowledging } from './acknowledging.ts';
import { longText } from './long-text.ts';
import type { Row } from './measure.ts';
import { memory } from './memory.ts';
import { parsing } from './parsing.ts';
import { song } from './song.ts';
import { start } from './start.ts';
import { streaming } from './streaming.ts';
import { waiting } from './waiting.ts';

const usage = `Usage: npm run bench [-- --only <row>]
Prints the table of docs/performance.md. Exits with 1 if a budget is missed.`;
if (printedHelp(usage)) process.exit();

const ROWS: Readonly<Record<string, Row>> = {
  acknowledging,
  streaming,
  'long-text': longText,
  memory,
  start,
  waiting,
  parsing,
  song,
};

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
const rows = Object.entries(ROWS).filter(([name]) => values.only?.includes(name) ?? true);
if (rows.length === 0) {
  process.stderr.write(`There is no such row. Rows: ${Object.keys(ROWS).join(', ')}\n`);
  process.exit(2);
}

const line = (...cells: string[]): void => void process.stdout.write(`| ${cells.join(' | ')} |\n`);
const number = (value: number): string =>
  value.toLocaleString('en', value < 100 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 0 });

line('row', 'measurement', 'budget', 'measured', 'met');
line(...Array<string>(5).fill('---'));
for (const [row, measure] of rows) {
  for (const { name, measured, budget, unit, atLeast } of await measure()) {
    // A value that could not be measured is NaN, which misses its budget.
    const isMet = atLeast ? measured >= budget : measured <= budget;
    const bound = `${atLeast ? 'at least' : 'at most'} ${number(budget)} ${unit}`;
    line(`\`${row}\``, name, bound, `${number(measured)} ${unit}`, isMet ? 'yes' : 'NO');
    if (!isMet) process.exitCode = 1;
  }
}
