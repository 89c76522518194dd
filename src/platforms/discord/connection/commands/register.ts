/** Keeps the commands that Discord has equal to the bot's. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { backoff } from '../../../../core/backoff.ts';
import type { AnyCommand } from '../../../../core/bot/command.ts';
import { platformErrorOf, troubleOf } from '../../errors.ts';
import type { RetryTools } from '../connection.ts';
import { createDiscordRest, type DiscordRest, type DiscordRestOptions } from '../rest/rest.ts';
import { applicationCommands } from './commands.ts';

/** What Discord adds, and what it fills in where a command leaves it open. */
const ADDED: ReadonlySet<string> = new Set([
  'id',
  'application_id',
  'guild_id',
  'version',
  'dm_permission',
  'default_permission',
  'handler',
  'name_localized',
  'description_localized',
]);

/** A command or an option reduced to what a declaration can say, so that both sides can be compared. */
function essence(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(essence);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, part]) => !ADDED.has(key) && !isDefault(part))
      .map(([key, part]) => [
        key,
        key === 'contexts' || key === 'integration_types' ? [...part].sort() : essence(part),
      ]),
  );
}

const isDefault = (part: unknown): boolean =>
  typeof part === 'object' ? Object.keys(part ?? {}).length === 0 : !part && part !== 0;

const registeredSchema = z.array(z.object({ name: z.string(), type: z.number().default(1) }).loose());
/** By type and name, since the order of commands does not count. */
const byName = (commands: unknown): Record<string, unknown> =>
  Object.fromEntries(
    registeredSchema.parse(commands).map((command) => [`${command.type} ${command.name}`, essence(command)]),
  );

export type Registration = 'unchanged' | 'written';

/** Writes all commands in one request, and only when Discord has others: deleting first could leave none. */
async function register(rest: DiscordRest, commands: readonly AnyCommand[]): Promise<Registration> {
  const application = await rest.applicationId();
  if (isRegistered(commands, await rest.commands(application))) return 'unchanged';
  await rest.overwriteCommands(application, applicationCommands(commands));
  return 'written';
}

/** @param registered as Discord lists them */
export const isRegistered = (commands: readonly AnyCommand[], registered: unknown): boolean =>
  isDeepStrictEqual(byName(applicationCommands(commands)), byName(registered));

/** For `npm run register`. Throws PlatformError, with a detail for the operator. */
export async function registerCommands(
  commands: readonly AnyCommand[],
  options: DiscordRestOptions,
): Promise<Registration> {
  const rest = createDiscordRest(options);
  try {
    return await register(rest, commands);
  } catch (error) {
    throw platformErrorOf(error);
  } finally {
    rest.close();
  }
}

const RETRY = { firstMs: 5_000, longestMs: 5 * 60_000 } as const;

export interface KeepRegisteringOptions extends RetryTools {
  readonly rest: DiscordRest;
  /** Runs the work while no other replica does. */
  readonly locked: (work: () => Promise<void>) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Tries until Discord has the commands or refuses them, or `signal` aborts. Never rejects. */
export async function keepRegistering(
  commands: readonly AnyCommand[],
  { rest, log, random, sleep, locked, signal }: KeepRegisteringOptions,
): Promise<void> {
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      return await locked(async () => {
        const registration = await register(rest, commands);
        log.info({ registration }, 'Commands are registered with Discord');
      });
    } catch (error) {
      log.error({ err: error }, 'Commands could not be registered with Discord');
      if (troubleOf(error) === 'refused') return;
    }
    await sleep(backoff({ ...RETRY, attempt, random }), signal);
  }
}
