/** `npm start`: the bot on the platforms that are set, or a prompt in this terminal where none is. */

import { assemble, type PlatformTools } from './assemble.ts';
import { platformsFor } from './chat-platforms.ts';
import type { Config } from './config.ts';
import type { Platform } from './platforms/platform.ts';
import { createTerminal } from './platforms/terminal/terminal.ts';
import { loadConfig, newId, openLog, runProgram } from './process.ts';

/** Where the prompt saves what it makes. */
const PROMPT_FOLDER = 'minstrel-files';

/** Past this the process ends whatever still runs; SIGTERM allows 10 s by convention. */
const LONGEST_STOP_MS = 9_500;

async function main(): Promise<void> {
  const config = loadConfig();
  const prompts = !config.production && !config.discord && !config.slack;
  const log = openLog(config, prompts && config.log.level === 'info' ? 'warn' : config.log.level);
  for (const warning of config.warnings) log.warn({}, warning);

  const { promise: asked, resolve: end } = Promise.withResolvers<string>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end(signal));

  const minstrel = await assemble({
    config,
    log,
    now: Date.now,
    random: Math.random,
    platforms: (tools) =>
      prompts ? [promptPlatform(tools, () => end('exit'))] : platformsFor(config, tools),
  });
  announce(config, minstrel, prompts);
  log.info({ url: minstrel.url, gateway: minstrel.gatewayUrl }, 'Minstrel is up');

  const why = await asked;
  log.info({ why }, 'Minstrel stops: running work is handed over');
  const tooLong = setTimeout(() => {
    log.warn({}, 'Something did not end in time; its work goes on at the next start');
    process.exit(0);
  }, LONGEST_STOP_MS);
  tooLong.unref();
  await minstrel.stop();
  log.info({}, 'Minstrel has stopped');
}

function promptPlatform({ media, now }: PlatformTools, onEnd: () => void): Platform {
  return createTerminal({
    input: process.stdin,
    output: process.stdout,
    folder: PROMPT_FOLDER,
    media,
    now,
    newId,
    onEnd,
  });
}

function announce(
  config: Config,
  { url, gatewayUrl }: { url: string; gatewayUrl: string },
  prompts: boolean,
): void {
  if (!prompts) return;
  const gateway = config.gateway
    ? `the gateway at ${gatewayUrl}`
    : 'the built-in emulator, so nothing costs anything';
  process.stdout.write(
    [
      `Minstrel plays on ${gateway}. Listening at ${url}.`,
      'Type a command, such as /song a tune for rain --style lofi',
      `Files are saved in ${PROMPT_FOLDER}/. To connect Discord or Slack, see README.md. Type exit to leave.`,
      '',
    ].join('\n'),
  );
}

if (import.meta.main) await runProgram(main);
