/** `npm start` and `npm run doctor` print the same single sentence if DATA_DIR is not writable. */
import { execFile, spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MINSTREL, PROGRAM_ENVIRONMENT, PROJECT } from '../servers/program.ts';

const isRoot = process.geteuid?.() === 0;
/** Root can write everywhere, so it runs the programs as another user. */
const user = isRoot ? { uid: 12_345, gid: 12_345 } : {};
const userName = `user ${isRoot ? user.uid : process.geteuid?.()}`;

const noAccess =
  process.platform === 'win32' ||
  spawnSync(process.execPath, [join(PROJECT, 'src/cli/preload.js')], user).status !== 0;
if (noAccess)
  process.stderr.write('Skipping tests of bad places: no other user can read this project here.\n');
/** Creates a mount namespace in which this user may mount. */
const UNSHARE = ['--map-root-user', '--mount'];
const noMounts = spawnSync('unshare', [...UNSHARE, 'mount', '-t', 'tmpfs', 'none', tmpdir()]).status !== 0;
if (noMounts) process.stderr.write('Skipping read-only file systems: this user may not mount one.\n');

let folder: string;
let data: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'minstrel-bad-places-'));
  await chmod(folder, 0o755);
  data = join(folder, 'data');
  await mkdir(data, { mode: 0o700 });
});
afterEach(async () => {
  await chmod(data, 0o700);
  await rm(folder, { recursive: true, force: true });
});

const changeOwner = (path: string) => (isRoot ? chown(path, 12_345, 12_345) : undefined);

interface Run {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

function run(command: readonly string[], directory: string): Promise<Run> {
  const [program = '', ...args] = command;
  const env = { ...PROGRAM_ENVIRONMENT, PORT: '0', PLAYGROUND: '0', DATA_DIR: directory };
  return new Promise((resolve) => {
    execFile(program, args, { cwd: folder, env, ...user }, (error, stdout, stderr) =>
      resolve({ code: error?.code, stdout, stderr }),
    );
  });
}

async function expectSentence(sentence: string, directory = data, within: readonly string[] = []) {
  const command = (name: string) => [...within, process.execPath, MINSTREL, name];
  const [start, doctor] = await Promise.all([
    run(command('start'), directory),
    run(command('doctor'), directory),
  ]);
  expect(start).toEqual({ code: 1, stdout: '', stderr: `${sentence}\n` });
  expect(doctor).toMatchObject({ code: 1, stderr: '' });
  expect(doctor.stdout).toContain(`✗ Error: Storage: ${sentence}\n`);
}

describe.skipIf(noAccess)('npm start and npm run doctor name DATA_DIR and the owner', () => {
  it.runIf(isRoot)('of a file created by another user', async () => {
    const file = join(data, 'minstrel.sqlite');
    await writeFile(file, '');
    await changeOwner(file);
    await writeFile(`${file}-wal`, '', { mode: 0o600 });
    await changeOwner(data);
    await expectSentence(
      `${file}-wal belongs to root, but Minstrel runs as ${userName}: make ${userName} the owner of DATA_DIR and everything in it, or set DATA_DIR to another folder.`,
    );
  });

  it('of a folder without write permission', async () => {
    await changeOwner(data);
    await chmod(data, 0o500);
    await expectSentence(
      `Even its owner, ${userName}, has no permission to use ${data} (EACCES): change its permissions, or set DATA_DIR to another folder.`,
    );
  });

  it.skipIf(process.platform !== 'linux')('of a system folder', async () => {
    await expectSentence(
      `/sys belongs to root, but Minstrel runs as ${userName}: make ${userName} the owner of DATA_DIR and everything in it, or set DATA_DIR to another folder.`,
      '/sys/minstrel',
    );
  });

  it.skipIf(noMounts)('on a read-only file system', async () => {
    await changeOwner(data);
    const mounted = [
      'unshare',
      ...UNSHARE,
      'sh',
      '-c',
      `mount -t tmpfs -o ro none "$DATA_DIR" && exec "$@"`,
      'sh',
    ];
    await expectSentence(
      `${data} is on a read-only file system: make it writable, or set DATA_DIR to another folder.`,
      data,
      mounted,
    );
  });
});
