import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { commands } from '../commands/index.ts';
import { playablesIn } from './playable.ts';

const run = promisify(execFile);

test('the demo plays every command in an empty folder, and leaves files that play', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-demo-test-'));
  try {
    const { stdout } = await run(process.execPath, [resolve('src/demo.ts')], {
      cwd: folder,
      timeout: 110_000,
      // No setting of this machine changes it.
      env: { PATH: process.env.PATH, NODE_ENV: 'production', DISCORD_TOKEN: 'not used' },
    });
    for (const { name } of commands) expect(stdout).toContain(`› /${name}`);
    const found = await playablesIn(join(folder, 'demo-output'));
    expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(['audio', 'image', 'video']));
    expect(stdout).not.toContain('\u001b');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 120_000);
