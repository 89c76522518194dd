/** Runs programs under the probe in separate processes: the bot, as with `npm start`, or a bare one for comparison. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { PROGRAM_ENVIRONMENT, PROJECT, whileRuns } from '../servers/program.ts';

/** Resource usage as the probe reports it. */
const usage = z.object({
  cpuMs: z.number(),
  longestMs: z.number(),
  rssMb: z.number(),
  peakMb: z.number(),
});

/** Resolves when the program has written `mark`. Disposal sends SIGTERM, so that Node saves its compile cache. */
export async function startProgram(
  file: string,
  mark: string,
  environment: Readonly<Record<string, string>>,
) {
  const startedAt = performance.now();
  const imports = ['./src/cli/preload.js', new URL('probe.ts', import.meta.url).href];
  const child = spawn(process.execPath, [...imports.flatMap((path) => ['--import', path]), file], {
    cwd: PROJECT,
    env: { ...PROGRAM_ENVIRONMENT, ...environment },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const exited = once(child, 'exit');
  const { promise: marked, resolve } = Promise.withResolvers<void>();
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-10_000);
    if (output.includes(mark)) resolve();
  });
  await whileRuns(child, marked).catch((error: unknown) => {
    throw new Error(`${file} did not start: ${output}`, { cause: error });
  });
  return {
    /** Milliseconds since the start of the process. */
    readyMs: performance.now() - startedAt,
    watchLoop: () => child.send('watch'),
    async used() {
      const [[message]] = await Promise.all([once(child, 'message'), child.send('usage')]);
      return usage.parse(message);
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}

/** Resolves when the bot's chats are connected. Uses a temporary DATA_DIR unless the environment has one. */
export async function startBot(environment: Readonly<Record<string, string>>) {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-bench-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const settings = { PORT: '0', DATA_DIR: folder, ...environment };
  const bot = opened.use(await startProgram('src/main.ts', 'Minstrel started', settings));
  const resources = opened.move();
  return { ...bot, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
