/** The whole bot in a process of its own, as `npm start` runs it, with a probe that tells what it uses. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { freePort } from '../servers/free-port.ts';
import { PROGRAM_ENVIRONMENT, PROJECT } from '../servers/program.ts';

const usage = z.object({
  cpuShare: z.number(),
  peakMb: z.number(),
  loopP99Ms: z.number(),
  loopWorstMs: z.number(),
  computedP99Ms: z.number(),
  computedWorstMs: z.number(),
});

export interface MeasuredBot extends AsyncDisposable {
  /** What it used since the last time: a share of a core, the peak of its memory in MB, milliseconds of its event loop. */
  used(): Promise<z.infer<typeof usage>>;
}

/** Returns while it starts: the platforms tell when it is there. Killed when it is disposed of. */
export async function startMeasuredBot(environment: Readonly<Record<string, string>>): Promise<MeasuredBot> {
  const directory = await mkdtemp(join(tmpdir(), 'minstrel-bench-'));
  const probe = new URL('./usage-probe.ts', import.meta.url);
  const bot = spawn(process.execPath, ['--import', probe.href, 'src/main.ts'], {
    cwd: PROJECT,
    env: {
      ...PROGRAM_ENVIRONMENT,
      NODE_ENV: 'production',
      LOG_LEVEL: 'error',
      PORT: String(await freePort()),
      DATA_DIR: directory,
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const gone = once(bot, 'exit');
  return {
    async used() {
      const [told] = await Promise.all([once(bot, 'message'), bot.send('usage')]);
      return usage.parse(told[0]);
    },
    async [Symbol.asyncDispose]() {
      bot.kill('SIGKILL');
      await gone;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
