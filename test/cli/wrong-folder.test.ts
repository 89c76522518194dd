/** The operator's scripts with a wrong DATA_DIR, or a file that cannot be written. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openStorage } from '../../src/app/services.ts';
import { MINSTREL, PROGRAM_ENVIRONMENT, PROJECT } from '../servers/program.ts';
import { RecordingLog } from '../storage/recording-log.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'minstrel-wrong-folder-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const run = (program: string, ...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [MINSTREL, program, ...args], {
    cwd: PROJECT,
    env: { ...PROGRAM_ENVIRONMENT, DATA_DIR: join(folder, 'data') },
  });

it.each([
  ['export', () => [join(folder, 'minstrel.jsonl')]],
  ['forget', () => ['discord', '80351110224678912']],
])('npm run %s reports a missing database and does not create one', async (program, args) => {
  await expect(run(program, ...args())).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: `There is no database at ${join(folder, 'data', 'minstrel.sqlite')}. Check DATA_DIR.\n`,
  });
  expect(await readdir(folder)).toEqual([]);
});

it('npm run export names a missing folder', async () => {
  const storage = { type: 'sqlite' as const, directory: join(folder, 'data') };
  const opened = await openStorage({ storage }, { log: new RecordingLog(), random: Math.random });
  await opened.close();
  await expect(run('export', join(folder, 'away', 'minstrel.jsonl'))).rejects.toMatchObject({
    code: 1,
    stderr: `The folder ${join(folder, 'away')} does not exist. Create it first.\n`,
  });
});
