import { ChannelType } from 'discord.js';

const THREADS: ReadonlySet<number | undefined> = new Set([
  ChannelType.AnnouncementThread,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
]);
const PARENTS: ReadonlySet<number | undefined> = new Set([
  ChannelType.GuildText,
  ChannelType.GuildAnnouncement,
]);

export const isThread = (type: number | undefined): boolean => THREADS.has(type);

/** Whether a message in such a channel may have a thread of its own. */
export const takesThreads = (type: number | undefined): boolean => PARENTS.has(type);
