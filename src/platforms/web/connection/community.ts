/** Fictional people, roles and channels, so one person can try what several people see. */

import type { Address, Person } from '../../../core/invocation.ts';
import type { Choice } from '../../../core/options.ts';
import type { BrowserChannel } from '../../../core/web/browser-chat.ts';

/** The value of {@link Address.platform}. */
export const WEB = 'web';
const GUILD = 'playground';

export const PEOPLE = [
  { id: 'mo', displayName: 'Mo', moderator: true, roles: [] },
  { id: 'ada', displayName: 'Ada', moderator: false, roles: ['band'] },
  { id: 'bob', displayName: 'Bob', moderator: false, roles: [] },
] as const satisfies readonly Person[];

const ROLES = [{ id: 'band', name: 'band' }] as const;

export const directChannelOf = (person: string): string => `direct-${person}`;

const CHANNELS: readonly BrowserChannel[] = [
  { id: 'general', name: 'general', topic: 'Anything goes' },
  { id: 'songs', name: 'songs', topic: 'A second channel with its own models, limits and songs' },
  { id: 'quiet', name: 'quiet', topic: 'Try moderation here' },
  ...PEOPLE.map(({ id }) => ({
    id: directChannelOf(id),
    name: 'Minstrel',
    topic: 'Direct messages: ask without a command',
    direct: id,
  })),
];

/** Completions for options that take a person or role, in the format of {@link parseSubject}. */
export const MENTIONS: readonly Choice[] = [
  ...PEOPLE.map(({ id, displayName }) => ({ name: displayName, value: `<@${id}|${displayName}>` })),
  ...ROLES.map(({ id, name }) => ({ name: `${name} (a role)`, value: `<@&${id}|${name}>` })),
  { name: 'everyone', value: '@everyone' },
];

export function findPerson(id: string): Person | undefined {
  return PEOPLE.find((person) => person.id === id);
}

export function channelsOf(person: string): readonly BrowserChannel[] {
  return CHANNELS.filter(({ direct }) => direct === undefined || direct === person);
}

export function isIn(channel: string, person: string): boolean {
  return channelsOf(person).some(({ id }) => id === channel);
}

export function webAddress({ id, name, direct }: BrowserChannel, person: string): Address {
  const where = direct === undefined ? { guild: GUILD, channelName: name, public: true } : { direct: true };
  return { platform: WEB, ...where, channel: id, person };
}
