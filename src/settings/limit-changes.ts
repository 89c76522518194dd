/** How moderators' limits are set and taken back. */
import { UserError } from '../errors.ts';
import type { Limit, LimitName, Where } from '../moderation.ts';
import type { Edit } from './decisions.ts';
import { describeLimit, describeLimitName } from './limit-words.ts';
import { type KeptLimit, MOST_LIMITS } from './schema.ts';

/** A channel's limit is kept with the channel; everything else with the server. */
export function placeOfLimit({ scope }: Pick<Limit, 'scope'>): Where {
  return scope === 'channel' ? 'channel' : 'server';
}

/** Replaces the limit of the same name. Throws UserError when there are too many. */
export function setLimit(limit: Limit): Edit {
  return (settings) => {
    const { scope, ...rest } = limit;
    if (scope === 'deployment') throw new UserError('Only whoever runs this bot sets limits for everybody.');
    const kept: KeptLimit = { scope, ...rest };
    const before = settings.limits.find((other) => isSame(other, limit));
    const others = settings.limits.filter((other) => other !== before);
    if (others.length >= MOST_LIMITS) {
      throw new UserError(`There are ${MOST_LIMITS} limits here already. Take some back with /limits reset.`);
    }
    return {
      settings: { ...settings, limits: [...others, kept] },
      trace: {
        what: 'limit',
        from: before ? describeLimit(before) : 'none',
        to: describeLimit(limit),
      },
    };
  };
}

export function resetLimit(name: LimitName): Edit {
  return (settings) => {
    const before = settings.limits.find((other) => isSame(other, name));
    if (!before) return undefined;
    return {
      settings: { ...settings, limits: settings.limits.filter((other) => other !== before) },
      trace: { what: 'limit', from: describeLimit(before), to: `none on ${describeLimitName(name)}` },
    };
  };
}

function isSame(one: LimitName, other: LimitName): boolean {
  return (
    one.scope === other.scope &&
    one.family === other.family &&
    one.per === other.per &&
    one.of === other.of &&
    one.who?.type === other.who?.type &&
    one.who?.id === other.who?.id
  );
}
