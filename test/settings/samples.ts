import type { Address, Person } from '../../src/core/invocation.ts';
import { type Decisions, readSettings } from '../../src/settings/decisions.ts';

export const HERE = {
  platform: 'discord',
  guild: 'guild',
  channel: 'channel',
  person: 'ada',
} as const satisfies Address;

export const NOTHING_DECIDED: Decisions = {
  channel: readSettings('channel', undefined),
  server: readSettings('server', undefined),
};

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
