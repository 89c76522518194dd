import { DISCORD } from './limits.ts';
import { Refusal } from './refusal.ts';
import { snowflakes } from './snowflake.ts';
import {
  type Attachment,
  type Channel,
  type Guild,
  PERMISSION,
  type Permission,
  type StoredMessage,
  type User,
  type VoiceState,
} from './types.ts';

const TIER_BYTES = [DISCORD.fileBytes, DISCORD.fileBytes, 50 * 1024 * 1024, 100 * 1024 * 1024] as const;
const EVERYTHING = Object.values(PERMISSION).reduce((all, bit) => all | bit, 0n);

/** Discord serves a copy of each image: https://docs.discord.com/developers/resources/message#embed-object-embed-image-structure */
const embedJson = (embed: StoredMessage['embeds'][number]): object =>
  embed.image ? { ...embed, image: { ...embed.image, proxy_url: embed.image.url } } : embed;

const pollJson = ({
  question,
  answers,
  expiresAt,
  finalized = false,
}: NonNullable<StoredMessage['poll']>): object => ({
  question: { text: question },
  answers: answers.map(({ text }, index) => ({ answer_id: index + 1, poll_media: { text } })),
  expiry: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
  allow_multiselect: false,
  layout_type: 1,
  results: {
    is_finalized: finalized,
    // "If `answer_counts` does not contain an entry for a particular answer, then there are no votes for that answer."
    answer_counts: answers.flatMap(({ votes: count }, index) =>
      count === 0 ? [] : [{ id: index + 1, count, me_voted: false }],
    ),
  },
});

/** The state of this Discord: people, guilds, channels, messages and files. */
export class World {
  readonly nextId: () => string;
  readonly bot: User;
  readonly users = new Map<string, User>();
  readonly guilds = new Map<string, Guild>();
  readonly channels = new Map<string, Channel>();
  readonly messages = new Map<string, StoredMessage>();
  readonly attachments = new Map<string, Attachment>();
  /** Ids of people who do not accept direct messages. */
  readonly rejectsDirectMessages = new Set<string>();
  /** By guild and person. */
  readonly voiceStates = new Map<string, VoiceState>();
  readonly now: () => number;
  readonly #baseUrl: () => string;

  constructor(now: () => number, baseUrl: () => string) {
    this.now = now;
    this.nextId = snowflakes(now);
    this.#baseUrl = baseUrl;
    this.bot = this.addUser('minstrel', { bot: true });
  }

  addUser(name: string, { bot = false } = {}): User {
    const user: User = {
      id: this.nextId(),
      username: name.toLowerCase().replace(/[^a-z0-9._]/g, '_'),
      global_name: bot ? null : name,
      discriminator: '0',
      avatar: null,
      bot,
    };
    this.users.set(user.id, user);
    return user;
  }

  addGuild(
    name: string,
    { installed = true, premiumTier = 0 as Guild['premiumTier'], locale = 'en-US' } = {},
  ): Guild {
    const [id, ownerId, botRoleId] = [this.nextId(), this.nextId(), this.nextId()];
    const guild: Guild = { id, ownerId, botRoleId, name, installed, premiumTier, locale };
    this.guilds.set(guild.id, guild);
    return guild;
  }

  addChannel(
    name: string,
    options: Partial<
      Pick<Channel, 'id' | 'type' | 'guildId' | 'parentId' | 'ownerId' | 'recipients' | 'nsfw'>
    > & {
      denied?: Permission[];
    } = {},
  ): Channel {
    const channel: Channel = {
      id: options.id ?? this.nextId(),
      name,
      type: options.type ?? 0,
      guildId: options.guildId ?? null,
      parentId: options.parentId ?? null,
      ownerId: options.ownerId ?? null,
      recipients: options.recipients ?? [],
      nsfw: options.nsfw ?? false,
      archived: false,
      locked: false,
      denied: new Set(options.denied),
      deniedToPeople: new Set(),
      userLimit: 0,
    };
    this.channels.set(channel.id, channel);
    return channel;
  }

  /** @throws Refusal 10003 */
  channel(id: string): Channel {
    const channel = this.channels.get(id);
    if (!channel) throw new Refusal('unknownChannel', `channel ${id}`);
    return channel;
  }

  /** @throws Refusal 10008 */
  message(channelId: string, id: string): StoredMessage {
    const message = this.messages.get(id);
    if (!message || message.deleted || message.channelId !== channelId)
      throw new Refusal('unknownMessage', `message ${id}`);
    return message;
  }

  messagesIn(channelId: string): StoredMessage[] {
    return [...this.messages.values()].filter(
      (message) => message.channelId === channelId && !message.deleted,
    );
  }

  /** Returns the channel's file size limit in bytes. */
  fileLimit(channel: Channel): number {
    const guild = channel.guildId === null ? undefined : this.guilds.get(channel.guildId);
    return guild ? TIER_BYTES[guild.premiumTier] : DISCORD.fileBytes;
  }

  addAttachment(
    channelId: string,
    file: {
      filename: string;
      contentType: string;
      bytes: Uint8Array;
      description?: string | null;
      title?: string | null;
    },
  ): Attachment {
    const id = this.nextId();
    // Other characters are removed, and the original name becomes the title: https://github.com/discord/discord-api-docs/pull/6945
    const filename = file.filename
      .replace(/\s+/g, '_')
      .replace(/[^\w.-]/g, '')
      .replace(/^[._-]+(?=[^.]+\.)/, '');
    const isWhole = /^\p{ASCII}*$/u.test(file.filename);
    const title = file.title ?? (isWhole ? null : file.filename.replace(/\.\w+$/, ''));
    const attachment: Attachment = {
      id,
      filename,
      title,
      description: file.description ?? null,
      contentType: file.contentType,
      // Tests often search messages as JSON, so bytes are left out.
      bytes: Object.defineProperty(file.bytes, 'toJSON', { value: () => undefined, configurable: true }),
      url: `${this.#baseUrl()}/attachments/${channelId}/${id}/${encodeURIComponent(filename)}`,
    };
    this.attachments.set(id, attachment);
    return attachment;
  }

  has(channel: Channel, permission: Permission): boolean {
    const guild = channel.guildId === null ? undefined : this.guilds.get(channel.guildId);
    if (guild && !guild.installed) return false;
    const parent = channel.parentId === null ? undefined : this.channels.get(channel.parentId);
    return !channel.denied.has(permission) && !parent?.denied.has(permission);
  }

  /** Returns the bot's permissions as bits, as in `app_permissions`. */
  permissionBits(channel: Channel): bigint {
    let bits = EVERYTHING;
    for (const [name, bit] of Object.entries(PERMISSION))
      if (!this.has(channel, name as Permission)) bits &= ~bit;
    return bits;
  }

  /** @throws Refusal 50001, 50013 */
  demand(channel: Channel, ...permissions: Permission[]): void {
    if (channel.type === 3) throw new Refusal('missingAccess', 'bots cannot be in group messages');
    if (!this.has(channel, 'ViewChannel')) throw new Refusal('missingAccess', `channel ${channel.name}`);
    for (const permission of permissions) {
      if (!this.has(channel, permission))
        throw new Refusal('missingPermissions', `${permission} in ${channel.name}`);
    }
  }

  // --- API representations -------------------------------------------------------------------------

  ownMember(): object {
    const joined = new Date(this.now()).toISOString();
    return { user: this.bot, roles: [], joined_at: joined, deaf: false, mute: false, flags: 0 };
  }

  guildJson(guild: Guild) {
    return {
      id: guild.id,
      name: guild.name,
      owner_id: guild.ownerId,
      preferred_locale: guild.locale,
      premium_tier: guild.premiumTier,
      features: [],
      emojis: [],
      stickers: [],
      roles: [
        {
          id: guild.id,
          name: '@everyone',
          permissions: EVERYTHING.toString(),
          position: 0,
          color: 0,
          hoist: false,
          managed: false,
          mentionable: false,
        },
        // https://docs.discord.com/developers/topics/permissions#role-object-role-tags-structure
        {
          id: guild.botRoleId,
          name: this.bot.username,
          permissions: '0',
          position: 1,
          color: 0,
          hoist: false,
          managed: true,
          mentionable: false,
          tags: { bot_id: this.bot.id },
        },
      ],
      channels: [...this.channels.values()]
        .filter((c) => c.guildId === guild.id && c.type !== 11)
        .map((c) => this.channelJson(c)),
      threads: [...this.channels.values()]
        .filter((c) => c.guildId === guild.id && (c.type === 11 || c.type === 12))
        .map((c) => this.channelJson(c)),
      members: [this.ownMember()],
      member_count: 1 + this.users.size,
      large: false,
      unavailable: false,
      voice_states: [...this.voiceStates.values()]
        .filter(({ guildId, channelId }) => guildId === guild.id && channelId !== null)
        .map((state) => this.voiceStateJson(state)),
      presences: [],
      stage_instances: [],
      guild_scheduled_events: [],
      soundboard_sounds: [],
      joined_at: new Date(this.now()).toISOString(),
      verification_level: 0,
      default_message_notifications: 0,
      explicit_content_filter: 0,
      nsfw_level: 0,
      mfa_level: 0,
      premium_progress_bar_enabled: false,
      system_channel_flags: 0,
      afk_timeout: 300,
    };
  }

  voiceStateJson({
    userId,
    guildId,
    channelId,
    sessionId,
    selfDeaf,
    suppress,
    requestedAt,
  }: VoiceState): object {
    return {
      guild_id: guildId,
      channel_id: channelId,
      user_id: userId,
      session_id: sessionId,
      deaf: false,
      mute: false,
      self_deaf: selfDeaf,
      self_mute: false,
      self_video: false,
      suppress,
      request_to_speak_timestamp: requestedAt,
    };
  }

  channelJson(channel: Channel): object {
    const bitsOf = (names: ReadonlySet<Permission>) =>
      [...names].reduce((bits, name) => bits | PERMISSION[name], 0n);
    const overwrites = [
      { id: this.bot.id, type: 1, deny: bitsOf(channel.denied) },
      { id: channel.guildId, type: 0, deny: bitsOf(channel.deniedToPeople) },
    ];
    return {
      id: channel.id,
      type: channel.type,
      ...(channel.type === 1 || channel.type === 3
        ? { recipients: channel.recipients }
        : { name: channel.name, guild_id: channel.guildId, nsfw: channel.nsfw, position: 0 }),
      ...(channel.parentId === null ? {} : { parent_id: channel.parentId }),
      ...(channel.type === 2 || channel.type === 13
        ? { bitrate: 64_000, user_limit: channel.userLimit, rtc_region: null }
        : {}),
      ...(channel.type === 11 || channel.type === 12
        ? {
            owner_id: channel.ownerId,
            message_count: 0,
            member_count: 2,
            thread_metadata: {
              archived: channel.archived,
              locked: channel.locked,
              auto_archive_duration: 1440,
              archive_timestamp: new Date(this.now()).toISOString(),
            },
          }
        : {
            permission_overwrites: overwrites
              .filter(({ deny }) => deny !== 0n)
              .map((overwrite) => ({ ...overwrite, allow: '0', deny: overwrite.deny.toString() })),
          }),
      last_message_id: null,
    };
  }

  attachmentJson(attachment: Attachment): object {
    return {
      id: attachment.id,
      filename: attachment.filename,
      size: attachment.bytes.length,
      url: attachment.url,
      proxy_url: attachment.url,
      content_type: attachment.contentType,
      ...(attachment.title === null ? {} : { title: attachment.title }),
      ...(attachment.description === null ? {} : { description: attachment.description }),
    };
  }

  /** A forward names its source and carries a snapshot without its author. https://docs.discord.com/developers/resources/message#message-snapshot-object */
  #forwardJson({ forwards }: StoredMessage, visible: boolean): object {
    if (!forwards) return {};
    const { channelId, id } = forwards;
    return {
      message_reference: { type: 1, message_id: id, channel_id: channelId },
      message_snapshots: [
        {
          message: {
            type: 0,
            content: visible ? forwards.content : '',
            embeds: visible ? forwards.embeds.map(embedJson) : [],
            attachments: visible ? forwards.attachments.map((a) => this.attachmentJson(a)) : [],
            components: visible ? forwards.components : [],
            mentions: [],
            mention_roles: [],
            timestamp: new Date(forwards.createdAt).toISOString(),
            edited_timestamp: null,
            flags: forwards.flags,
          },
        },
      ],
    };
  }

  messageJson(message: StoredMessage, { viewer = '', content = true, nested = false } = {}): object {
    const channel = this.channel(message.channelId);
    const replied = message.replyTo === null ? undefined : this.messages.get(message.replyTo);
    const mentions = [...message.content.matchAll(/<@!?(\d+)>/g)].flatMap(
      (match) => this.users.get(match[1] ?? '') ?? [],
    );
    const visible =
      content ||
      message.author.id === this.bot.id ||
      mentions.some((user) => user.id === this.bot.id) ||
      channel.guildId === null ||
      viewer !== '';
    return {
      id: message.id,
      channel_id: message.channelId,
      type: message.type ?? (message.interactionId === null ? (replied ? 19 : 0) : 20),
      author: message.author,
      // https://docs.discord.com/developers/resources/message#message-interaction-metadata-object
      ...(message.interactionId === null
        ? {}
        : {
            interaction_metadata: {
              id: message.interactionId,
              type: 2,
              user: this.users.values().find(({ bot }) => !bot),
              authorizing_integration_owners: {},
            },
          }),
      content: visible ? message.content : '',
      timestamp: new Date(message.createdAt).toISOString(),
      edited_timestamp: message.editedAt === null ? null : new Date(message.editedAt).toISOString(),
      tts: false,
      mention_everyone: message.pinged.includes('everyone'),
      mentions,
      // https://docs.discord.com/developers/resources/message#message-object
      mention_roles: [...message.content.matchAll(/<@&(\d+)>/g)].map(([, id]) => id),
      attachments: visible ? message.attachments.map((a) => this.attachmentJson(a)) : [],
      embeds: visible ? message.embeds.map(embedJson) : [],
      components: visible ? message.components : [],
      ...(visible && message.poll ? { poll: pollJson(message.poll) } : {}),
      ...this.#forwardJson(message, visible),
      flags: message.flags,
      pinned: false,
      ...(message.webhookId === undefined ? {} : { webhook_id: message.webhookId }),
      ...(message.nonce === null ? {} : { nonce: message.nonce }),
      ...(message.replyTo === null
        ? {}
        : {
            message_reference: {
              type: 0,
              message_id: message.replyTo,
              channel_id: replied?.channelId ?? message.channelId,
              ...(channel.guildId === null ? {} : { guild_id: channel.guildId }),
            },
            // A nested referenced message contains no further one.
            ...(nested
              ? {}
              : {
                  referenced_message:
                    replied && !replied.deleted
                      ? this.messageJson(replied, { viewer, content, nested: true })
                      : null,
                }),
          }),
    };
  }
}
