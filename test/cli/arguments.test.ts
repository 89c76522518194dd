/** `--help` of every script, and what `npm run doctor` says about `npm start`. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { MINSTREL, PROGRAM_ENVIRONMENT, PROJECT } from '../servers/program.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'minstrel-arguments-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function run(args: readonly string[], environment: Record<string, string> = {}) {
  const program = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...PROGRAM_ENVIRONMENT, DATA_DIR: 'data', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = Promise.all([text(program.stdout), text(program.stderr)]);
  const [code] = await once(program, 'exit');
  const [stdout, stderr] = await output;
  return { code, stdout, stderr };
}

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')));
/** Vitest, Stryker and Biome have their own help. */
const programs = Object.entries(scripts).flatMap(([name, command]) => {
  const [, path, args = ''] = /^node ([\w/-]+\.(?:js|ts))((?: \w+)*)$/.exec(command) ?? [];
  return path === undefined ? [] : [{ name, path, args: args.split(' ').filter(Boolean) }];
});

describe('--help', () => {
  it.each(programs)('of npm run $name describes it and does nothing else', async ({ name, path, args }) => {
    const { code, stdout, stderr } = await run([join(PROJECT, path), ...args, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`npm (run )?(--silent )?${name}\\b`));
    expect(await readdir(folder)).toEqual([]);
  });
});

it('rejects unknown options', async () => {
  const { code, stderr } = await run([MINSTREL, 'backup', '--quiet']);
  expect(code).toBe(1);
  expect(stderr).toContain('Usage: npm run backup -- <folder>');
  expect(await readdir(folder)).toEqual([]);
});

describe('npm run doctor -- --json', () => {
  it('agrees with npm start about a port that is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = String(z.object({ port: z.number() }).parse(other.address()).port);
    const sentence = `Port ${port} on 127.0.0.1 is in use by another program: stop that program, or set PORT to a free port.`;
    try {
      const environment = { PORT: port, PLAYGROUND: '0' };
      const [doctor, start] = await Promise.all([
        run([MINSTREL, 'doctor', '--json'], environment),
        run([MINSTREL, 'start'], environment),
      ]);
      expect(start).toEqual({ code: 1, stdout: '', stderr: `${sentence}\n` });
      expect(doctor.code).toBe(1);
      expect(JSON.parse(doctor.stdout)).toMatchObject({
        errors: 1,
        starts: false,
        findings: expect.arrayContaining([
          { level: 'wrong', subject: 'PORT', sentence, preventsStart: true },
        ]),
      });
    } finally {
      other.close();
    }
  });

  it('says that npm start works despite an unreachable gateway', async () => {
    const { stdout } = await run([MINSTREL, 'doctor'], {
      ...{ GATEWAY_BASE_URL: 'https://gateway.invalid', GATEWAY_API_KEY: 'key', PORT: '0' },
      PUBLIC_URL: 'https://minstrel.invalid',
    });
    expect(stdout).toContain('gateway.invalid cannot be reached: ');
    expect(stdout).toContain('npm start will run, but some things will not work until you fix: Gateway.');
  });
});

it('programs suggest npm ci if the packages are not installed', async () => {
  await cp(join(PROJECT, 'src/cli/preload.js'), join(folder, 'preload.mjs'));
  const { status, stderr } = spawnSync(process.execPath, ['--import', './preload.mjs', 'x.js'], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stderr).toBe('The packages are not installed. Run npm ci first.\n');
});
