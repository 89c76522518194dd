/**
 * `npm run mutants -- [part of a name or file ...] [--jobs 2]`: puts one fault after the other into a copy of the checkout
 * and runs the tests that must notice it. Exits with 1 when one goes unnoticed. With `--generated`, a program makes the
 * faults up, in a few files, and some of them may go unnoticed.
 */
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { copyCheckout } from './copy.ts';
import { withFault } from './fault.ts';
import { FAULTS } from './faults/index.ts';
import { runGenerated } from './generated.ts';
import { type Healthy, runHealthy, tryFault, type Verdict } from './trial.ts';

const secondsSince = (startedAt: number): number => Math.round((performance.now() - startedAt) / 1_000);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

function describe(verdict: Verdict): string {
  switch (verdict.type) {
    case 'killed':
      return `“${verdict.by.name}”: ${verdict.by.reason ?? 'failed'}`;
    case 'survived':
      return 'no test noticed';
    case 'unclear':
      return verdict.why;
    default:
      return verdict satisfies never;
  }
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      jobs: { type: 'string', default: String(Math.min(2, availableParallelism())) },
      generated: { type: 'boolean', default: false },
    },
  });
  const jobs = Number(values.jobs);
  if (!Number.isInteger(jobs) || jobs < 1)
    throw new RangeError(`--jobs takes a number from 1 on, not ${values.jobs}`);
  const isMeant = (text: string) =>
    positionals.length === 0 || positionals.some((part) => text.toLowerCase().includes(part.toLowerCase()));
  const isGood = values.generated ? await runGenerated(isMeant, jobs) : await runListed(isMeant, jobs);
  if (!isGood) process.exitCode = 1;
}

/** Resolves to false when a fault went unnoticed, or could not be tried. */
async function runListed(isMeant: (text: string) => boolean, jobs: number): Promise<boolean> {
  const chosen = FAULTS.filter(({ name, file }) => isMeant(`${name} ${file}`));
  if (chosen.length === 0) throw new RangeError(`None of ${FAULTS.length} faults is called that.`);
  for (const fault of chosen) withFault(await readFile(fault.file, 'utf8'), fault);

  await using copies = new AsyncDisposableStack();
  const folders: string[] = [];
  for (let made = 0; made < Math.min(jobs, chosen.length); made += 1)
    folders.push(copies.use(await copyCheckout()).folder);
  const began = performance.now();
  say(`${chosen.length} of ${FAULTS.length} faults. First their tests, without any of them.`);
  const healthy = await runHealthy(chosen, folders[0] ?? '');
  const waiting = [...healthy];
  const counts = { killed: 0, survived: 0, unclear: 0 };
  const tell = ({ fault: { name, file } }: Healthy, verdict: Verdict, seconds: number) => {
    counts[verdict.type] += 1;
    say(`${verdict.type.padEnd(8)}  ${name} (${file}), ${seconds} s\n            ${describe(verdict)}`);
  };
  await Promise.all(
    folders.map(async (folder) => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const { trouble } = next;
        const startedAt = performance.now();
        const verdict: Verdict =
          trouble === undefined ? await tryFault(next, folder) : { type: 'unclear', why: trouble };
        tell(next, verdict, secondsSince(startedAt));
      }
    }),
  );
  say(
    `${counts.killed} killed, ${counts.survived} survived, ${counts.unclear} unclear, in ${secondsSince(began)} s`,
  );
  return counts.killed === chosen.length;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
