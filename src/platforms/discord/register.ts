/** Declarations as Discord's application commands. */
import { isDeepStrictEqual } from 'node:util';
import {
  type APIApplicationCommandBasicOption,
  type APIApplicationCommandOption,
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
  type RESTPostAPIChatInputApplicationCommandsJSONBody,
  type RESTPostAPIContextMenuApplicationCommandsJSONBody,
} from 'discord.js';
import { z } from 'zod';
import type { AnyCommand, OptionDeclaration, OptionDeclarations } from '../../command.ts';
import { toPlatformError } from './errors.ts';
import { LIMITS } from './limits.ts';
import { localizedDescription, localizedLabel, localizedName } from './locales/index.ts';
import { DiscordRest, type DiscordRestOptions } from './rest.ts';

type ApplicationCommand =
  | RESTPostAPIChatInputApplicationCommandsJSONBody
  | RESTPostAPIContextMenuApplicationCommandsJSONBody;

/** A slash command for each declaration, and an entry in the menu of messages for those that have one. */
export function applicationCommands(commands: readonly AnyCommand[]): ApplicationCommand[] {
  return commands.flatMap((command): ApplicationCommand[] => {
    const where = availability(command);
    const menu = command.messageMenu;
    return [
      {
        type: ApplicationCommandType.ChatInput,
        ...named(command.name, command.description),
        options: optionsOf(command),
        ...where,
      },
      ...(menu
        ? [
            {
              type: ApplicationCommandType.Message as const,
              name: menu.label,
              ...localizedLabel(menu.label),
              ...where,
            },
          ]
        : []),
    ];
  });
}

const named = (name: string, description: string) => ({
  name,
  description,
  ...localizedName(name),
  ...localizedDescription(description),
});

function availability(command: AnyCommand) {
  return {
    integration_types: [ApplicationIntegrationType.GuildInstall, ApplicationIntegrationType.UserInstall],
    // No default_member_permissions: whom moderators named beside themselves would not see the command. The core decides.
    contexts: command.moderatorsOnly
      ? [InteractionContextType.Guild]
      : [InteractionContextType.Guild, InteractionContextType.BotDM, InteractionContextType.PrivateChannel],
  };
}

/** Discord lets nobody use a command with subcommands without one of them. */
function optionsOf(command: AnyCommand): APIApplicationCommandOption[] {
  if (!command.subcommands) return basicOptions(command.options);
  return Object.entries(command.subcommands).map(([name, { description, options }]) => ({
    type: ApplicationCommandOptionType.Subcommand,
    ...named(name, description),
    options: basicOptions(options),
  }));
}

/** Discord wants the required options first. */
const basicOptions = (options: OptionDeclarations): APIApplicationCommandBasicOption[] =>
  Object.entries(options)
    .sort(([, left], [, right]) => Number(right.required ?? false) - Number(left.required ?? false))
    .map(([name, declaration]) => applicationOption(name, declaration));

function applicationOption(name: string, option: OptionDeclaration): APIApplicationCommandBasicOption {
  const common = { ...named(name, option.description), required: option.required ?? false };
  switch (option.type) {
    case 'text':
      if (option.mention) return { ...common, type: ApplicationCommandOptionType.Mentionable };
      return {
        ...common,
        type: ApplicationCommandOptionType.String,
        ...(option.maximumLength === undefined
          ? {}
          : { max_length: Math.min(option.maximumLength, LIMITS.textOption) }),
        ...(option.suggest ? { autocomplete: true } : {}),
      };
    case 'choice':
      return {
        ...common,
        type: ApplicationCommandOptionType.String,
        choices: option.choices.map(({ name: label, value }) => ({
          name: label,
          ...localizedLabel(label),
          value,
        })),
      };
    case 'flag':
      return { ...common, type: ApplicationCommandOptionType.Boolean };
    case 'number': {
      const range = {
        ...(option.minimum === undefined ? {} : { min_value: option.minimum }),
        ...(option.maximum === undefined ? {} : { max_value: option.maximum }),
      };
      return option.integer
        ? { ...common, type: ApplicationCommandOptionType.Integer, ...range }
        : { ...common, type: ApplicationCommandOptionType.Number, ...range };
    }
    case 'file':
      return { ...common, type: ApplicationCommandOptionType.Attachment };
    default:
      return option satisfies never;
  }
}

const registeredSchema = z.array(z.record(z.string(), z.unknown()));
/** What Discord adds, and what it fills in for a command that does not say it. */
const ADDED: ReadonlySet<string> = new Set([
  'id',
  'application_id',
  'guild_id',
  'version',
  'dm_permission',
  'default_permission',
  'handler',
]);
const LOCALIZED: ReadonlySet<string> = new Set(['name_localized', 'description_localized']);

/** A command or an option reduced to what a declaration can say, so that both sides can be compared. */
function essence(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(essence);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, part]) => !ADDED.has(key) && !LOCALIZED.has(key) && !isDefault(part))
      .map(([key, part]) => [
        key,
        key === 'contexts' || key === 'integration_types' ? [...part].sort() : essence(part),
      ])
      .sort(([left], [right]) => String(left).localeCompare(String(right))),
  );
}

const isDefault = (part: unknown): boolean =>
  part === null ||
  part === undefined ||
  part === false ||
  part === '' ||
  (Array.isArray(part) && part.length === 0) ||
  (typeof part === 'object' && Object.keys(part).length === 0);

const byName = (commands: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(
    z
      .array(z.object({ name: z.string(), type: z.number().optional() }).loose())
      .parse(commands)
      .map((command) => [
        `${command.type ?? 1} ${command.name}`,
        essence({ ...command, type: command.type ?? 1 }),
      ]),
  );

/** Whether Discord has exactly these commands; their order does not count. */
const isRegistered = (declared: readonly ApplicationCommand[], registered: unknown): boolean =>
  isDeepStrictEqual(byName(declared), byName(registeredSchema.parse(registered)));

export type Registration = 'unchanged' | 'written';

/** Writes all commands in one request, and only when Discord has others: deleting first could leave none. */
export async function register(rest: DiscordRest, commands: readonly AnyCommand[]): Promise<Registration> {
  const application = await rest.applicationId();
  const declared = applicationCommands(commands);
  if (isRegistered(declared, await rest.commands(application))) return 'unchanged';
  await rest.overwriteCommands(application, declared);
  return 'written';
}

/** For `npm run register`. Throws PlatformError, with a detail for the operator. */
export async function registerCommands(
  commands: readonly AnyCommand[],
  options: DiscordRestOptions,
): Promise<Registration> {
  const rest = new DiscordRest(options);
  try {
    return await register(rest, commands);
  } catch (error) {
    throw toPlatformError(error);
  } finally {
    rest.close();
  }
}
