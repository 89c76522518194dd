/** Converts interactions and messages to invocations, with the address for their results. */
import {
  type APIInteractionGuildMember,
  ApplicationCommandOptionType,
  ApplicationIntegrationType,
  type AutocompleteInteraction,
  type BaseInteraction,
  type ButtonInteraction,
  type ChatInputCommandInteraction,
  type CommandInteractionOption,
  GuildMember,
  InteractionContextType,
  type MessageContextMenuCommandInteraction,
  type ModalSubmitInteraction,
  PermissionFlagsBits,
  type StringSelectMenuInteraction,
  type User,
} from 'discord.js';
import type { Address, Invocation, Person, SuggestRequest } from '../../../core/invocation.ts';
import type { OptionValue } from '../../../core/options.ts';
import { present } from '../../../core/util/present.ts';
import { buttonTarget, formTarget } from '../../shared/target.ts';
import { type Guilds, supportsThreads } from '../connection/guilds.ts';
import { DEFAULT_FILE_BYTES, DISCORD_LIMITS } from '../limits.ts';
import { mayOpenThreads, missingToAnswer } from '../permissions.ts';
import { fileOf, type IncomingMessage } from './incoming-message.ts';
import { OPEN_FORM, optionsOfForm, readFormId } from './modal.ts';

export type PressedInteraction = ButtonInteraction | StringSelectMenuInteraction;
export type Answerable =
  | ChatInputCommandInteraction
  | MessageContextMenuCommandInteraction
  | PressedInteraction
  | ModalSubmitInteraction;

type Request = Pick<Invocation, 'id' | 'person' | 'address'>;

/** Returns who sent an interaction, and where. */
export const requestOf = (interaction: BaseInteraction, receivedAt: number): Request => ({
  id: interaction.id,
  person: personOf(
    interaction.user,
    interaction.member,
    interaction.memberPermissions?.has(PermissionFlagsBits.ManageGuild) ?? false,
  ),
  address: addressOfInteraction(interaction, receivedAt),
});

/** Converts a command, button or form to an invocation; undefined if the bot does not know the button or form. */
export function invocationOf(interaction: Answerable, receivedAt: number): Invocation | undefined {
  const common = requestOf(interaction, receivedAt);
  if (interaction.isModalSubmit())
    return {
      ...common,
      ...formTarget(readFormId(interaction.customId).form),
      options: optionsOfForm(interaction.fields.fields),
    };
  if (interaction.isMessageComponent()) {
    // A menu choice counts as a button with that id.
    const [selected = interaction.customId] = interaction.isStringSelectMenu() ? interaction.values : [];
    const [, form] = OPEN_FORM.exec(selected) ?? [];
    const target = form === undefined ? buttonTarget(selected) : formTarget(form);
    return target && { ...common, ...target, options: {} };
  }
  const { commandName: command, options, guildId } = interaction;
  return { ...common, command, ...commandOptions(options.data, guildId) };
}

/** Converts the text typed into an option with autocomplete. */
export function suggestRequestOf(
  interaction: AutocompleteInteraction,
  receivedAt: number,
): SuggestRequest | undefined {
  const { data } = interaction.options;
  const focused = withoutSubcommand(data).options.find((option) => option.focused);
  if (!focused) return undefined;
  const { id: _, ...request } = requestOf(interaction, receivedAt);
  const { options, ...target } = commandOptions(data, interaction.guildId);
  const { [focused.name]: _unfinished, ...rest } = options;
  return {
    ...request,
    ...target,
    command: interaction.commandName,
    options: rest,
    option: focused.name,
    typed: String(focused.value ?? ''),
  };
}

/** @param member the guild member; in Discord's raw form if the bot is not in the guild */
export function personOf(
  user: Pick<User, 'id' | 'displayName'>,
  member: GuildMember | Pick<APIInteractionGuildMember, 'nick' | 'roles'> | null,
  moderator: boolean,
): Person {
  if (!(member instanceof GuildMember))
    return {
      id: user.id,
      displayName: member?.nick || user.displayName,
      moderator,
      roles: member?.roles ?? [],
    };
  const everyone = member.guild.id;
  const roles = member.roles.cache.map(({ id }) => id).filter((id) => id !== everyone);
  return { id: user.id, displayName: member.nickname || user.displayName, moderator, roles };
}

/** @param data the options, nested as Discord sends them */
export function commandOptions(
  data: readonly CommandInteractionOption[],
  guild: string | null,
): Pick<Invocation, 'subcommand'> & { readonly options: Record<string, OptionValue> } {
  const { options: entries, ...subcommand } = withoutSubcommand(data);
  const options: Record<string, OptionValue> = {};
  for (const option of entries) {
    const { name, type, value, attachment } = option;
    if (type === ApplicationCommandOptionType.Attachment) {
      if (attachment) options[name] = fileOf(attachment);
    } else if (type === ApplicationCommandOptionType.Mentionable) {
      // The @everyone role has the guild's id.
      options[name] = value === guild ? '@everyone' : mentionOf(option);
    } else if (value !== undefined) options[name] = value;
  }
  return { ...subcommand, options };
}

/** Formats a person as `<@id|name>` and a role as `<@&id|name>`. */
function mentionOf({ value, role, user }: CommandInteractionOption): string {
  if (role) return `<@&${role.id}|${plainName(role.name)}>`;
  return user ? `<@${user.id}|${plainName(user.displayName)}>` : `<@${value}>`;
}

const plainName = (name: string): string => name.replace(/[<>|]/g, ' ').trim();

/** Returns the subcommand, whose options Discord nests, and its options. */
function withoutSubcommand(options: readonly CommandInteractionOption[]): {
  readonly subcommand?: string;
  readonly options: readonly CommandInteractionOption[];
} {
  const nested = options.find(({ type }) => type === ApplicationCommandOptionType.Subcommand);
  return nested ? { options: nested.options ?? [], subcommand: nested.name } : { options };
}

/** When Discord started to wait for a response; at most `receivedAt`. Both in milliseconds since the epoch. */
export const requestedAt = (
  { createdTimestamp }: Pick<BaseInteraction, 'createdTimestamp'>,
  receivedAt: number,
): number => Math.min(createdTimestamp, receivedAt);

/** @param receivedAt milliseconds since the epoch */
function addressOfInteraction(interaction: BaseInteraction, receivedAt: number): Address {
  const { applicationId: application, token, channel, guildId, context, appPermissions } = interaction;
  // The bot is not a member of group messages, or of guilds where it is only installed for the person.
  const isUserInstall =
    interaction.authorizingIntegrationOwners[ApplicationIntegrationType.GuildInstall] === undefined;
  const tokenOnly =
    context === InteractionContextType.PrivateChannel ||
    (isUserInstall && context !== InteractionContextType.BotDM);
  const isMember = guildId !== null && !tokenOnly;
  const thread = channel?.isThread() ? channel : undefined;
  const missing = isMember && channel ? missingToAnswer(appPermissions, thread !== undefined) : [];
  const platformData = present({
    interaction: {
      application,
      token,
      expiresAt: requestedAt(interaction, receivedAt) + DISCORD_LIMITS.interactionMs,
    },
    fileBytes: interaction.attachmentSizeLimit || DEFAULT_FILE_BYTES,
    tokenOnly: tokenOnly || undefined,
    threads: (isMember && supportsThreads(channel?.type) && mayOpenThreads(appPermissions)) || undefined,
    missing: missing.length > 0 ? missing : undefined,
  });
  return present({
    platform: 'discord',
    channel: interaction.channelId ?? '',
    channelName: (channel && 'name' in channel && channel.name) || undefined,
    parent: thread?.parentId ?? undefined,
    person: interaction.user.id,
    guild: guildId ?? undefined,
    platformData,
  });
}

/** @param moderates whether a member with these roles may manage the guild */
export function personOfMessage(
  { author, member }: IncomingMessage,
  moderates: (person: Person) => boolean,
): Person {
  const user = { id: author.id, displayName: author.global_name ?? author.username };
  const person = personOf(user, { nick: member?.nick ?? null, roles: member?.roles ?? [] }, false);
  return { ...person, moderator: moderates(person) };
}

/** @param parent the channel that the message's thread belongs to */
export const addressOfMessage = (message: IncomingMessage, parent: string | undefined): Address =>
  present({
    platform: 'discord',
    channel: message.channel_id,
    person: message.author.id,
    guild: message.guild_id,
    parent,
    platformData: present({
      replyTo: message.id,
      threads: supportsThreads(message.channel_type) || undefined,
    }),
  });

/** Adds whether everyone in the guild can read at the address. */
export function withPublicity(
  address: Address,
  { guilds }: { readonly guilds: Pick<Guilds, 'isPublic'> },
): Address {
  const isPublic = guilds.isPublic(address);
  return isPublic === undefined ? address : { ...address, public: isPublic };
}
