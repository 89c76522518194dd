import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { constants, setPriority } from 'node:os';
import { expect, test } from 'vitest';
import { PROGRAM_ENVIRONMENT, PROJECT } from '../servers/program.ts';

/** So long, and at least as many as a core has to play in a minute. */
const {
  SIMULATE_SECONDS = '60',
  SIMULATE_HISTORIES = '3000',
  SIMULATE_SEED = `${randomInt(2 ** 31)}`,
} = process.env;

test('new histories keep every promise', async () => {
  const many = ['--seconds', SIMULATE_SECONDS, '--histories', SIMULATE_HISTORIES];
  const { promise, resolve } = Promise.withResolvers<{ failed: boolean; report: string }>();
  const playing = execFile(
    process.execPath,
    ['test/simulation/main.ts', ...many, '--seed', SIMULATE_SEED],
    { cwd: PROJECT, env: PROGRAM_ENVIRONMENT },
    (error, told, problems) => resolve({ failed: error !== null, report: told + problems }),
  );
  // Computes while the other tests wait.
  if (playing.pid !== undefined) setPriority(playing.pid, constants.priority.PRIORITY_LOW);
  const { failed, report } = await promise;
  process.stdout.write(report);
  expect(failed, report).toBe(false);
});
