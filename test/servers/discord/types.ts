import type { Component } from './components.ts';
import type { Embed } from './embeds.ts';

export interface User {
  id: string;
  username: string;
  global_name: string | null;
  discriminator: string;
  avatar: null;
  bot: boolean;
}

export interface Channel {
  id: string;
  /** 0 text, 1 direct message, 2 voice, 3 group message, 11 public thread, 13 stage, 15 forum. */
  type: 0 | 1 | 2 | 3 | 11 | 12 | 13 | 15;
  name: string;
  guildId: string | null;
  parentId: string | null;
  ownerId: string | null;
  recipients: User[];
  nsfw: boolean;
  archived: boolean;
  /** Only people who can manage threads can reopen it. */
  locked: boolean;
  /** The bot's missing permissions in the channel. */
  denied: Set<Permission>;
  /** Permissions denied to everyone by an overwrite. */
  deniedToPeople: Set<Permission>;
  /** A voice channel's user limit; 0 for unlimited. */
  userLimit: number;
}

/** A person's voice channel, as in VOICE_STATE_UPDATE. */
export interface VoiceState {
  userId: string;
  guildId: string;
  channelId: string | null;
  sessionId: string;
  selfDeaf: boolean;
  /** True in the audience of a stage. */
  suppress: boolean;
  /** The time of the invitation to speak. */
  requestedAt: string | null;
}

export interface Guild {
  id: string;
  ownerId: string;
  name: string;
  /** True if the bot is a member. A user-installed app also works in other guilds. */
  installed: boolean;
  /** The boost tier, 0-3, which sets the file size limit for the bot token. */
  /** The role that Discord creates for the bot on invitation. Can be mentioned like any role. */
  botRoleId: string;
  premiumTier: 0 | 1 | 2 | 3;
  locale: string;
}

export const PERMISSION = Object.freeze({
  AddReactions: 1n << 6n,
  ViewChannel: 1n << 10n,
  SendMessages: 1n << 11n,
  EmbedLinks: 1n << 14n,
  AttachFiles: 1n << 15n,
  ReadMessageHistory: 1n << 16n,
  Connect: 1n << 20n,
  Speak: 1n << 21n,
  UseApplicationCommands: 1n << 31n,
  CreatePublicThreads: 1n << 35n,
  SendMessagesInThreads: 1n << 38n,
  SendPolls: 1n << 49n,
});
export type Permission = keyof typeof PERMISSION;

export interface Attachment {
  id: string;
  filename: string;
  title: string | null;
  description: string | null;
  contentType: string;
  bytes: Uint8Array;
  url: string;
}

export interface StoredMessage {
  id: string;
  /** 21 for the first message of a thread, which represents {@link replyTo}; otherwise derived from the other fields. */
  type?: 21;
  channelId: string;
  author: User;
  content: string;
  embeds: Embed[];
  components: Component[];
  attachments: Attachment[];
  flags: number;
  nonce: string | null;
  /** The id of the message it replies to. */
  replyTo: string | null;
  /** The forwarded message. */
  forwards?: StoredMessage;
  /** https://docs.discord.com/developers/resources/poll#poll-object */
  poll?: {
    question: string;
    answers: { text: string; votes: number }[];
    /** Absent for a poll without an end. */
    expiresAt?: number;
    /** True once the votes are counted precisely. */
    finalized?: boolean;
  };
  /** Set for responses to interactions. */
  /** Set for messages from webhooks. */
  webhookId?: string;
  interactionId: string | null;
  /** The only person who sees the message, or null if everyone in the channel does. */
  onlyFor: string | null;
  /** Users, roles and `everyone` / `here` notified by this message. */
  pinged: string[];
  createdAt: number;
  editedAt: number | null;
  /** All states of the message, oldest first, including the current one. */
  history: {
    content: string;
    embeds: Embed[];
    components: Component[];
    attachments: Attachment[];
    at: number;
  }[];
  deleted: boolean;
  /** The menu choice that each person's client still shows, until the message is edited. */
  chosen: Map<string, string>;
}
