/** P6: from the start of the process until both chats are connected. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { PROGRAM_ENVIRONMENT } from '../servers/program.ts';
import { type BenchRow, type Comparison, type Extent, median } from './measure.ts';
import { startProgram } from './program.ts';

/** A tick of /proc in milliseconds: USER_HZ is 100 on Linux. */
const TICK_MS = 10;
const SETTLED_MS = 1_000;

const chat = z.object({ apiUrl: z.string() });
const serversSchema = z.object({
  gatewayUrl: z.string(),
  discord: chat.extend({ token: z.string() }),
  slack: chat.extend({ botToken: z.string(), appToken: z.string() }),
});
type Servers = z.infer<typeof serversSchema>;

interface Started {
  readonly wallMs: number;
  readonly cpuMs: number;
  /** Resident, a second later. */
  readonly mebibytes: number;
}

/** Starts Node with these arguments until it writes `mark`, and kills it. */
async function start(
  args: readonly string[],
  mark: string,
  environment: Record<string, string>,
): Promise<Started> {
  const began = performance.now();
  const child = spawn(process.execPath, [...args], {
    env: { PATH: PROGRAM_ENVIRONMENT.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gone = once(child, 'exit');
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes(mark)) resolve();
    });
  }
  child.on('exit', () => reject(new Error(`${args.join(' ')} ended: ${said}`)));
  try {
    await ready;
    const wallMs = performance.now() - began;
    const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8');
    // Fields 14 and 15, counted behind the name, which may hold spaces. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const cpuMs = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    await sleep(SETTLED_MS);
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
    return { wallMs, cpuMs, mebibytes: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024 };
  } finally {
    child.kill('SIGKILL');
    await gone.catch(() => undefined);
  }
}

/** As operators start it: without a cache at first, then as often as it restarts. */
function startProduct(
  { gatewayUrl, discord, slack }: Servers,
  folder: string,
  more: Record<string, string> = {},
): Promise<Started> {
  return start([fileURLToPath(new URL('../../src/main.ts', import.meta.url))], 'Minstrel is up', {
    PORT: '0',
    DATA_DIR: folder,
    // Where Node keeps what it compiled.
    TMPDIR: folder,
    GATEWAY_BASE_URL: gatewayUrl,
    GATEWAY_API_KEY: 'key',
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    ...more,
  });
}

async function measureStartup({ short }: Extent): Promise<Comparison[]> {
  await using servers = await startProgram(new URL('./chat-servers.ts', import.meta.url), serversSchema);
  const folder = await mkdtemp(join(tmpdir(), 'minstrel-bench-'));
  const bare = () =>
    start(
      [fileURLToPath(new URL('./bare-chats.ts', import.meta.url)), JSON.stringify(servers.told)],
      'ready',
      {},
    );
  try {
    const rounds: { product: Started; limit: Started }[] = [];
    for (let round = 0; round <= (short ? 2 : 7); round += 1) {
      rounds.push({
        product: await startProduct(servers.told, folder),
        limit: await bare(),
      });
    }
    // The first round fills the caches.
    const warm = rounds.slice(1);
    const figures = (of: keyof Started) => ({
      product: median(warm.map(({ product }) => product[of])),
      theirs: median(warm.map(({ limit }) => limit[of])),
    });
    const peer = 'discord.js and Bolt, connected';
    return [
      { what: 'start to ready', unit: 'ms', ...figures('wallMs'), peer, goal: { atMost: 1.5 } },
      { what: 'start to ready', unit: 'CPU ms', ...figures('cpuMs'), peer, goal: { atMost: 1.5 } },
      { what: 'memory when ready', unit: 'MiB', ...figures('mebibytes'), peer, goal: { atMost: 1.25 } },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const startupRow: BenchRow = { id: 'p6', title: 'The start', measure: measureStartup };
