/** `npm run demo [-- --short]`: runs every command once on the built-in emulator and shows the results as in a chat. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { assemble, type Minstrel } from '../app/assemble.ts';
import { readConfig } from '../app/config/read.ts';
import { type Arguments, openLog, runProgram } from '../app/process.ts';
import { systemOf } from '../app/system.ts';
import { commandLine } from '../core/util/installation.ts';
import { createTerminal, type Terminal } from '../platforms/terminal/adapter.ts';

const usage = `Usage: ${commandLine('demo', '[--short]')}
Runs every command once on the built-in emulator and shows the results as in a chat.
  --short  make songs and videos of a few seconds`;
const OPTIONS = { short: { type: 'boolean' } } as const;

const OUTPUT = 'demo-output';
/** Takes about a minute and still shows progress and streaming. */
const EMULATOR = { speed: 0.25 };
/** For automated runs: songs and videos are very short. */
const SHORT_EMULATOR = { ...EMULATOR, songSeconds: 3, longestVideoSeconds: 2 };

const POLL_MS = 25;

/** Each with the answers to its questions. A line without a slash presses a button. */
const LINES: readonly (readonly [line: string, ...answers: string[]])[] = [
  ['/song a tune for evening rain --style lofi, soft piano'],
  ['/lyrics a lighthouse by the sea'],
  ['/stems --split all'],
  ['/pages'],
  ['/party play'],
  ['/remix --mode cover --style "brass band"'],
  ['/voices'],
  ['/contest'],
  ['/schedule add song --when every friday at 17:00 --prompt a tune for the weekend'],
  ['/image a fox reading under a street lamp --size wide'],
  ['change', 'make it a snowy night'],
  ['/video waves rolling towards a lighthouse --duration 5'],
  ['/ask Write a haiku about rain'],
  ['/jobs'],
  ['/models set ask chat:chat-large channel'],
  ['/limits set song 20 day server'],
  ['/limits report'],
  ['/minstrel'],
];

async function demo({ values: { short = false } }: Arguments<typeof OPTIONS>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'minstrel-demo-'));
  try {
    const failed = await playAll(directory, short ? SHORT_EMULATOR : EMULATOR);
    if (failed > 0) process.exitCode = 1;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Returns the number of failed commands. */
async function playAll(directory: string, emulatorOptions: typeof EMULATOR): Promise<number> {
  // Ignores the settings of this machine, so that the demo is the same everywhere.
  const config = readConfig({ PORT: '0', DATA_DIR: directory });
  const log = openLog(config, { level: 'warn', write: (line) => process.stderr.write(line) });
  let terminal: Terminal | undefined;
  const minstrel: Minstrel = await assemble({
    ...systemOf(log),
    config,
    emulatorOptions,
    platforms: ({ media, newId }) => {
      terminal = createTerminal({ output: process.stdout, folder: OUTPUT, media, withoutLinks: true, newId });
      return [terminal];
    },
  });

  /** Runs a line as if it had been typed. Resolves once its result is shown: true if it succeeded. */
  async function play(line: string, answers: readonly string[]): Promise<boolean> {
    terminal?.announce(`\n› ${line}`);
    const outcome = await terminal?.run(line, answers);
    if (typeof outcome !== 'object') return outcome === 'answered';
    for (;;) {
      const state = (await minstrel.job(outcome.job))?.state;
      if (state === 'delivered') return true;
      if (state === 'failed' || state === 'expired' || state === 'cancelled') return false;
      await delay(POLL_MS);
    }
  }

  const startedAt = performance.now();
  const results: string[] = [];
  let failed = 0;
  try {
    for (const [line, ...answers] of LINES) {
      const from = performance.now();
      const isOk = await play(line, answers);
      if (!isOk) failed += 1;
      const typed = [line, ...answers].join(', ');
      results.push(`  ${isOk ? 'ok  ' : 'FAIL'}  ${seconds(from).padStart(6)}  ${typed}`);
    }
  } finally {
    await minstrel.stop();
  }
  const verdict = failed === 0 ? 'All commands succeeded' : `${failed} of ${LINES.length} commands failed`;
  process.stdout.write(
    ['', ...results, '', `${verdict} in ${seconds(startedAt)}. The files are in ${OUTPUT}/.`, ''].join('\n'),
  );
  return failed;
}

function seconds(from: number): string {
  return `${((performance.now() - from) / 1000).toFixed(1)} s`;
}

export const runDemo = (args: readonly string[]) => runProgram({ usage, options: OPTIONS }, demo, args);
