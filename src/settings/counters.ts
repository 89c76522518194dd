/** Names of what limits count. */
import type { Address, Family } from '../command.ts';
import type { Limit } from '../moderation.ts';
import { channelOf } from './keys.ts';

type Scope = Limit['scope'] | 'everywhere';

/** A limit by moderators counts a person in their server; one by the operator, on the whole platform (`everywhere`). */
export function counterOf(scope: Scope, where: Address, person: string, family: Family | undefined): string {
  const { platform, guild = '' } = where;
  const parts = {
    person: ['person', platform, guild, person],
    everywhere: ['everywhere', platform, person],
    channel: ['channel', platform, guild, channelOf(where)],
    server: ['server', platform, guild],
    deployment: ['deployment'],
  } as const satisfies Record<Scope, readonly string[]>;
  return [...parts[scope], family ?? '*'].map(encodeURIComponent).join(':');
}

const SCOPES = [
  'person',
  'everywhere',
  'channel',
  'server',
  'deployment',
] as const satisfies readonly Scope[];

/** Everything that work of a family counts for, so that a limit set at noon knows of the morning. */
export function countersOf(where: Address, person: string, family: Family): string[] {
  return SCOPES.filter((scope) => scope !== 'server' || where.guild !== undefined).flatMap((scope) => [
    counterOf(scope, where, person, family),
    counterOf(scope, where, person, undefined),
  ]);
}
