import type { Fault } from '../fault.ts';

const ACCESS = 'test/settings/access/access.test.ts';
const LIMITS = 'test/settings/limits/limits.test.ts';
const DECISIONS = 'test/settings/decisions.test.ts';

export const SETTINGS_FAULTS = [
  {
    name: 'anybody may use what is for moderators',
    file: 'src/settings/access/access.ts',
    text: 'if (moderatorsOnly) throw',
    replacement: 'if (moderatorsOnly && !alwaysAllowed && person.id === undefined) throw',
    tests: { [ACCESS]: 'the command, talk, tools, its buttons and its completions' },
  },
  {
    name: 'who is blocked is not',
    file: 'src/settings/access/access.ts',
    text: 'if (settings.server.blocked.some((subject) => isMeant(subject, person))) {',
    replacement: 'if (settings.server.blocked.length > 1_000) {',
    tests: { [ACCESS]: 'everyone is everyone: blocked, and kept from a command' },
  },
  {
    name: 'the server decides before the channel',
    file: 'src/settings/access/access.ts',
    text: "channel: ['channel', 'server'],",
    replacement: "channel: ['server', 'channel'],",
    tests: { [ACCESS]: 'a channel can open what the server closed, and close everything' },
  },
  {
    name: 'a moderator who was named names others',
    file: 'src/settings/moderation.ts',
    text: 'if (person.moderator) return;',
    replacement: 'if (person.id) return;',
    tests: { [ACCESS]: 'moderators who were named cannot name others' },
  },
  {
    name: 'a settings edit is made twice after a lost answer',
    file: 'src/settings/decisions.ts',
    text: 'if (settings.changes.some((change) => change.id === id)) return settings;',
    replacement: '',
    tests: { [DECISIONS]: 'an edit whose answer was lost is made once' },
  },
  {
    name: 'a report of thirty days counts thirty-one',
    file: 'src/settings/moderation.ts',
    text: 'dayOf(now() - (days - 1) * DAY)',
    replacement: 'dayOf(now() - days * DAY)',
    tests: { [LIMITS]: 'is told by a report of thirty days with the thirtieth day' },
  },
  {
    name: 'to forget a person takes the voices of another platform',
    file: 'src/settings/voices.ts',
    text: 'if (!key.startsWith(start)) continue;',
    replacement: "if (!key.startsWith('voices:')) continue;",
    tests: { 'test/settings/voices.test.ts': 'of a person who is forgotten go on that platform alone' },
  },
  {
    name: 'a limit of a server counts other servers',
    file: 'src/settings/limits/limits.ts',
    text: "server: ['server', platform, guild],",
    replacement: "server: ['server', platform],",
    tests: { [LIMITS]: 'on a server counts everybody in it' },
  },
  {
    name: 'a limit of a person counts other people',
    file: 'src/settings/limits/limits.ts',
    text: "person: ['person', platform, guild, person],",
    replacement: "person: ['person', platform, guild],",
    tests: { [LIMITS]: 'per person gives each person as much, in a whole server' },
  },
  {
    name: 'moderators lift what the operator set',
    file: 'src/settings/limits/limits.ts',
    text: '...operatorsLimits(ceilings, address, person),\n    ].filter',
    replacement: '...(person.moderator ? [] : operatorsLimits(ceilings, address, person)),\n    ].filter',
    tests: { [LIMITS]: 'cannot lift what the operator set, not even for themselves' },
  },
  {
    name: 'direct messages obey the server',
    file: 'src/settings/decisions.ts',
    text: 'const server = serverOf(address) ?? ',
    replacement: 'const server = address.guild ?? ',
    tests: { [ACCESS]: 'direct messages are no part of the server' },
  },
  {
    name: 'a newer version’s settings are written over',
    file: 'src/settings/decisions.ts',
    text: 'version: z.literal(VERSION),',
    replacement: 'version: z.number(),',
    tests: { [DECISIONS]: 'settings of a newer version are left as they are by a change' },
  },
  {
    name: 'a changed vote counts beside the one before',
    file: 'src/settings/feedback.ts',
    text: '[person]: judgement } };',
    replacement: '[person + judgement]: judgement } };',
    tests: { 'test/settings/feedback.test.ts': 'a person has one vote on each answer' },
  },
] as const satisfies readonly Fault[];
