/** Whether the tests notice a fault. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Fault, withFault } from './fault.ts';
import { type RunOutcome, runTests, type TestOutcome } from './vitest.ts';

export type Verdict =
  | { readonly type: 'killed'; readonly by: TestOutcome }
  | { readonly type: 'survived' }
  /** Nothing is known of it: its tests could not run, or did not come to an end. */
  | { readonly type: 'unclear'; readonly why: string };

/** How the tests of a fault go without it. */
export interface Healthy {
  readonly fault: Fault;
  /** Why it cannot be tried: its tests are missing, fail or do not run here. */
  readonly trouble: string | undefined;
  /** The longest of its tests, in milliseconds. */
  readonly longestMs: number;
}

/** A fault may make a test wait for what never comes; it waits this many times longer than without the fault. */
const PATIENCE = 20;
const SHORTEST_LIMIT_MS = 20_000;

const filesOf = ({ tests }: Fault): string[] => Object.keys(tests);
const titlesOf = ({ tests }: Fault): string[] => Object.values(tests);

/** The tests of all faults at once, in a copy without any. */
export async function runHealthy(faults: readonly Fault[], folder: string): Promise<Healthy[]> {
  const files = [...new Set(faults.flatMap(filesOf))];
  const titles = [...new Set(faults.flatMap(titlesOf))];
  const outcome = await runTests({ folder, files, titles });
  return faults.map((fault) => {
    const tests = Object.entries(fault.tests).map(([file, title]) => ({
      file,
      title,
      found: outcome.tests.filter((test) => test.file === file && test.name.includes(title)),
    }));
    const troubles = tests.flatMap(({ file, title, found }) => {
      const wrong = found.find(({ status }) => status !== 'passed');
      if (found.length === 0) return [`${file} has no test “${title}”${loading(outcome)}`];
      return wrong ? [`“${wrong.name}” without the fault: ${wrong.status}. ${wrong.reason ?? ''}`] : [];
    });
    const longestMs = Math.max(...tests.flatMap(({ found }) => found.map((test) => test.milliseconds)));
    return { fault, trouble: troubles[0], longestMs };
  });
}

const loading = ({ unloaded, errors }: RunOutcome): string => {
  const [first = errors.trim()] = unloaded;
  return first === '' ? '' : `: ${first.slice(0, 500)}`;
};

/** Puts the fault into the copy, runs its tests, and takes it out. */
export async function tryFault({ fault, longestMs }: Healthy, folder: string): Promise<Verdict> {
  const path = join(folder, fault.file);
  const source = await readFile(path, 'utf8');
  await writeFile(path, withFault(source, fault));
  try {
    const outcome = await runTests({
      folder,
      files: filesOf(fault),
      titles: titlesOf(fault),
      limitMs: Math.max(SHORTEST_LIMIT_MS, PATIENCE * longestMs),
      stopsAtFirst: true,
    });
    const by = outcome.tests.find(({ status }) => status === 'failed');
    if (by) return { type: 'killed', by };
    if (outcome.hung) return { type: 'unclear', why: 'its tests did not come to an end' };
    const passed = outcome.tests.some(({ status }) => status === 'passed');
    if (passed && outcome.unloaded.length === 0) return { type: 'survived' };
    return { type: 'unclear', why: `its tests did not run${loading(outcome)}` };
  } finally {
    await writeFile(path, source);
  }
}
