import type { Address, Person } from '../../command.ts';

/** The one place of a terminal. */
export const HERE = { platform: 'terminal', channel: 'terminal', person: 'you' } as const satisfies Address;

/** The one person, who may do everything. */
export const YOU = {
  id: HERE.person,
  displayName: 'you',
  moderator: true,
  roles: [],
} as const satisfies Person;
