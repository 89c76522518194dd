import type { CommandOption, RegisteredCommand } from './commands.ts';
import type { InteractionRecord } from './interactions.ts';
import {
  type Attachment,
  type Channel,
  PERMISSION,
  type Permission,
  type StoredMessage,
  type User,
} from './types.ts';
import type { World } from './world.ts';

const MANAGE_GUILD = 1n << 5n;

/** A file attached by a person. */
export interface PersonFile {
  filename: string;
  contentType: string;
  bytes: Uint8Array;
}

export type OptionInput = string | number | boolean | PersonFile;

const isFile = (value: unknown): value is PersonFile =>
  typeof value === 'object' && value !== null && 'bytes' in value;

interface Resolved {
  attachments: Record<string, object>;
  users: Record<string, User>;
}

/**
 * Builds `data.options` like Discord's client. Throws if the client would not send it, which is a mistake in the test.
 */
export function writeOptions(
  world: World,
  channel: Channel,
  declared: readonly CommandOption[],
  given: Record<string, OptionInput>,
  { focused = null as string | null } = {},
): { options: object[]; resolved: Resolved } {
  const resolved: Resolved = { attachments: {}, users: {} };
  for (const name of Object.keys(given)) {
    if (!declared.some((option) => option.name === name))
      throw new Error(`Unknown option ${name}: Discord would not offer it`);
  }
  const options = declared.flatMap((option) => {
    const value = given[option.name];
    if (value === undefined) {
      if (option.required && focused === null)
        throw new Error(`Option ${option.name} is required: Discord would not send the command`);
      return [];
    }
    const result = {
      name: option.name,
      type: option.type,
      value: writeValue(world, channel, option, value, resolved, focused !== null),
    };
    return [option.name === focused ? { ...result, focused: true } : result];
  });
  return { options, resolved };
}

function writeValue(
  world: World,
  channel: Channel,
  option: CommandOption,
  value: OptionInput,
  resolved: Resolved,
  partial: boolean,
): string | number | boolean {
  const invalid = (why: string) =>
    new Error(`Option ${option.name}: ${why}: Discord would not send the command`);
  switch (option.type) {
    case 3:
      if (typeof value !== 'string') throw invalid('not text');
      if (option.choices?.length && !option.choices.some((c) => c.value === value))
        throw invalid(`${value} is not a choice`);
      if (!partial && value.length > (option.max_length ?? 6_000))
        throw invalid(`over ${option.max_length ?? 6_000} characters`);
      if (!partial && value.length < (option.min_length ?? 0))
        throw invalid(`under ${option.min_length} characters`);
      return value;
    case 4:
    case 10:
      if (typeof value !== 'number') throw invalid('not a number');
      if (option.type === 4 && !Number.isInteger(value)) throw invalid('not an integer');
      if (value < (option.min_value ?? -Infinity) || value > (option.max_value ?? Infinity))
        throw invalid('out of range');
      return value;
    case 5:
      if (typeof value !== 'boolean') throw invalid('not a flag');
      return value;
    case 9: {
      const user = typeof value === 'string' && world.users.get(value);
      if (!user) throw invalid('not a person');
      resolved.users[user.id] = user;
      return user.id;
    }
    case 11: {
      if (!isFile(value)) throw invalid('not a file');
      const attachment = world.addAttachment(channel.id, value);
      resolved.attachments[attachment.id] = world.attachmentJson(attachment);
      return attachment.id;
    }
    default:
      throw invalid(`type ${option.type} is not supported by this server`);
  }
}

export interface Requester {
  user: User;
  channel: Channel;
  moderator: boolean;
  locale: string;
  lacks: Permission[];
}

/** Builds the fields common to all interactions. */
export function interactionJson(
  world: World,
  record: InteractionRecord,
  asker: Requester,
  type: number,
  data: object,
  message?: StoredMessage,
): object {
  const { channel, user } = asker;
  const guild = channel.guildId === null ? undefined : world.guilds.get(channel.guildId);
  const permissions = (Object.keys(PERMISSION) as Permission[])
    .filter((name) => !asker.lacks.includes(name))
    .reduce((all, name) => all | PERMISSION[name], asker.moderator ? MANAGE_GUILD : 0n);
  const member = {
    user,
    roles: [],
    permissions: permissions.toString(),
    joined_at: new Date(record.createdAt).toISOString(),
    deaf: false,
    mute: false,
    flags: 0,
    nick: null,
  };
  return {
    id: record.id,
    application_id: world.bot.id,
    type,
    token: record.token,
    version: 1,
    data,
    channel_id: channel.id,
    channel: { ...world.channelJson(channel), permissions: permissions.toString() },
    ...(guild
      ? {
          guild_id: guild.id,
          guild: { id: guild.id, locale: guild.locale, features: [] },
          guild_locale: guild.locale,
          member,
        }
      : { user }),
    ...(message ? { message: world.messageJson(message, { viewer: user.id }) } : {}),
    locale: asker.locale,
    app_permissions: world.permissionBits(channel).toString(),
    entitlements: [],
    authorizing_integration_owners: record.userInstallOnly ? { 1: user.id } : { 0: guild?.id ?? '0' },
    context: guild ? 0 : channel.type === 1 && !record.userInstallOnly ? 1 : 2,
    attachment_size_limit: record.fileLimit,
  };
}

export function commandData(command: RegisteredCommand, options: object[], resolved: Resolved): object {
  return {
    id: command.id,
    name: command.name,
    type: command.type,
    ...(options.length > 0 ? { options } : {}),
    ...(Object.values(resolved).some((found) => Object.keys(found).length > 0) ? { resolved } : {}),
  };
}

export const messageMenuData = (
  world: World,
  command: RegisteredCommand,
  message: StoredMessage,
): object => ({
  id: command.id,
  name: command.name,
  type: 3,
  target_id: message.id,
  resolved: { messages: { [message.id]: world.messageJson(message, { viewer: 'menu' }) } },
});

export const attachmentsOf = (world: World, channel: Channel, files: readonly PersonFile[]): Attachment[] =>
  files.map((file) => world.addAttachment(channel.id, file));
