/** `npm run doctor`: checks everything that `npm start` needs. Exits with 1 if there are errors. */
import { styleText } from 'node:util';
import { type Examination, examine, lineOf } from '../app/doctor/examine.ts';
import { type Arguments, loadEnvironment, runProgram } from '../app/process.ts';
import { systemOf } from '../app/system.ts';
import type { Finding } from '../core/finding.ts';
import { commandLine } from '../core/util/installation.ts';
import { counted } from '../core/util/words.ts';

const usage = `Usage: ${commandLine('doctor', '[--json]')}
Checks everything that ${commandLine('start')} needs, and changes nothing. Exits with 1 if there are errors.
  --json  print the findings as JSON`;
const OPTIONS = { json: { type: 'boolean' } } as const;

/** Include words, for screen readers and terminals without colours. */
const MARKS = {
  good: styleText('green', '✓ OK:'),
  warning: styleText('yellow', '! Warning:'),
  wrong: styleText('red', '✗ Error:'),
} as const satisfies Record<Finding['level'], string>;

/** Examines everything and passes on each finding as soon as it is known. */
export async function report(examination: Examination, write: (line: string) => void): Promise<Verdict> {
  const found: Finding[] = [];
  for await (const finding of examine(examination)) {
    found.push(finding);
    write(`${MARKS[finding.level]} ${lineOf(finding)}`);
  }
  return verdictOf(found);
}

export interface Verdict {
  readonly errors: number;
  readonly warnings: number;
  /** Whether `npm start` starts the bot. */
  readonly starts: boolean;
  /** The counts, and what `npm start` will do. */
  readonly sentence: string;
}

function verdictOf(found: readonly Finding[]): Verdict {
  const wrong = found.filter(({ level }) => level === 'wrong');
  const errors = wrong.length;
  const warnings = found.filter(({ level }) => level === 'warning').length;
  const starts = !found.some(({ preventsStart }) => preventsStart);
  const counts = `${errors === 0 ? 'No errors' : counted(errors, 'error')}, ${warnings === 0 ? 'no warnings' : counted(warnings, 'warning')}.`;
  const broken = [...new Set(wrong.map(({ subject }) => subject))].join(', ');
  const startText = starts
    ? errors === 0
      ? 'Ready to start.'
      : `${commandLine('start')} will run, but some things will not work until you fix: ${broken}.`
    : errors === 0
      ? 'The bot is already running.'
      : `${commandLine('start')} won't work until you fix the errors.`;
  return { errors, warnings, starts, sentence: `${counts} ${startText}` };
}

export function examination(): Omit<Examination, 'environment'> {
  const silent = () => {};
  // Findings already name each cause.
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  return { ...systemOf(log), fetch };
}

async function main({ values: { json = false } }: Arguments<typeof OPTIONS>): Promise<void> {
  const all = { ...examination(), environment: loadEnvironment() };
  if (json) {
    const findings = await Array.fromAsync(examine(all));
    const { errors, warnings, starts } = verdictOf(findings);
    process.stdout.write(`${JSON.stringify({ errors, warnings, starts, findings }, null, 2)}\n`);
    if (errors > 0) process.exitCode = 1;
    return;
  }
  const { errors, sentence } = await report(all, (line) => process.stdout.write(`${line}\n`));
  process.stdout.write(`\n${sentence}\n`);
  if (errors > 0) process.exitCode = 1;
}

export const runDoctor = (args: readonly string[]) => runProgram({ usage, options: OPTIONS }, main, args);
