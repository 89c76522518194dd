import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/app/config/read.ts';
import { MINSTREL, PROGRAM_ENVIRONMENT } from '../servers/program.ts';

function run(...flags: string[]): { child: ChildProcess; output: () => string; exit: Promise<unknown[]> } {
  const child = spawn(process.execPath, [MINSTREL, 'emulator', ...flags], {
    env: PROGRAM_ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  child.stderr.on('data', (chunk) => (text += chunk));
  return { child, output: () => text, exit: once(child, 'close') };
}

test('npm run emulator prints its URL and key, responds, and ends cleanly', async () => {
  const { child, output, exit } = run('--port', '0', '--key', 'mine', '--speed', '0');
  await expect.poll(output).toMatch(/url {2}http:\/\/127\.0\.0\.1:\d+\n {2}key {2}mine/);
  const url = /url {2}(\S+)/.exec(output())?.[1] ?? '';
  const headers = { authorization: 'Bearer mine', 'content-type': 'application/json' };
  const body = JSON.stringify({ prompt: 'owls', callBackUrl: 'http://127.0.0.1:9/' });
  const accepted = await fetch(`${url}/music/generate-lyrics`, { method: 'POST', headers, body });
  expect(await accepted.json()).toEqual({ code: 200, msg: 'success', data: { taskId: expect.any(String) } });
  child.kill('SIGTERM');
  expect((await exit)[0]).toBe(0);
});

test('the printed command starts a bot that can fetch the emulator’s files', async () => {
  const { output } = run('--port', '0', '--speed', '0', '--song-seconds', '2');
  await expect.poll(output).toContain('npm start');
  const [line = ''] = /^.*npm start$/m.exec(output()) ?? [];
  const settings = Object.fromEntries(
    [...line.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  );
  const { accounts, media } = readConfig(settings);
  const { baseUrl = '', apiKey = '' } = accounts.media ?? {};
  const imageResponse = await fetch(`${baseUrl}/v1/media/services/aigc/multimodal-generation/generation`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'canvas-plus',
      input: { messages: [{ role: 'user', content: [{ text: 'a fox' }] }] },
    }),
  });
  const [file = ''] = /http:[^"]+\.png/.exec(await imageResponse.text()) ?? [];
  expect(media.allowedHosts).toContain(new URL(file).host);
});

test.each([
  [['--speed', 'fast'], '--speed must be a number from 0 to 100'],
  [['--port', '99999'], '--port must be a number from 0 to 65535'],
  [['--public-url', 'emulator'], '--public-url must be a URL'],
  [['--colour', 'red'], 'colour'],
])('%j is refused with an explanation and the usage', async (flags, sentence) => {
  const { output, exit } = run(...flags);
  expect((await exit)[0]).toBe(1);
  expect(output()).toContain(sentence);
  expect(output()).toMatch(/Usage: npm run emulator -- \[options\]\n[\s\S]*--song-seconds/);
  expect(output()).not.toContain('    at ');
});

test('a port that is taken is reported in one line', async () => {
  const { output } = run('--port', '0');
  await expect.poll(output).toContain('url  ');
  const port = /:(\d+)\n/.exec(output())?.[1] ?? '';
  const second = run('--port', port);
  expect((await second.exit)[0]).toBe(1);
  expect(second.output()).toBe(`listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`);
});
