import { PermissionFlagsBits } from 'discord.js';

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
} as const;

/** What an answer may need in a channel. */
const IN_CHANNEL = [
  'View Channel',
  'Send Messages',
  'Embed Links',
  'Attach Files',
] as const satisfies readonly PermissionName[];
const IN_THREAD = [
  'View Channel',
  'Send Messages in Threads',
  'Embed Links',
  'Attach Files',
] as const satisfies readonly PermissionName[];

/**
 * @param granted bits as Discord writes them; absent where it does not tell, and then nothing counts as missing
 * @returns those of `wanted` that are not granted
 */
export function missingOf<Name extends PermissionName>(
  granted: string | undefined,
  wanted: readonly Name[],
): Name[] {
  if (granted === undefined || !/^\d+$/.test(granted)) return [];
  const bits = BigInt(granted);
  if (bits & PermissionFlagsBits.Administrator) return [];
  return wanted.filter((name) => (bits & BITS[name]) === 0n);
}

/** What the bot lacks to answer there. */
export const missingToAnswer = (granted: string | undefined, inThread: boolean): PermissionName[] =>
  missingOf<PermissionName>(granted, inThread ? IN_THREAD : IN_CHANNEL);

const SPEAKING: ReadonlySet<PermissionName> = new Set([
  'View Channel',
  'Send Messages',
  'Send Messages in Threads',
]);

/** Whether somebody who lacks these can say nothing at all. */
export const mutes = (lacks: readonly PermissionName[]): boolean => lacks.some((name) => SPEAKING.has(name));

export const mayOpenThreads = (granted: string | undefined): boolean =>
  missingOf<PermissionName>(granted, ['Create Public Threads', 'Send Messages in Threads']).length === 0;

export interface Overwrite {
  readonly allow: bigint;
  readonly deny: bigint;
}

/**
 * Permissions of a member in a channel: those of the guild, changed level by level (everyone, the member's roles, the
 * member), at each level first by what is denied. https://docs.discord.com/developers/topics/permissions#permission-overwrites
 */
export const withOverwrites = (base: bigint, levels: readonly (readonly Overwrite[])[]): bigint =>
  levels.reduce((bits, level) => {
    const denied = level.reduce((sum, { deny }) => sum | deny, 0n);
    const allowed = level.reduce((sum, { allow }) => sum | allow, 0n);
    return (bits & ~denied) | allowed;
  }, base);

/** For sentences: `A`, `A and B`, `A, B and C`. */
export function listed(names: readonly string[]): string {
  const [last = '', ...before] = names.toReversed();
  return before.length === 0 ? last : `${before.toReversed().join(', ')} and ${last}`;
}
