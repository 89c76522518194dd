/** The permissions that the bot needs, and the messages about missing ones. */
import { PermissionFlagsBits, PermissionsBitField } from 'discord.js';

/** The names in Discord's settings. */
export type PermissionName = keyof typeof BITS;

const BITS = {
  'View Channel': PermissionFlagsBits.ViewChannel,
  'Send Messages': PermissionFlagsBits.SendMessages,
  'Send Messages in Threads': PermissionFlagsBits.SendMessagesInThreads,
  'Create Public Threads': PermissionFlagsBits.CreatePublicThreads,
  'Embed Links': PermissionFlagsBits.EmbedLinks,
  'Attach Files': PermissionFlagsBits.AttachFiles,
  'Read Message History': PermissionFlagsBits.ReadMessageHistory,
  'Create Polls': PermissionFlagsBits.SendPolls,
  Connect: PermissionFlagsBits.Connect,
  Speak: PermissionFlagsBits.Speak,
} as const;

type Granted = Readonly<PermissionsBitField>;

/** The permissions in the invitation. */
export const INVITED = new PermissionsBitField(Object.values(BITS)).bitfield;

const IN_CHANNEL = ['View Channel', 'Send Messages', 'Embed Links', 'Attach Files'] as const;
const IN_THREAD = ['View Channel', 'Send Messages in Threads', 'Embed Links', 'Attach Files'] as const;
const ON_STAGE = ['View Channel', 'Connect'] as const;
const IN_VOICE = [...ON_STAGE, 'Speak'] as const;
const TO_OPEN_THREADS = ['Create Public Threads', 'Send Messages in Threads'] as const;
const IN_SERVER = [
  'View Channel',
  'Send Messages',
  'Send Messages in Threads',
  'Embed Links',
  'Attach Files',
  'Connect',
  'Speak',
] as const;
const TO_SEND: ReadonlySet<PermissionName> = new Set([
  'View Channel',
  'Send Messages',
  'Send Messages in Threads',
]);

const missingOf = (granted: Granted, needed: readonly PermissionName[]): PermissionName[] =>
  needed.filter((name) => !granted.has(BITS[name]));

/** Returns the permissions missing for an answer in a channel or thread. */
export const missingToAnswer = (granted: Granted, inThread: boolean): PermissionName[] =>
  missingOf(granted, inThread ? IN_THREAD : IN_CHANNEL);

/** Returns the permissions missing for playback. On a stage, the bot does not need Speak: moderators invite it to speak. */
export const missingToPlay = (granted: Granted, onStage: boolean): PermissionName[] =>
  missingOf(granted, onStage ? ON_STAGE : IN_VOICE);

/** Returns the permissions missing in a server as a whole. */
export const missingInServer = (granted: Granted): PermissionName[] => missingOf(granted, IN_SERVER);

export const mayOpenThreads = (granted: Granted): boolean => missingOf(granted, TO_OPEN_THREADS).length === 0;

/** True if the bot cannot send any message while these are missing. */
export const preventsSending = (missing: readonly PermissionName[]): boolean =>
  missing.some((name) => TO_SEND.has(name));

/** Joins names for a sentence: `A`, `A and B`, `A, B and C`. */
export const joinNames = (names: readonly string[]): string => new Intl.ListFormat('en-GB').format(names);

const ALL = 'View Channel, Send Messages, Send Messages in Threads, Embed Links and Attach Files';
export const NOT_INVITED = `I can't access that channel. Ask a moderator to grant me ${ALL}.`;

/** Advice for the reader. `missing` is empty if Discord did not name a permission. */
export const missingPermissionAdvice = (missing: readonly string[]): string =>
  missing.length === 0
    ? `I'm missing a permission in that channel. Ask a moderator to grant me ${ALL}.`
    : `I can't answer properly in that channel. Ask a moderator to grant me ${joinNames(missing)}.`;

/** The note below a message that is shown without its card or files. */
export const missingNote = (missing: readonly string[]): string =>
  `I can't show this properly here. Ask a moderator to grant me ${joinNames(missing)}.`;
