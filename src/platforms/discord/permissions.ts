/** The permissions that the bot needs, and what is said where one is missing. */
import { PermissionFlagsBits, PermissionsBitField } from 'discord.js';

/** Named as Discord's own settings name them. */
export type PermissionName = keyof typeof BITS;

const BITS = {
  'View Channel': PermissionFlagsBits.ViewChannel,
  'Send Messages': PermissionFlagsBits.SendMessages,
  'Send Messages in Threads': PermissionFlagsBits.SendMessagesInThreads,
  'Create Public Threads': PermissionFlagsBits.CreatePublicThreads,
  'Embed Links': PermissionFlagsBits.EmbedLinks,
  'Attach Files': PermissionFlagsBits.AttachFiles,
  'Read Message History': PermissionFlagsBits.ReadMessageHistory,
  Connect: PermissionFlagsBits.Connect,
  Speak: PermissionFlagsBits.Speak,
} as const;

type Granted = Readonly<PermissionsBitField>;

/** What the bot is invited with. */
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

/** What is missing for an answer in a channel or thread. */
export const missingToAnswer = (granted: Granted, inThread: boolean): PermissionName[] =>
  missingOf(granted, inThread ? IN_THREAD : IN_CHANNEL);

/** What is missing to be heard. On a stage the audience cannot speak, and is invited to. */
export const missingToPlay = (granted: Granted, onStage: boolean): PermissionName[] =>
  missingOf(granted, onStage ? ON_STAGE : IN_VOICE);

/** What is missing in a whole server. */
export const missingInServer = (granted: Granted): PermissionName[] => missingOf(granted, IN_SERVER);

export const mayOpenThreads = (granted: Granted): boolean => missingOf(granted, TO_OPEN_THREADS).length === 0;

/** Whether nothing at all can be sent while these are missing. */
export const preventsSending = (missing: readonly PermissionName[]): boolean =>
  missing.some((name) => TO_SEND.has(name));

/** For sentences: `A`, `A and B`, `A, B and C`. */
export const listed = (names: readonly string[]): string => new Intl.ListFormat('en-GB').format(names);

const ALL = 'View Channel, Send Messages, Send Messages in Threads, Embed Links and Attach Files';
export const NOT_INVITED = `I can't access that channel. Ask a moderator to grant me these permissions: ${ALL}.`;

/** For the person; nothing is `missing` where Discord refuses and does not say why. */
export const missingPermissionAdvice = (missing: readonly string[]): string =>
  missing.length === 0
    ? `I'm missing a permission in that channel. I need ${ALL}.`
    : `I can't answer properly in that channel. Ask a moderator to grant me ${listed(missing)}.`;

/** Under a message that is plainer than it could be. */
export const missingNote = (missing: readonly string[]): string =>
  `I need ${listed(missing)} here to show this properly.`;
