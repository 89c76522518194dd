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
  /** Only those who may manage threads open it again. */
  locked: boolean;
  /** Permission names that the bot lacks here; everything else it has. */
  denied: Set<Permission>;
  /** Permission names that people lack here, by an overwrite for everyone. */
  deniedToPeople: Set<Permission>;
  /** Of a voice channel: so many people fit, 0 for any number. */
  userLimit: number;
}

/** Who is in which voice channel, as VOICE_STATE_UPDATE tells it. */
export interface VoiceState {
  userId: string;
  guildId: string;
  channelId: string | null;
  sessionId: string;
  selfDeaf: boolean;
  /** In the audience of a stage. */
  suppress: boolean;
  /** When somebody invited them to speak. */
  requestedAt: string | null;
}

export interface Guild {
  id: string;
  ownerId: string;
  name: string;
  /** Whether the bot is a member. A user-installed app is used in guilds where it is not. */
  installed: boolean;
  /** 0-3; decides the size of files that may be uploaded with the bot token. */
  /** Made by Discord for the bot when it was invited, and mentionable like any role. */
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
  /** 21 for the first message of a thread, which represents the one in {@link replyTo}; otherwise told by the rest. */
  type?: 21;
  channelId: string;
  author: User;
  content: string;
  embeds: Embed[];
  components: Component[];
  attachments: Attachment[];
  flags: number;
  nonce: string | null;
  /** Id of the message that this one replies to. */
  replyTo: string | null;
  /** The message that this one forwards. */
  forwards?: StoredMessage;
  /** https://docs.discord.com/developers/resources/poll#poll-object */
  poll?: { question: string; answers: { text: string; votes: number }[] };
  /** Set for answers to interactions. */
  /** Of a message that came by a webhook. */
  webhookId?: string;
  interactionId: string | null;
  /** The only person who sees the message, or null when everyone in the channel does. */
  onlyFor: string | null;
  /** Users, roles and `everyone` / `here` that were notified by posting this message. */
  pinged: string[];
  createdAt: number;
  editedAt: number | null;
  /** Every state the message has had, oldest first, the present one last. */
  history: { content: string; embeds: Embed[]; components: Component[]; at: number }[];
  deleted: boolean;
  /** What each person's client still shows as chosen from a menu, until the message is edited. */
  chosen: Map<string, string>;
}
