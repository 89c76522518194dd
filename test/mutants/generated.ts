/** Faults that Stryker makes up, in files where each line counts: https://stryker-mutator.io/docs/ */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Stryker } from '@stryker-mutator/core';
import { copyCheckout } from './copy.ts';

/** Files, with the tests that must notice what is broken in them: quick ones, since each fault runs those that reach it. */
const TARGETS: Readonly<Record<string, readonly string[]>> = {
  'src/jobs/transitions.ts': ['test/jobs/transitions.test.ts', 'test/jobs/record.test.ts'],
  'src/jobs/runner/runner.ts': [
    'test/jobs/runner/runner.test.ts',
    'test/jobs/runner/measured.test.ts',
    'test/jobs/callbacks.test.ts',
    'test/jobs/cancelling.test.ts',
    'test/jobs/steps/retry-after.test.ts',
    'test/jobs/steps/poll/poll.test.ts',
    'test/jobs/steps/queue.test.ts',
  ],
  'src/core/http.ts': ['test/core/http.test.ts', 'test/http/music-callback.test.ts'],
  'src/http/music-callback.ts': ['test/http/music-callback.test.ts'],
  'src/media/links.ts': ['test/media/links.test.ts'],
  'src/media/fetch/guard.ts': [
    'test/media/fetch/guard.test.ts',
    'test/media/fetch/hostile-addresses.test.ts',
  ],
  'src/settings/access/access.ts': ['test/settings/access/admission.test.ts'],
  'src/settings/access/changes.ts': ['test/settings/access/admission.test.ts'],
  'src/settings/limits/changes.ts': ['test/settings/limits/changes.test.ts'],
  'src/settings/limits/words.ts': ['test/settings/limits/changes.test.ts'],
  'src/settings/limits/limits.ts': ['test/settings/limits/limits.test.ts'],
};

/** Of a hundred faults in a file, so many must be noticed. The others were read: they change nothing that anybody sees. */
const LEAST_NOTICED = 90;

/** A test that reads the sources, which are full of switches here. */
const READS_SOURCES = 'no other file writes a state';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Resolves to false when less than {@link LEAST_NOTICED} of a hundred were noticed in some file. */
export async function runGenerated(isMeant: (file: string) => boolean, jobs: number): Promise<boolean> {
  const files = Object.keys(TARGETS).filter(isMeant);
  if (files.length === 0) throw new RangeError(`Faults are made up in ${Object.keys(TARGETS).join(', ')}.`);
  await using copy = await copyCheckout();
  const test = {
    include: [...new Set(files.flatMap((file) => TARGETS[file] ?? []))],
    testNamePattern: `^(?!${READS_SOURCES})`,
    pool: 'threads',
    isolate: false,
    maxWorkers: 1,
    testTimeout: 60_000,
    expect: { poll: { timeout: 10_000, interval: 20 } },
  };
  await writeFile(join(copy.folder, 'generated.tmp.ts'), `export default ${JSON.stringify({ test })};\n`);
  process.chdir(copy.folder);
  const results = await new Stryker({
    testRunner: 'vitest',
    vitest: { configFile: 'generated.tmp.ts', related: false },
    plugins: [
      fileURLToPath(import.meta.resolve('@stryker-mutator/vitest-runner')),
      fileURLToPath(import.meta.resolve('./log-lines.ts')),
    ],
    ignorers: ['log-lines'],
    mutate: files,
    concurrency: jobs,
    coverageAnalysis: 'perTest',
    timeoutMS: 20_000,
    reporters: [],
    // There is none of this name: Stryker rewrites it by functions that TypeScript 7 does not have.
    tsconfigFile: 'none.json',
    disableTypeChecks: false,
    allowConsoleColors: false,
  }).runMutationTest();

  let isGood = true;
  for (const file of files) {
    const made = results.filter(
      ({ fileName, status }) => fileName.replaceAll('\\', '/').endsWith(file) && status !== 'Ignored',
    );
    const unnoticed = made.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
    for (const { mutatorName, location, replacement = '' } of unnoticed) {
      const where = `${file}:${location.start.line}:${location.start.column}`;
      say(`${where}  ${mutatorName}: ${replacement.replaceAll(/\s+/g, ' ').slice(0, 100)}`);
    }
    const noticed = (100 * (made.length - unnoticed.length)) / made.length;
    say(`${noticed.toFixed(1)} of a hundred noticed in ${file} (${made.length} made)`);
    isGood &&= noticed >= LEAST_NOTICED;
  }
  return isGood;
}
