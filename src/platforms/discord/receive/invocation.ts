/** Interactions of Discord as invocations, with the address that their results go to. */
import { ApplicationCommandOptionType, InteractionContextType, SnowflakeUtil } from 'discord.js';
import { z } from 'zod';
import type { Address, Invocation, Person, SuggestRequest } from '../../../core/invocation.ts';
import type { OptionValue } from '../../../core/options.ts';
import { buttonTarget, formTarget } from '../../shared/target.ts';
import { type Guilds, isThread, takesThreads } from '../connection/guilds.ts';
import { isModerator, mayOpenThreads, missingToAnswer } from '../errors.ts';
import { DEFAULT_FILE_BYTES, DISCORD_LIMITS } from '../limits.ts';
import type {
  CommandInteraction,
  IncomingMember,
  IncomingMessage,
  IncomingOption,
  IncomingUser,
  Interaction,
} from './interaction.ts';
import { OPEN_FORM, optionsOfForm } from './modal.ts';

const SUBCOMMAND_TYPES: ReadonlySet<number> = new Set([
  ApplicationCommandOptionType.Subcommand,
  ApplicationCommandOptionType.SubcommandGroup,
]);

type Asking = Pick<Invocation, 'id' | 'person' | 'address'>;

/** Who asks, and where; undefined where Discord does not tell who. */
export function askingOf(interaction: Interaction, receivedAt: number): Asking | undefined {
  const who = askerOf(interaction);
  if (!who) return undefined;
  return {
    id: interaction.id,
    person: personOf(who, interaction.member),
    address: addressOfInteraction(interaction, who.id, receivedAt),
  };
}

/** What a person asked by a command, a button or a form; undefined for a button or form that this bot never made. */
export function invocationOf(
  interaction: Exclude<Interaction, { type: 4 }>,
  receivedAt: number,
): Invocation | undefined {
  const common = askingOf(interaction, receivedAt);
  if (!common) return undefined;
  switch (interaction.type) {
    case 2:
      return { ...common, command: interaction.data.name, ...commandOptions(interaction) };
    case 3: {
      const { custom_id: pressed } = interaction.data;
      const [, opened] = OPEN_FORM.exec(pressed) ?? [];
      const target = opened === undefined ? buttonTarget(pressed) : formTarget(opened);
      return target && { ...common, ...target, options: {} };
    }
    case 5:
      return { ...common, ...formTarget(interaction.data.custom_id), options: optionsOfForm(interaction) };
    default:
      return interaction satisfies never;
  }
}

/** What a person types into an option that completes. */
export function suggestRequestOf(
  interaction: CommandInteraction,
  receivedAt: number,
): SuggestRequest | undefined {
  const who = askerOf(interaction);
  const { options: sent } = withoutSubcommand(interaction.data.options);
  const focused = sent.find((option) => option.focused);
  if (!who || !focused) return undefined;
  const { subcommand, options } = commandOptions(interaction);
  const { [focused.name]: _unfinished, ...others } = options;
  return {
    command: interaction.data.name,
    ...(subcommand === undefined ? {} : { subcommand }),
    options: others,
    option: focused.name,
    typed: String(focused.value ?? ''),
    address: addressOfInteraction(interaction, who.id, receivedAt),
    person: personOf(who, interaction.member),
  };
}

const askerOf = (interaction: Interaction): IncomingUser | undefined =>
  interaction.member?.user ?? interaction.user;

/** @param member who they are in the guild; a direct message has no moderators */
export function personOf(user: IncomingUser, member: IncomingMember | undefined): Person {
  return {
    id: user.id,
    displayName: member?.nick || user.global_name || user.username,
    moderator: isModerator(member?.permissions),
    roles: member?.roles ?? [],
  };
}

function commandOptions({
  data,
  guild_id: guild,
}: CommandInteraction): Pick<Invocation, 'subcommand' | 'options'> {
  const { options: sent, ...subcommand } = withoutSubcommand(data.options);
  const options: Record<string, OptionValue> = {};
  for (const { name, type, value } of sent) {
    if (type === ApplicationCommandOptionType.Attachment) {
      const file = data.resolved?.attachments?.[String(value)];
      if (file) options[name] = file;
    } else if (type === ApplicationCommandOptionType.Mentionable) {
      // The role of everyone has the guild's own id.
      options[name] = String(value) === guild ? '@everyone' : mentionOf(String(value), data.resolved);
    } else if (value !== undefined) options[name] = value;
  }
  return { ...subcommand, options };
}

/** As `<@id|name>`, and a role as `<@&id|name>`. */
function mentionOf(id: string, resolved: CommandInteraction['data']['resolved']): string {
  const role = resolved?.roles?.[id];
  if (role) return `<@&${id}|${plainName(role.name)}>`;
  const user = resolved?.users?.[id];
  return user ? `<@${id}|${plainName(user.global_name || user.username)}>` : `<@${id}>`;
}

const plainName = (name: string): string => name.replace(/[<>|]/g, ' ').trim();

/** Discord nests the options of a subcommand. */
function withoutSubcommand(options: readonly IncomingOption[]): {
  readonly subcommand?: string;
  readonly options: readonly IncomingOption[];
} {
  const nested = options.find((option) => SUBCOMMAND_TYPES.has(option.type));
  if (!nested) return { options };
  const inner = withoutSubcommand(nested.options ?? []);
  const path = [nested.name, inner.subcommand].filter((name) => name !== undefined);
  return { options: inner.options, subcommand: path.join(' ') };
}

/** What this platform keeps in {@link Address.platformData}. It is stored: names and meanings must stay. */
const addressDataSchema = z.object({
  /** Expires in milliseconds since the epoch. */
  interaction: z.object({ application: z.string(), token: z.string(), expiresAt: z.number() }).optional(),
  /** The largest file in bytes, as the interaction told. */
  fileBytes: z.number().optional(),
  /** The bot is no member here: only the interaction's token reaches the channel. */
  tokenOnly: z.boolean().optional(),
  /** The interaction has another answer already: this is a further message in its channel. */
  beside: z.boolean().optional(),
  /** A message here may have a thread of its own, which the bot may open. */
  threads: z.boolean().optional(),
  /** Permissions that the bot did not have here when it was asked. */
  lacks: z.array(z.string()).optional(),
  /** The message that is answered, for invocations that came by a mention. */
  replyTo: z.string().optional(),
});
export type AddressData = z.infer<typeof addressDataSchema>;

export const addressDataOf = (address: Address): AddressData =>
  addressDataSchema.safeParse(address.platformData ?? {}).data ?? {};

export type LiveToken = NonNullable<AddressData['interaction']>;

/** Requests that were sent must arrive before Discord closes the token. */
const MARGIN_MS = 20_000;

/** The interaction's token, unless it has expired or is about to. */
export function liveToken({ interaction }: AddressData, now: number): LiveToken | undefined {
  return interaction && now < interaction.expiresAt - MARGIN_MS ? interaction : undefined;
}

/** Which post has filled the first response of an interaction: there is one response, and perhaps several posts. */
export class FirstResponses {
  readonly #filledBy = new Map<string, { readonly key: string; readonly expiresAt: number }>();

  /** Whether `key` may fill it. After a restart every key may, because what filled it is forgotten. */
  isFree({ token }: LiveToken, key: string): boolean {
    const filled = this.#filledBy.get(token);
    return filled === undefined || filled.key === key;
  }

  fill({ token, expiresAt }: LiveToken, key: string, now: number): void {
    for (const [old, { expiresAt: end }] of this.#filledBy) {
      // The oldest comes first, so the first live one ends the search.
      if (end > now) break;
      this.#filledBy.delete(old);
    }
    this.#filledBy.set(token, { key, expiresAt });
  }
}

/** See Platform.sameChannel: neither the answer to the interaction nor a reply to the message. */
export function sameChannel(address: Address): Address {
  const { replyTo: _, ...data } = address.platformData ?? {};
  return { ...address, platformData: { ...data, beside: true } };
}

/** When Discord began to wait for an answer; no later than `receivedAt`. Both in milliseconds since the epoch. */
export const askedAt = ({ id }: Pick<Interaction, 'id'>, receivedAt: number): number =>
  Math.min(SnowflakeUtil.timestampFrom(id), receivedAt);

/** @param receivedAt milliseconds since the epoch */
function addressOfInteraction(interaction: Interaction, person: string, receivedAt: number): Address {
  const { application_id: application, token, channel, guild_id: guild, context } = interaction;
  const { app_permissions: granted, authorizing_integration_owners: owners } = interaction;
  // The bot is no member of a group message, nor of a guild in which only the person installed it.
  const onlyForPerson = owners !== undefined && !('0' in owners);
  const tokenOnly =
    context === InteractionContextType.PrivateChannel ||
    (onlyForPerson && context !== InteractionContextType.BotDM);
  const isMember = guild !== undefined && !tokenOnly;
  const missing = isMember && channel ? missingToAnswer(granted, isThread(channel.type)) : [];
  const threads = isMember && takesThreads(channel?.type) && mayOpenThreads(granted);
  const expiresAt = askedAt(interaction, receivedAt) + DISCORD_LIMITS.interactionMs;
  const parent = channel && isThread(channel.type) ? channel.parent_id : undefined;
  return {
    platform: 'discord',
    channel: interaction.channel_id,
    ...(channel?.name ? { channelName: channel.name } : {}),
    ...(parent ? { parent } : {}),
    person,
    ...(guild === undefined ? {} : { guild }),
    platformData: {
      interaction: { application, token, expiresAt },
      fileBytes: interaction.attachment_size_limit ?? DEFAULT_FILE_BYTES,
      ...(tokenOnly ? { tokenOnly } : {}),
      ...(threads ? { threads } : {}),
      ...(missing.length > 0 ? { lacks: missing } : {}),
    },
  };
}

/** @param parent the channel that the message's thread belongs to */
export const addressOfMessage = (message: IncomingMessage, parent: string | undefined): Address => ({
  platform: 'discord',
  channel: message.channel_id,
  person: message.author.id,
  ...(message.guild_id === undefined ? {} : { guild: message.guild_id }),
  ...(parent === undefined ? {} : { parent }),
  platformData: {
    replyTo: message.id,
    ...(takesThreads(message.channel_type) ? { threads: true } : {}),
  },
});

/** The address with whether everybody in its guild can read there. */
export function withPublicity(
  address: Address,
  { guilds }: { readonly guilds: Pick<Guilds, 'isPublic'> },
): Address {
  const isPublic = guilds.isPublic(address);
  return isPublic === undefined ? address : { ...address, public: isPublic };
}
