/** How moderators change who may use what. */
import { UserError } from '../../core/errors.ts';
import type { AccessRule, Subject } from '../../core/moderation.ts';
import { type Edit, MOST_SUBJECTS } from '../decisions.ts';

const EVERYBODY: AccessRule = { everyone: true, roles: [], people: [] };
const NO_ONE: AccessRule = { everyone: false, roles: [], people: [] };

/** What was decided about one command: the rule for all, and who is barred in spite of it. */
interface Said {
  readonly rule: AccessRule | undefined;
  readonly barred: readonly Subject[];
}

/** Without a subject: everyone may. With one: they may, and those who were named before; who was barred is so no more. */
export function allow(command: string, who: Subject | undefined): Edit {
  return editAccess(command, ({ rule, barred }) => {
    if (who === undefined) return { rule: EVERYBODY, barred: [] };
    const left = barred.filter((known) => !isSameSubject(known, who));
    const isForAll = rule === undefined || rule.everyone;
    if (isForAll && left.length < barred.length) return { rule, barred: left };
    const list = listOf(who);
    const base = isForAll ? NO_ONE : rule;
    return { rule: { ...base, [list]: withSubject(base[list], who) }, barred: left };
  });
}

/** Without a subject, everyone is forbidden. With one, only that person or role is, also when others are allowed. */
export function forbid(command: string, who: Subject | undefined): Edit {
  return editAccess(command, ({ rule, barred }) => {
    if (who === undefined) return { rule: NO_ONE, barred };
    const list = listOf(who);
    const without = rule && { ...rule, [list]: rule[list].filter((known) => !isSameSubject(known, who)) };
    return { rule: without, barred: withSubject(barred, who) };
  });
}

export function resetAccess(command: string): Edit {
  return editAccess(command, () => ({ rule: undefined, barred: [] }));
}

function editAccess(command: string, edit: (before: Said) => Said): Edit {
  return (settings) => {
    const { [command]: rule, ...rules } = settings.access;
    const { [command]: barred = [], ...otherBarred } = settings.barred;
    const before: Said = { rule, barred };
    const after = edit(before);
    const isNothing = ({ rule: base, barred: named }: Said) => base === undefined && named.length === 0;
    if (isNothing(before) && isNothing(after)) return undefined;
    return {
      settings: {
        ...settings,
        access: after.rule ? { ...rules, [command]: after.rule } : rules,
        barred: after.barred.length > 0 ? { ...otherBarred, [command]: [...after.barred] } : otherBarred,
      },
      trace: { what: `access to ${command}`, from: describe(before), to: describe(after) },
    };
  };
}

const LISTS = { blocked: 'blocked people', moderators: 'moderators of this bot' } as const;

export function addSubject(list: keyof typeof LISTS, who: Subject): Edit {
  return editSubjects(list, (before) => withSubject(before, who), ['without', `with ${nameOf(who)}`]);
}

export function removeSubject(list: keyof typeof LISTS, who: Subject): Edit {
  const without = (before: readonly Subject[]) => before.filter((known) => !isSameSubject(known, who));
  return editSubjects(list, without, [`with ${nameOf(who)}`, 'without']);
}

function editSubjects(
  list: keyof typeof LISTS,
  edit: (before: readonly Subject[]) => readonly Subject[],
  [from, to]: readonly [from: string, to: string],
): Edit {
  return (settings) => {
    const after = edit(settings[list]);
    if (after.length === settings[list].length) return undefined;
    return { settings: { ...settings, [list]: after }, trace: { what: LISTS[list], from, to } };
  };
}

export function isSameSubject(one: Subject, other: Subject): boolean {
  return one.type === other.type && one.id === other.id;
}

function withSubject(list: readonly Subject[], who: Subject): readonly Subject[] {
  if (list.some((known) => isSameSubject(known, who))) return list;
  if (list.length < MOST_SUBJECTS) return [...list, who];
  throw new UserError(`That list is full: ${MOST_SUBJECTS} are named already. A role holds any number.`);
}

function listOf({ type }: Subject): 'roles' | 'people' {
  return type === 'role' ? 'roles' : 'people';
}

function nameOf({ name, id }: Subject): string {
  return name ?? id;
}

/** Plain. */
function describe({ rule, barred }: Said): string {
  const but = barred.length > 0 ? `, not ${barred.map(nameOf).join(', ')}` : '';
  if (rule === undefined) return `not decided here${but}`;
  if (rule.everyone) return `everyone${but}`;
  return `${[...rule.roles, ...rule.people].map(nameOf).join(', ') || 'nobody'}${but}`;
}
