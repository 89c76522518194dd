/** Runs the bot on the configured platforms, or at a prompt in this terminal without any. */
import type { Family } from '../core/models/family.ts';
import { commandLine } from '../core/util/installation.ts';
import { isSentOnClosedSocket } from '../platforms/discord/voice/closed-socket.ts';
import { createTerminal, type Terminal } from '../platforms/terminal/adapter.ts';
import { assemble, type Minstrel } from './assemble.ts';
import { servicesText } from './config/accounts.ts';
import type { Config } from './config/read.ts';
import { logFindings } from './doctor/examine.ts';
import { type PlatformTools, platformsFor } from './platforms.ts';
import { exitOnUncaught, loadConfig, openLog } from './process.ts';
import { systemOf } from './system.ts';

const PROMPT_FOLDER = 'minstrel-files';

/** The process exits after this even if something still runs. By convention, SIGTERM allows 10 s. */
const LONGEST_STOP_MS = 9_500;

/** Resolves when the bot has stopped, after SIGTERM, SIGINT or exit at the prompt. */
export async function runMinstrel(): Promise<void> {
  const config = loadConfig();
  const prompts = !config.production && !config.discord && !config.slack;
  let terminal: Terminal | undefined;
  const isTerminal = process.stderr.isTTY;
  const format = isTerminal ? await prettyFormatter() : (line: string) => line;
  const log = openLog(config, {
    level: prompts && config.log.level === 'info' ? 'warn' : config.log.level,
    // Log lines must not break the line being typed.
    write: (line) =>
      terminal ? terminal.announce(format(line).trimEnd()) : process.stderr.write(format(line)),
  });
  exitOnUncaught(log, {
    on: (event, end) => process.on(event, end),
    isHarmless: isSentOnClosedSocket,
    exit: (code) => process.exit(code),
  });
  for (const warning of config.warnings) log.warn({}, warning);

  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end(signal));

  const system = systemOf(log);
  const minstrel = await assemble({
    ...system,
    config,
    platforms: async (tools) => {
      const platforms = await platformsFor(config, tools);
      if (!prompts) return platforms;
      terminal = openTerminal(tools, () => end('exit'));
      return [...platforms, terminal];
    },
  });
  terminal?.announce(greeting(config, minstrel));
  // Never logged, because the URL contains a secret.
  if (!terminal && minstrel.playgroundUrl)
    process.stdout.write(`${playgroundSentence(minstrel.playgroundUrl)}\n`);
  log.info({ url: minstrel.url, services: servicesText(config) }, 'Minstrel started');
  const tools = { ...system, fetch };
  if (!prompts || Object.keys(config.accounts).length > 0)
    void logFindings(config, minstrel.gateway, tools, isTerminal);

  const reason = await ended;
  log.info({ why: reason }, 'Minstrel is stopping. Open jobs resume at the next start');
  const timeout = setTimeout(() => {
    log.warn({}, 'Shutdown timed out; open jobs resume at the next start');
    process.exit(0);
  }, LONGEST_STOP_MS);
  timeout.unref();
  await minstrel.stop();
  log.info({}, 'Minstrel stopped');
}

/** Formats log lines for a terminal. */
async function prettyFormatter(): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  const colorize = process.stderr.hasColors();
  return prettyFactory({ colorize, singleLine: true, translateTime: 'SYS:HH:MM:ss', ignore: 'replica' });
}

/** Without a person at the prompt, the listener and jobs keep running. */
function openTerminal({ media, newId }: PlatformTools, onExit: () => void): Terminal {
  return createTerminal({
    input: process.stdin,
    output: process.stdout,
    folder: PROMPT_FOLDER,
    media,
    newId,
    onExit,
  });
}

const playgroundSentence = (url: string): string => `Try it in your browser: ${url}`;

const EXAMPLES = {
  song: '/song a tune for rain --style lofi',
  ask: '/ask why is the sky blue?',
  image: '/image a lighthouse at night',
  video: '/video waves on a rocky coast',
} as const satisfies Record<Family, string>;

function greeting(config: Config, { url, playgroundUrl }: Pick<Minstrel, 'url' | 'playgroundUrl'>): string {
  return [
    `Minstrel is running with ${servicesText(config)}. Listening at ${url}.`,
    ...(playgroundUrl === undefined ? [] : [playgroundSentence(playgroundUrl)]),
    `Type a command, such as ${EXAMPLES[config.offered[0] ?? 'ask']}`,
    `Files are saved in ${PROMPT_FOLDER}/. To connect Discord or Slack, use ${commandLine('setup')}. Type exit to quit.`,
  ].join('\n');
}
