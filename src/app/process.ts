/** Shared by all programs: read the settings once, report errors in one message, exit cleanly. */
import type { Logger } from 'pino';
import { OperatorError } from '../core/errors.ts';
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
  { gateway, discord, slack, signingSecrets, storage, media: { store } }: Config,
  { level, write }: LogDestination,
): Logger {
  return createLog({
    level,
    write,
    secrets: [
      gateway?.apiKey,
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

/** Logs uncaught errors and exits. Node itself would print every field of the error, including secrets. */
export function exitOnUncaught(
  log: Pick<Logger, 'fatal'>,
  {
    once,
    exit,
  }: {
    once: (event: 'uncaughtException', end: (error: unknown) => void) => unknown;
    exit: (code: number) => void;
  },
): void {
  once('uncaughtException', (error) => {
    log.fatal({ err: error }, 'Uncaught error, exiting');
    exit(1);
  });
}

/** Runs a program's main function. Errors that the operator can fix are reported as one sentence. */
export async function runProgram(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (error instanceof OperatorError) fail(error.message);
    else fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

/** Writes the message to stderr and sets exit status 1. */
export function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
