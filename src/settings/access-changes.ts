/** How moderators change who may use what. */
import { UserError } from '../errors.ts';
import type { AccessRule, Subject } from '../moderation.ts';
import type { Edit } from './decisions.ts';
import { MOST_SUBJECTS, type PlaceSettings } from './schema.ts';

const EVERYONE = { everyone: true, roles: [], people: [] } as const satisfies AccessRule;
const NOBODY = { everyone: false, roles: [], people: [] } as const satisfies AccessRule;

/** Without somebody: everyone may. With somebody: they may, beside those who were named before. */
export function allow(command: string, who: Subject | undefined): Edit {
  return editRule(command, (before) => {
    if (who === undefined) return EVERYONE;
    const base = before === undefined || before.everyone ? NOBODY : before;
    return { ...base, [listOf(who)]: withSubject(base[listOf(who)], who) };
  });
}

/** Without somebody: nobody may. With somebody: they are no longer among those who were named. */
export function forbid(command: string, who: Subject | undefined): Edit {
  return editRule(command, (before) => {
    if (who === undefined) return NOBODY;
    const list = before?.[listOf(who)] ?? [];
    if (before === undefined || before.everyone || !list.some(({ id }) => id === who.id)) {
      throw new UserError(
        `${nameOf(who)} was not named for /${command} here, so there is nothing to take back. Name those who may with /limits allow, or keep a person out with /limits block.`,
      );
    }
    return { ...before, [listOf(who)]: list.filter(({ id }) => id !== who.id) };
  });
}

export function resetAccess(command: string): Edit {
  return (settings) => {
    const before = Object.hasOwn(settings.access, command) ? settings.access[command] : undefined;
    if (!before) return undefined;
    const { [command]: _gone, ...access } = settings.access;
    return {
      settings: { ...settings, access },
      trace: { what: `access to ${command}`, from: describeRule(before), to: 'not decided here' },
    };
  };
}

function editRule(command: string, edit: (before: AccessRule | undefined) => AccessRule): Edit {
  return (settings) => {
    const before = Object.hasOwn(settings.access, command) ? settings.access[command] : undefined;
    const { everyone, roles, people } = edit(before);
    const after = { everyone, roles: [...roles], people: [...people] };
    return {
      settings: { ...settings, access: { ...settings.access, [command]: after } },
      trace: {
        what: `access to ${command}`,
        from: before ? describeRule(before) : 'not decided here',
        to: describeRule(after),
      },
    };
  };
}

const LISTS = { blocked: 'blocked people', moderators: 'moderators of this bot' } as const satisfies Partial<
  Record<keyof PlaceSettings, string>
>;

export function addSubject(list: keyof typeof LISTS, who: Subject): Edit {
  return (settings) => {
    if (settings[list].some((known) => isSameSubject(known, who))) return undefined;
    return {
      settings: { ...settings, [list]: [...withSubject(settings[list], who)] },
      trace: { what: LISTS[list], from: 'without', to: `with ${nameOf(who)}` },
    };
  };
}

export function removeSubject(list: keyof typeof LISTS, who: Subject): Edit {
  return (settings) => {
    if (!settings[list].some((known) => isSameSubject(known, who))) return undefined;
    return {
      settings: { ...settings, [list]: settings[list].filter((known) => !isSameSubject(known, who)) },
      trace: { what: LISTS[list], from: `with ${nameOf(who)}`, to: 'without' },
    };
  };
}

function isSameSubject(one: Subject, other: Subject): boolean {
  return one.type === other.type && one.id === other.id;
}

function withSubject(list: readonly Subject[], who: Subject): readonly Subject[] {
  if (list.some((known) => isSameSubject(known, who))) return list;
  if (list.length >= MOST_SUBJECTS) {
    throw new UserError(`That list is full: ${MOST_SUBJECTS} are named already. A role holds any number.`);
  }
  return [...list, who];
}

function listOf({ type }: Subject): 'roles' | 'people' {
  return type === 'role' ? 'roles' : 'people';
}

function nameOf({ name, id }: Subject): string {
  return name ?? id;
}

/** Plain. */
function describeRule({ everyone, roles, people }: AccessRule): string {
  if (everyone) return 'everyone';
  const named = [...roles, ...people].map(nameOf);
  return named.length === 0 ? 'nobody' : named.join(', ');
}
