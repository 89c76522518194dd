/** `npm run doctor`: checks everything that `npm start` needs. Exits with 1 if there are errors. */
import { styleText } from 'node:util';
import { commands } from '../../commands/index.ts';
import { type Examination, examine, lineOf } from '../app/doctor/examine.ts';
import { loadEnvironment, runProgram } from '../app/process.ts';
import { systemOf } from '../app/system.ts';
import type { Finding } from '../core/finding.ts';
import { counted } from '../core/util/words.ts';

/** Include words, for screen readers and terminals without colours. */
const MARKS = {
  good: styleText('green', '✓ OK:'),
  warning: styleText('yellow', '! Warning:'),
  wrong: styleText('red', '✗ Error:'),
} as const satisfies Record<Finding['level'], string>;

/** Writes each finding as soon as it is known. @returns the number of findings per level */
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

export function examination(): Omit<Examination, 'environment'> {
  const silent = () => {};
  // Findings already name each cause.
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  return { ...systemOf(log), commands, fetch };
}

async function main(): Promise<void> {
  const { warning, wrong } = await report({ ...examination(), environment: loadEnvironment() }, (line) =>
    process.stdout.write(`${line}\n`),
  );
  process.stdout.write(
    wrong > 0
      ? `\n${counted(wrong, 'error')}, ${counted(warning, 'warning')}. Fix the errors before npm start.\n`
      : `\nNo errors, ${warning === 0 ? 'no warnings' : counted(warning, 'warning')}. Ready to start.\n`,
  );
  if (wrong > 0) process.exitCode = 1;
}

if (import.meta.main) await runProgram(main);
