/** Shared by all programs: read the settings once, report errors in one message, exit cleanly. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { Logger } from 'pino';
import { OperatorError, systemErrorCode } from '../core/errors.ts';
import type { System } from '../core/system.ts';
import { readEnvFile } from './config/env-file.ts';
import { type Config, readConfig } from './config/read.ts';
import { systemOf } from './system.ts';
import { createLog } from './telemetry/log.ts';

/** Reads the settings from `.env` and the environment, which takes precedence. Throws ConfigError. */
export const loadConfig = (): Config => readConfig(loadEnvironment());

/** The variables of `.env` and the environment, which takes precedence. */
export function loadEnvironment(): Readonly<Record<string, string | undefined>> {
  return { ...readEnvFile('.env'), ...process.env };
}

export interface LogDestination {
  readonly level: string;
  readonly write: (line: string) => void;
}

/** Opens a log that removes every secret in the settings from its lines. */
export function openLog(
  { accounts, discord, slack, signingSecrets, storage, media: { store } }: Config,
  { level, write }: LogDestination,
): Logger {
  return createLog({
    level,
    write,
    secrets: [
      ...Object.values(accounts).map(({ apiKey }) => apiKey),
      discord?.token,
      ...secretsOf(slack),
      ...(store.type === 's3' ? [store.secretAccessKey] : []),
      ...(storage.type === 'redis' ? passwordsIn(storage.url) : []),
      ...signingSecrets,
    ].filter((secret) => secret !== undefined),
  });
}

/** Reads the settings and opens a log to stderr, for programs that people run by hand. Throws ConfigError. */
export function openProgram(): { readonly config: Config; readonly system: System } {
  const config = loadConfig();
  const log = openLog(config, { level: 'warn', write: (line) => process.stderr.write(line) });
  return { config, system: systemOf(log) };
}

/** The password as written in the URL and decoded, as it is sent. */
function passwordsIn(url: string): string[] {
  const { password } = new URL(url);
  return [password, decodeURIComponent(password)];
}

function secretsOf(slack: Config['slack']): (string | undefined)[] {
  if (slack === undefined) return [];
  const { connection, account } = slack;
  return [
    connection.type === 'socket' ? connection.appToken : connection.signingSecret,
    ...(account.type === 'token' ? [account.botToken] : [account.clientSecret, account.previousClientSecret]),
  ];
}

/** Logs uncaught errors and exits, unless `isHarmless`. Node itself would print every field of the error, including secrets. */
export function exitOnUncaught(
  log: Pick<Logger, 'fatal' | 'warn'>,
  {
    on,
    isHarmless,
    exit,
  }: {
    on: (event: 'uncaughtException', end: (error: unknown) => void) => unknown;
    isHarmless: (error: unknown) => boolean;
    exit: (code: number) => void;
  },
): void {
  on('uncaughtException', (error) => {
    if (isHarmless(error)) return log.warn({ err: error }, 'Uncaught error of a library, continuing');
    log.fatal({ err: error }, 'Uncaught error, exiting');
    exit(1);
  });
}

type Flags = NonNullable<ParseArgsConfig['options']>;

export interface Program<Options extends Flags> {
  /** Printed by `--help`, and after wrong arguments. */
  readonly usage: string;
  readonly options?: Options;
  /** The number of arguments besides options. Default: 0. */
  readonly takes?: number;
}

export interface Arguments<Options extends Flags> {
  readonly values: ReturnType<typeof parseArgs<{ options: Options }>>['values'];
  readonly positionals: readonly string[];
}

/** The arguments do not match the program's usage. */
export class ArgumentsError extends OperatorError {}

/** Runs a program's main function. Errors that the operator can fix are reported as one sentence. */
export async function runProgram<Options extends Flags = Record<never, never>>(
  { usage, options, takes = 0 }: Program<Options>,
  main: (given: Arguments<Options>) => void | Promise<void>,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  if (printedHelp(usage, args)) return;
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: options ?? ({} as Options), // Without options, Options is an empty record.
      allowPositionals: true,
    });
    if (positionals.length !== takes) throw new ArgumentsError(usage);
    await main({ values, positionals });
  } catch (error) {
    if (error instanceof ArgumentsError) fail(error.message);
    else if (systemErrorCode(error)?.startsWith('ERR_PARSE_ARGS'))
      fail(`${error instanceof Error ? error.message : ''}\n${usage}`);
    else if (error instanceof OperatorError) fail(error.message);
    else fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

/** Prints the usage if the arguments contain `--help`. */
export function printedHelp(usage: string, args: readonly string[] = process.argv.slice(2)): boolean {
  const isHelp = args.includes('--help') || args.includes('-h');
  if (isHelp) process.stdout.write(`${usage}\n`);
  return isHelp;
}

/** Writes the message to stderr and sets exit status 1. */
export function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
