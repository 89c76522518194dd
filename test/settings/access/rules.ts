import {
  EVERYONE,
  MODERATORS,
  type Rule,
  type Subject,
  VISITORS,
  type Where,
} from '../../../src/core/moderation.ts';
import { type Decisions, readSettings } from '../../../src/settings/decisions.ts';

const NAMED: Readonly<Record<string, Subject>> = {
  everyone: EVERYONE,
  visitors: VISITORS,
  moderators: MODERATORS,
};

/** `dj` is a person, `@dj` a role. */
export function subject(word: string): Subject {
  if (NAMED[word]) return NAMED[word];
  const isRole = word.startsWith('@');
  return isRole
    ? { type: 'role', id: word.slice(1), name: word.slice(1).toUpperCase() }
    : { type: 'person', id: word, name: `${word.charAt(0).toUpperCase()}${word.slice(1)}` };
}

/** `deny @dj song`, `limit ada song 5 day`, `limit everyone all 50 hour together`, `unlimited @dj all`. */
export function rule(text: string): Rule {
  const [type, who = '', what = '', most = '', per = 'day', together] = text.split(' ');
  const name = { who: subject(who), what };
  if (type === 'allow' || type === 'deny') return { type, ...name };
  // The texts come from tests.
  const limited = { ...name, what: what as 'song' };
  if (type === 'unlimited') return { type, ...limited };
  if (type !== 'limit') throw new TypeError(text);
  const amount = { most: Number(most), per: per === 'hour' ? 'hour' : 'day', of: 'requests' } as const;
  return { type, ...limited, ...amount, ...(together && { together: true }) };
}

/** Parses rules with their place, such as `server: deny everyone song`. */
export function decided(...texts: readonly string[]): Decisions {
  const at = (where: Where) => ({
    ...readSettings(where, undefined),
    rules: texts.flatMap((text) =>
      text.startsWith(`${where}: `) ? [rule(text.slice(where.length + 2))] : [],
    ),
  });
  return { channel: at('channel'), server: at('server') };
}
