/** Converts command declarations to Discord's application commands. */
import {
  type APIApplicationCommandBasicOption,
  type APIApplicationCommandOption,
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
  PermissionFlagsBits,
  type RESTPostAPIChatInputApplicationCommandsJSONBody,
  type RESTPostAPIContextMenuApplicationCommandsJSONBody,
} from 'discord.js';
import type { AnyCommand } from '../../../core/bot/command.ts';
import type { OptionDeclaration, OptionDeclarations } from '../../../core/options.ts';
import { present } from '../../../core/util/present.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import { localizedDescriptions } from '../locales/index.ts';

type ApplicationCommand =
  | RESTPostAPIChatInputApplicationCommandsJSONBody
  | RESTPostAPIContextMenuApplicationCommandsJSONBody;

/** Returns a slash command for each declaration, and a message menu entry for those that declare one. */
export function applicationCommands(commands: readonly AnyCommand[]): ApplicationCommand[] {
  return commands.flatMap((command): ApplicationCommand[] => {
    const available = availability(command);
    const { name, description, messageMenu: menu } = command;
    const type = ApplicationCommandType.ChatInput;
    const slash = {
      type,
      ...withDescription(name, description),
      options: optionsOf(command),
      ...available,
    } as const;
    if (!menu) return [slash];
    return [slash, { type: ApplicationCommandType.Message, name: menu.label, ...available }];
  });
}

const withDescription = (name: string, description: string) => ({
  name,
  description,
  description_localizations: localizedDescriptions(description),
});

function availability(command: AnyCommand) {
  return {
    integration_types: [ApplicationIntegrationType.GuildInstall, ApplicationIntegrationType.UserInstall],
    ...(command.moderatorsOnly
      ? {
          contexts: [InteractionContextType.Guild],
          // Moderators can allow more people in Server Settings → Integrations.
          default_member_permissions: PermissionFlagsBits.ManageGuild.toString(),
        }
      : {
          contexts: [
            InteractionContextType.Guild,
            InteractionContextType.BotDM,
            InteractionContextType.PrivateChannel,
          ],
        }),
  };
}

/** On Discord, a command with subcommands cannot be used without one. */
function optionsOf(command: AnyCommand): APIApplicationCommandOption[] {
  if (!command.subcommands) return basicOptions(command.options);
  return Object.entries(command.subcommands).map(([name, { description, options }]) => ({
    type: ApplicationCommandOptionType.Subcommand,
    ...withDescription(name, description),
    options: basicOptions(options),
  }));
}

/** Discord expects required options first. */
const basicOptions = (options: OptionDeclarations): APIApplicationCommandBasicOption[] =>
  Object.entries(options)
    .sort(([, left], [, right]) => Number(right.required ?? false) - Number(left.required ?? false))
    .map(([name, declaration]) => applicationOption(name, declaration));

function applicationOption(name: string, option: OptionDeclaration): APIApplicationCommandBasicOption {
  const common = { ...withDescription(name, option.description), required: option.required ?? false };
  switch (option.type) {
    case 'text':
      if (option.mention) return { ...common, type: ApplicationCommandOptionType.Mentionable };
      return {
        ...common,
        type: ApplicationCommandOptionType.String,
        ...(option.maximumLength && {
          max_length: Math.min(option.maximumLength, DISCORD_LIMITS.textOption),
        }),
        ...(option.autocomplete ? { autocomplete: true } : {}),
      };
    case 'choice':
      return {
        ...common,
        type: ApplicationCommandOptionType.String,
        choices: option.choices.map(({ name: label, value }) => ({ name: label, value })),
      };
    case 'flag':
      return { ...common, type: ApplicationCommandOptionType.Boolean };
    case 'number': {
      const range = present({ min_value: option.minimum, max_value: option.maximum });
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
