/** Keeps the commands registered with Discord up to date. */
import { createHash } from 'node:crypto';
import type { AnyCommand } from '../../../core/bot/command.ts';
import { backoff } from '../../../core/util/backoff.ts';
import { errorKindOf, platformErrorOf } from '../errors.ts';
import { applicationCommands } from './commands.ts';
import type { RetryTools } from './connection.ts';
import { type DiscordAccount, type DiscordRest, openRest } from './rest.ts';

export interface RegisterOptions {
  readonly rest: DiscordRest;
  readonly application: string;
  /** Stores a digest of the registered commands. Without it, the commands are registered at every start. */
  readonly settings?:
    | { get(key: string): Promise<unknown>; set(key: string, value: unknown): Promise<void> }
    | undefined;
}

/** Overwrites all commands in one request, so that a failure cannot leave the bot without commands. Skips unchanged ones. */
async function register(
  commands: readonly AnyCommand[],
  { rest, application, settings }: RegisterOptions,
): Promise<void> {
  const body = applicationCommands(commands);
  const hash = createHash('sha256').update(JSON.stringify(body)).digest('base64url');
  const key = `commands:discord:${application}`;
  if ((await settings?.get(key)) === hash) return;
  await rest.overwriteCommands(application, body);
  await settings?.set(key, hash);
}

/** For `npm run register`. Throws PlatformError with details for the operator. */
export async function registerCommands(
  commands: readonly AnyCommand[],
  account: DiscordAccount,
): Promise<void> {
  const rest = openRest(account);
  try {
    await register(commands, { rest, application: await rest.applicationId() });
  } catch (error) {
    throw platformErrorOf(error);
  }
}

const RETRY = { firstMs: 5_000, longestMs: 5 * 60_000 } as const;

interface KeepRegisteringOptions extends RegisterOptions, RetryTools {
  readonly signal: AbortSignal;
}

/** Retries until the commands are registered, Discord rejects them, or `signal` aborts. Never rejects. */
export async function keepRegistering(
  commands: readonly AnyCommand[],
  options: KeepRegisteringOptions,
): Promise<void> {
  const { log, random, sleep, signal } = options;
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      await register(commands, options);
      return log.info({}, 'Registered commands with Discord');
    } catch (error) {
      log.error({ err: error }, 'Could not register commands with Discord');
      if (errorKindOf(error) === 'refused') return;
    }
    await sleep(backoff({ ...RETRY, attempt, random }), signal);
  }
}
