/** What a process owes its operator: settings read once, mistakes told in one message, a clean end. */
import { randomBytes } from 'node:crypto';
import { loadEnvFile } from 'node:process';
import type { Logger } from 'pino';
import { type Config, ConfigError, readConfig } from './config.ts';
import { ListenError } from './http/server.ts';
import { createLog } from './log.ts';
import { StorageError } from './storage/storage.ts';

/** The settings of the environment and of `.env`, which the environment overrules. Throws ConfigError. */
export function loadConfig(): Config {
  try {
    loadEnvFile();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  return readConfig(process.env);
}

export interface LogDestination {
  readonly level: string;
  readonly write: (line: string) => void;
}

/** The log of this process, which knows every secret of the settings and writes none. */
export function openLog(
  { gateway, discord, slack, signingSecrets, media: { store } }: Config,
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
      ...signingSecrets,
    ].filter((secret) => secret !== undefined),
  });
}

function secretsOf(slack: Config['slack']): (string | undefined)[] {
  if (slack === undefined) return [];
  const { connection, account } = slack;
  return [
    connection.type === 'socket' ? connection.appToken : connection.signingSecret,
    ...(account.type === 'token' ? [account.botToken] : [account.clientSecret, account.previousClientSecret]),
  ];
}

export function newId(): string {
  return randomBytes(10).toString('hex');
}

/** Runs a program's main function; what stops it is told in a sentence where it is the operator's to mend. */
export async function runProgram(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    const expected =
      error instanceof ConfigError || error instanceof ListenError || error instanceof StorageError;
    process.stderr.write(
      `${expected ? error.message : error instanceof Error ? error.stack : String(error)}\n`,
    );
    process.exitCode = 1;
  }
}
