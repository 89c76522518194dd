/** `npm run doctor`: examines what `npm start` would need, a line each; ends with status 1 when something is wrong. */
import { styleText } from 'node:util';
import { commands } from '../../commands/index.ts';
import { type Examination, examine, lineOf } from '../app/doctor/examine.ts';
import { loadEnvironment, runProgram } from '../app/process.ts';
import { systemOf } from '../app/system.ts';
import type { Finding } from '../core/finding.ts';

/** Each with a word next to its sign and colour. */
const MARKS = {
  good: styleText('green', '✓'),
  warning: styleText('yellow', '! warning:'),
  wrong: styleText('red', '✗ wrong:'),
} as const satisfies Record<Finding['level'], string>;

/** Writes each finding when it is made. @returns the worst of them */
export async function report(
  examination: Examination,
  write: (line: string) => void,
): Promise<Record<Finding['level'], number>> {
  const counts = { good: 0, warning: 0, wrong: 0 };
  for await (const finding of examine(examination)) {
    counts[finding.level] += 1;
    write(`${MARKS[finding.level]} ${lineOf(finding)}`);
  }
  return counts;
}

/** With the clock, network and randomness of this process. */
export function examination(): Omit<Examination, 'environment'> {
  const silent = () => {};
  // Each cause is told in a finding.
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  return { ...systemOf(log), commands, fetch };
}

async function main(): Promise<void> {
  const { warning, wrong } = await report({ ...examination(), environment: loadEnvironment() }, (line) =>
    process.stdout.write(`${line}\n`),
  );
  process.stdout.write(
    wrong > 0
      ? `\n${wrong} wrong, ${warning} to look at. npm start would not work as it should.\n`
      : `\nNothing is wrong${warning > 0 ? `, ${warning} to look at` : ''}. npm start may begin.\n`,
  );
  if (wrong > 0) process.exitCode = 1;
}

if (import.meta.main) await runProgram(main);
