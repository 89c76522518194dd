/** Keeps the commands that Discord has equal to the bot's. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { backoff } from '../../../core/backoff.ts';
import type { AnyCommand } from '../../../core/bot/command.ts';
import { platformErrorOf, troubleOf } from '../errors.ts';
import { applicationCommands } from './commands.ts';
import type { RetryTools } from './gateway.ts';
import { type DiscordAccount, type DiscordRest, openRest } from './rest.ts';

/** What Discord adds to a command. */
const ADDED: ReadonlySet<string> = new Set([
  'id',
  'application_id',
  'version',
  'dm_permission',
  'default_permission',
]);
const registeredSchema = z.array(z.looseObject({ type: z.number(), name: z.string() }));

const isLeftOpen = (value: unknown): boolean =>
  typeof value === 'object' ? Object.keys(value ?? {}).length === 0 : value === false || value === '';

/** What declarations say, by type and name, since the order of commands does not count. */
function essence(commands: unknown): Record<string, unknown> {
  const declared = (key: string, value: unknown) => (ADDED.has(key) || isLeftOpen(value) ? undefined : value);
  return Object.fromEntries(
    registeredSchema
      .parse(commands)
      .map((command) => [
        `${command.type} ${command.name}`,
        JSON.parse(JSON.stringify(command, declared)) as unknown,
      ]),
  );
}

/** @param registered as Discord lists them */
export const isRegistered = (commands: readonly AnyCommand[], registered: unknown): boolean =>
  isDeepStrictEqual(essence(applicationCommands(commands)), essence(registered));

export type Registration = 'unchanged' | 'written';

/** The part of the settings that keeps what was registered last. */
export interface RegistrationSettings {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
}

interface RegisterOptions {
  readonly rest: DiscordRest;
  readonly application: string;
  /** Without them, or with nothing kept in them, the commands are compared with those that Discord has. */
  readonly settings?: RegistrationSettings | undefined;
}

/** Writes all commands in one request, and only when they changed: deleting first could leave none. */
async function register(
  commands: readonly AnyCommand[],
  { rest, application, settings }: RegisterOptions,
): Promise<Registration> {
  const body = applicationCommands(commands);
  const hash = createHash('sha256').update(JSON.stringify(body)).digest('base64url');
  const key = `commands:discord:${application}`;
  const last = await settings?.get(key);
  if (last === hash) return 'unchanged';
  const isUnchanged = last === undefined && isRegistered(commands, await rest.commands(application));
  if (!isUnchanged) await rest.overwriteCommands(application, body);
  await settings?.set(key, hash);
  return isUnchanged ? 'unchanged' : 'written';
}

/** For `npm run register`. Throws PlatformError, with a detail for the operator. */
export async function registerCommands(
  commands: readonly AnyCommand[],
  options: DiscordAccount,
): Promise<Registration> {
  const rest = openRest(options);
  try {
    return await register(commands, { rest, application: await rest.applicationId() });
  } catch (error) {
    throw platformErrorOf(error);
  }
}

const RETRY = { firstMs: 5_000, longestMs: 5 * 60_000 } as const;

interface KeepRegisteringOptions extends RegisterOptions, RetryTools {
  readonly signal: AbortSignal;
}

/** Tries until the commands are registered or Discord refuses them, or `signal` aborts. Never rejects. */
export async function keepRegistering(
  commands: readonly AnyCommand[],
  options: KeepRegisteringOptions,
): Promise<void> {
  const { log, random, sleep, signal } = options;
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      const registration = await register(commands, options);
      return log.info({ registration }, 'Commands are registered with Discord');
    } catch (error) {
      log.error({ err: error }, 'Commands could not be registered with Discord');
      if (troubleOf(error) === 'refused') return;
    }
    await sleep(backoff({ ...RETRY, attempt, random }), signal);
  }
}
