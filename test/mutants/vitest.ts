/** Runs some tests of a copy in a process of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string(),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          duration: z.number().nullish(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
});

export interface TestOutcome {
  readonly file: string;
  readonly name: string;
  /** `passed`, `failed`, or why it did not run. */
  readonly status: string;
  readonly milliseconds: number;
  /** The first line of why it failed. */
  readonly reason: string | undefined;
}

export interface RunOutcome {
  readonly tests: readonly TestOutcome[];
  /** Files that could not be loaded, and how that ended. */
  readonly unloaded: readonly string[];
  /** What the process wrote to its standard error. */
  readonly errors: string;
  /** It came to no end. */
  readonly hung: boolean;
}

export interface RunOptions {
  readonly folder: string;
  readonly files: readonly string[];
  /** Parts of the titles of tests. */
  readonly titles: readonly string[];
  /** For one test or hook, in milliseconds. */
  readonly limitMs?: number;
  readonly stopsAtFirst?: boolean;
}

/** Loading and ending take a while in a process that shares its machine. */
const LOADING_MS = 120_000;

export async function runTests(options: RunOptions): Promise<RunOutcome> {
  const { folder, files, titles, limitMs, stopsAtFirst = false } = options;
  const report = join(folder, 'report.tmp.json');
  await rm(report, { force: true });
  const limits = limitMs === undefined ? [] : [`--testTimeout=${limitMs}`, `--hookTimeout=${limitMs}`];
  const child = spawn(
    process.execPath,
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      ...files,
      `--testNamePattern=${titles.map(literally).join('|')}`,
      '--reporter=json',
      `--outputFile=${report}`,
      `--fsModuleCachePath=${join(folder, '.vitest-cache')}`,
      '--no-cache',
      ...limits,
      ...(stopsAtFirst ? ['--bail=1'] : []),
    ],
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  let hung = false;
  const patience = setTimeout(
    () => {
      hung = true;
      child.kill('SIGKILL');
    },
    LOADING_MS + 3 * (limitMs ?? 600_000),
  );
  await once(child, 'close');
  clearTimeout(patience);
  const text = await readFile(report, 'utf8').catch(() => '{"testResults":[]}');
  const { testResults } = reportSchema.parse(JSON.parse(text));
  return {
    hung,
    errors,
    unloaded: testResults.flatMap(({ assertionResults, message }) =>
      assertionResults.length === 0 && message !== '' ? [message] : [],
    ),
    tests: testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.map(({ fullName, status, duration, failureMessages }) => ({
        file: files.find((file) => name.replaceAll('\\', '/').endsWith(file)) ?? name,
        name: fullName,
        status,
        milliseconds: duration ?? 0,
        reason: failureMessages?.[0]?.split('\n')[0],
      })),
    ),
  };
}

/** Node has RegExp.escape; the types of this project's target do not. */
const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
