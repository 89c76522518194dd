import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { commands } from '../../commands/index.ts';
import { playablesIn } from '../fixtures/playable.ts';
import { MINSTREL, PROGRAM_ENVIRONMENT } from '../servers/program.ts';

const run = promisify(execFile);

test('runs every command, saves playable files and keeps existing ones', async ({ signal }) => {
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-demo-test-'));
  const own = join(folder, 'demo-output', 'a tune for evening rain - cover.png');
  await mkdir(dirname(own));
  await writeFile(own, 'mine');
  try {
    const { stdout } = await run(process.execPath, [MINSTREL, 'demo', '--short'], {
      cwd: folder,
      // Kills the whole process group if it hangs.
      signal,
      // Settings of this machine are ignored.
      env: { ...PROGRAM_ENVIRONMENT, NODE_ENV: 'production', DISCORD_TOKEN: 'not used' },
    });
    for (const { name } of commands) expect(stdout).toContain(`› /${name}`);
    expect(await readFile(own, 'utf8')).toBe('mine');
    await rm(own);
    const found = await playablesIn(join(folder, 'demo-output'));
    expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(['audio', 'image', 'video']));
    expect(stdout).toContain('A tune for evening rain (cover, take 1).mp3');
    for (const name of await readdir(join(folder, 'demo-output'))) expect(name).toMatch(/\.\w+$/);
    expect(stdout).not.toContain('\u001b');
    // The song pages end with the demo.
    expect(stdout).not.toContain('http://');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
