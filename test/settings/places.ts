import type { Address, Person } from '../../src/command.ts';

export const HERE = {
  platform: 'discord',
  guild: 'guild',
  channel: 'channel',
  person: 'ada',
} as const satisfies Address;

export function person(id: string, more: Partial<Person> = {}): Person {
  return {
    id,
    displayName: id.charAt(0).toUpperCase() + id.slice(1),
    moderator: false,
    roles: [],
    ...more,
  };
}

export const ADA = person('ada');
export const MOD = person('mod', { moderator: true });
