import type { Address, Invocation, OptionValue, Person, RawOptions, SuggestRequest } from '../../command.ts';
import { parseActionId } from '../../message.ts';
import { isThread } from './channel-types.ts';
import {
  type CommandInteraction,
  fileReferenceOf,
  type IncomingMember,
  type IncomingOption,
  type IncomingUser,
  type Interaction,
} from './interaction.ts';
import { formOptions, OPEN_FORM } from './modal.ts';
import { placeOfInteraction } from './place.ts';

const ADMINISTRATOR = 1n << 3n;
const MANAGE_GUILD = 1n << 5n;
const SUBCOMMAND_TYPES: ReadonlySet<number> = new Set([1, 2]);
const MENTION_TYPE = 9;
const ATTACHMENT_TYPE = 11;
const BOT_DIRECT_MESSAGE = 1;
const PRIVATE_CHANNEL = 2;

/** What a person asked by a command, a button or a form; undefined for what this bot never made. */
export function invocationOf(
  interaction: Exclude<Interaction, { type: 4 }>,
  receivedAt: number,
): Invocation | undefined {
  const who = askerOf(interaction);
  if (!who) return undefined;
  const { id, locale } = interaction;
  const common = {
    id,
    person: personOf(who, interaction.member),
    address: addressOf(interaction, who, receivedAt),
    ...(locale === undefined ? {} : { locale }),
  };
  switch (interaction.type) {
    case 2: {
      const { subcommand, options } = commandOptions(interaction);
      return {
        ...common,
        command: interaction.data.name,
        ...(subcommand === undefined ? {} : { subcommand }),
        options,
      };
    }
    case 3: {
      const [, opened] = OPEN_FORM.exec(interaction.data.custom_id) ?? [];
      if (opened !== undefined) return { ...common, ...formTarget(opened), options: {} };
      return withAction(common, interaction.data.custom_id, {});
    }
    case 5: {
      const options = formOptions(interaction);
      const sent = withAction(common, interaction.data.custom_id, options);
      return (
        (sent?.action && { ...sent, action: { ...sent.action, sent: true } }) ?? {
          ...common,
          ...formTarget(interaction.data.custom_id),
          options,
        }
      );
    }
    default:
      return interaction satisfies never;
  }
}

/** A form's id is a command, or a command and its part. */
function formTarget(id: string): Pick<Invocation, 'command' | 'subcommand'> {
  const [command = id, subcommand] = id.split(' ');
  return { command, ...(subcommand === undefined ? {} : { subcommand }) };
}

function withAction(
  common: Omit<Invocation, 'command' | 'options'>,
  id: string,
  options: RawOptions,
): Invocation | undefined {
  const action = parseActionId(id);
  if (!action) return undefined;
  return {
    ...common,
    command: action.command,
    action: { name: action.action, job: action.job, index: action.index },
    options,
  };
}

/** What somebody types into an option that completes. */
export function suggestRequestOf(
  interaction: CommandInteraction,
  receivedAt: number,
): SuggestRequest | undefined {
  const who = askerOf(interaction);
  const { subcommand, row } = flatten(interaction.data.options);
  const focused = row.find((option) => option.focused);
  if (!who || !focused) return undefined;
  return {
    command: interaction.data.name,
    ...(subcommand === undefined ? {} : { subcommand }),
    option: focused.name,
    typed: String(focused.value ?? ''),
    address: addressOf(interaction, who, receivedAt),
    person: personOf(who, interaction.member),
  };
}

const askerOf = (interaction: Interaction): IncomingUser | undefined =>
  interaction.member?.user ?? interaction.user;

/** @param member who they are in the guild; nobody moderates a direct message */
export function personOf(user: IncomingUser, member: IncomingMember | undefined): Person {
  const permissions = BigInt(/^\d+$/.test(member?.permissions ?? '') ? (member?.permissions ?? '0') : '0');
  return {
    id: user.id,
    displayName: member?.nick || user.global_name || user.username,
    moderator: (permissions & (ADMINISTRATOR | MANAGE_GUILD)) !== 0n,
    roles: member?.roles ?? [],
  };
}

function addressOf(interaction: Interaction, who: IncomingUser, receivedAt: number): Address {
  const owners = interaction.authorizing_integration_owners;
  // No bot is a member of a group message, and none of a guild in which only the person installed it.
  const onlyForPerson = owners !== undefined && !('0' in owners);
  const tokenOnly =
    interaction.context === PRIVATE_CHANNEL || (onlyForPerson && interaction.context !== BOT_DIRECT_MESSAGE);
  return {
    platform: 'discord',
    channel: interaction.channel_id,
    ...parentOf(interaction.channel),
    person: who.id,
    ...(interaction.guild_id === undefined ? {} : { guild: interaction.guild_id }),
    // Erasing undefined makes it JSON, which the type of platformData asks for.
    platformData: JSON.parse(JSON.stringify(placeOfInteraction(interaction, tokenOnly, receivedAt))),
  };
}

function parentOf(channel: Interaction['channel']): { parent?: string } {
  const parent = channel && isThread(channel.type) ? channel.parent_id : undefined;
  return parent ? { parent } : {};
}

function commandOptions(interaction: CommandInteraction): {
  subcommand: string | undefined;
  options: RawOptions;
} {
  const { subcommand, row } = flatten(interaction.data.options);
  const options: Record<string, OptionValue> = {};
  for (const { name, type, value } of row) {
    const file =
      type === ATTACHMENT_TYPE ? interaction.data.resolved?.attachments?.[String(value)] : undefined;
    if (file) options[name] = fileReferenceOf(file);
    else if (type === MENTION_TYPE) options[name] = mentionOf(String(value), interaction.data.resolved);
    else if (value !== undefined && type !== ATTACHMENT_TYPE) options[name] = value;
  }
  return { subcommand, options };
}

/** As `<@id|name>`, and a role as `<@&id|name>`. */
function mentionOf(id: string, resolved: CommandInteraction['data']['resolved']): string {
  const role = resolved?.roles?.[id];
  if (role) return `<@&${id}|${plainName(role.name)}>`;
  const user = resolved?.users?.[id];
  return user ? `<@${id}|${plainName(user.global_name || user.username)}>` : `<@${id}>`;
}

const plainName = (name: string): string => name.replace(/[<>|]/g, ' ').trim();

function flatten(options: readonly IncomingOption[]): {
  subcommand: string | undefined;
  row: readonly IncomingOption[];
} {
  const path: string[] = [];
  let row = options;
  for (;;) {
    const nested = row.find((option) => SUBCOMMAND_TYPES.has(option.type));
    if (!nested) return { subcommand: path.length > 0 ? path.join(' ') : undefined, row };
    path.push(nested.name);
    row = nested.options ?? [];
  }
}
