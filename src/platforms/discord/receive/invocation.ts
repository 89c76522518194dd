/** Interactions and messages of discord.js as invocations, with the address that their results go to. */
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
import { type Guilds, takesThreads } from '../connection/guilds.ts';
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

type Asking = Pick<Invocation, 'id' | 'person' | 'address'>;

/** Who asks, and where. */
export const askingOf = (interaction: BaseInteraction, receivedAt: number): Asking => ({
  id: interaction.id,
  person: personOf(
    interaction.user,
    interaction.member,
    interaction.memberPermissions?.has(PermissionFlagsBits.ManageGuild) ?? false,
  ),
  address: addressOfInteraction(interaction, receivedAt),
});

/** What a person asked by a command, a button or a form; undefined for a button or form that this bot never made. */
export function invocationOf(interaction: Answerable, receivedAt: number): Invocation | undefined {
  const common = askingOf(interaction, receivedAt);
  if (interaction.isModalSubmit())
    return {
      ...common,
      ...formTarget(readFormId(interaction.customId).form),
      options: optionsOfForm(interaction.fields.fields),
    };
  if (interaction.isMessageComponent()) {
    // What is chosen from a menu counts as a button of that id.
    const [chosen = interaction.customId] = interaction.isStringSelectMenu() ? interaction.values : [];
    const [, opened] = OPEN_FORM.exec(chosen) ?? [];
    const target = opened === undefined ? buttonTarget(chosen) : formTarget(opened);
    return target && { ...common, ...target, options: {} };
  }
  const { commandName: command, options, guildId } = interaction;
  return { ...common, command, ...commandOptions(options.data, guildId) };
}

/** What a person types into an option that completes. */
export function suggestRequestOf(
  interaction: AutocompleteInteraction,
  receivedAt: number,
): SuggestRequest | undefined {
  const { data } = interaction.options;
  const focused = withoutSubcommand(data).options.find((option) => option.focused);
  if (!focused) return undefined;
  const { id: _, ...asking } = askingOf(interaction, receivedAt);
  const { options, ...target } = commandOptions(data, interaction.guildId);
  const { [focused.name]: _unfinished, ...others } = options;
  return {
    ...asking,
    ...target,
    command: interaction.commandName,
    options: others,
    option: focused.name,
    typed: String(focused.value ?? ''),
  };
}

/** @param member who they are in the guild; as Discord sent it where the bot is no member */
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

/** @param data as Discord nests them */
export function commandOptions(
  data: readonly CommandInteractionOption[],
  guild: string | null,
): Pick<Invocation, 'subcommand'> & { readonly options: Record<string, OptionValue> } {
  const { options: given, ...subcommand } = withoutSubcommand(data);
  const options: Record<string, OptionValue> = {};
  for (const option of given) {
    const { name, type, value, attachment } = option;
    if (type === ApplicationCommandOptionType.Attachment) {
      if (attachment) options[name] = fileOf(attachment);
    } else if (type === ApplicationCommandOptionType.Mentionable) {
      // The role of everyone has the guild's own id.
      options[name] = value === guild ? '@everyone' : mentionOf(option);
    } else if (value !== undefined) options[name] = value;
  }
  return { ...subcommand, options };
}

/** As `<@id|name>`, and a role as `<@&id|name>`. */
function mentionOf({ value, role, user }: CommandInteractionOption): string {
  if (role) return `<@&${role.id}|${plainName(role.name)}>`;
  return user ? `<@${user.id}|${plainName(user.displayName)}>` : `<@${value}>`;
}

const plainName = (name: string): string => name.replace(/[<>|]/g, ' ').trim();

/** Discord nests the options of a subcommand. */
function withoutSubcommand(options: readonly CommandInteractionOption[]): {
  readonly subcommand?: string;
  readonly options: readonly CommandInteractionOption[];
} {
  const nested = options.find(({ type }) => type === ApplicationCommandOptionType.Subcommand);
  return nested ? { options: nested.options ?? [], subcommand: nested.name } : { options };
}

/** When Discord began to wait for an answer; no later than `receivedAt`. Both in milliseconds since the epoch. */
export const askedAt = (
  { createdTimestamp }: Pick<BaseInteraction, 'createdTimestamp'>,
  receivedAt: number,
): number => Math.min(createdTimestamp, receivedAt);

/** @param receivedAt milliseconds since the epoch */
function addressOfInteraction(interaction: BaseInteraction, receivedAt: number): Address {
  const { applicationId: application, token, channel, guildId, context, appPermissions } = interaction;
  // The bot is no member of a group message, nor of a guild in which only the person installed it.
  const onlyForPerson =
    interaction.authorizingIntegrationOwners[ApplicationIntegrationType.GuildInstall] === undefined;
  const tokenOnly =
    context === InteractionContextType.PrivateChannel ||
    (onlyForPerson && context !== InteractionContextType.BotDM);
  const isMember = guildId !== null && !tokenOnly;
  const thread = channel?.isThread() ? channel : undefined;
  const lacks = isMember && channel ? missingToAnswer(appPermissions, thread !== undefined) : [];
  const platformData = present({
    interaction: {
      application,
      token,
      expiresAt: askedAt(interaction, receivedAt) + DISCORD_LIMITS.interactionMs,
    },
    fileBytes: interaction.attachmentSizeLimit || DEFAULT_FILE_BYTES,
    tokenOnly: tokenOnly || undefined,
    threads: (isMember && takesThreads(channel?.type) && mayOpenThreads(appPermissions)) || undefined,
    lacks: lacks.length > 0 ? lacks : undefined,
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
      threads: takesThreads(message.channel_type) || undefined,
    }),
  });

/** The address with whether everybody in its guild can read there. */
export function withPublicity(
  address: Address,
  { guilds }: { readonly guilds: Pick<Guilds, 'isPublic'> },
): Address {
  const isPublic = guilds.isPublic(address);
  return isPublic === undefined ? address : { ...address, public: isPublic };
}
