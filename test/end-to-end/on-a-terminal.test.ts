/** Runs the program in a terminal without a size, with `script` from util-linux. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startDiscord } from '../servers/discord/index.ts';
import { PROGRAM_ENVIRONMENT, PROJECT } from '../servers/program.ts';
import { PATIENCE_MS } from './minstrel.ts';

const noScript = spawnSync('script', ['--version']).status !== 0;
if (noScript) process.stderr.write('Terminals are not run: there is no script of util-linux on the PATH.\n');

const CTRL_C = '\u0003';

async function startOnTerminal(environment: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-terminal-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const command = `exec ${JSON.stringify(process.execPath)} ${JSON.stringify(join(PROJECT, 'src/main.ts'))}`;
  const program = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    cwd: folder,
    env: { ...PROGRAM_ENVIRONMENT, TERM: 'xterm', PORT: '0', DATA_DIR: folder, ...environment },
  });
  onTestFinished(() => void program.kill('SIGKILL'));
  let output = '';
  program.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const exited = new Promise((resolve) => program.once('exit', resolve));
  return {
    folder,
    exited,
    type: (keys: string) => program.stdin.write(keys),
    output: () => stripVTControlCharacters(output).replaceAll('\r', ''),
  };
}

describe.skipIf(noScript)('npm start on a terminal', () => {
  it('greets, refuses work while paused by the operator, and ends on Ctrl-C', async () => {
    const { folder, type, output, exited } = await startOnTerminal();
    await expect.poll(output).toContain('Type a command, such as /song a tune for rain --style lofi\n');
    expect(output()).toContain('Minstrel is running with the built-in emulator (no cost).');
    expect(output()).toMatch(/Try it in your browser:\s+http:\/\/127\.0\.0\.1:\d+\/playground\/\S+\n/);
    await writeFile(join(folder, 'paused'), '');
    type('/ask Good morning\r');
    await expect.poll(output).toContain('operator has paused');
    await rm(join(folder, 'paused'));
    type('/ask Good morning\r');
    await expect.poll(output).toContain('Again');
    type(CTRL_C);
    expect(await exited).toBe(0);
  });

  it('with a chat, prints readable lines with the application, the invitation and a first command', async () => {
    const discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
    onTestFinished(() => discord.close());
    const connected = { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl };
    const { type, output, exited } = await startOnTerminal(connected);
    await expect.poll(output).toContain('INFO: Ready: type /song prompt:a tune for rain in a channel\n');
    expect(output()).toMatch(
      /\[\d\d:\d\d:\d\d\] INFO: Discord: the token belongs to the application “Minstrel”/,
    );
    expect(output()).toContain('INFO: Discord: invitation: https://discord.com/oauth2/authorize?client_id=');
    expect(output()).toContain('INFO: Discord: the bot is in 1 server(s)');
    expect(output()).not.toContain('{"level"');
    type(CTRL_C);
    expect(await exited).toBe(0);
    expect(output()).toContain('INFO: Minstrel stopped');
  });
});
