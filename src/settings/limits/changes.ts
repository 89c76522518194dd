/** How moderators' limits are set and taken back. */
import { isDeepStrictEqual } from 'node:util';
import { UserError } from '../../core/errors.ts';
import type { Address } from '../../core/invocation.ts';
import type { Limit, LimitName, Where } from '../../core/moderation.ts';
import { type Edit, MOST_LIMITS } from '../decisions.ts';
import { describeLimit, describeLimitName } from './words.ts';

/** A channel's limit is kept with the channel; everything else with the server. */
export function keptWith({ scope }: Pick<Limit, 'scope'>): Where {
  return scope === 'channel' ? 'channel' : 'server';
}

/** Replaces the limit of the same name. Throws UserError when there are too many. */
export function setLimit(limit: Limit, where: Pick<Address, 'platform'>): Edit {
  return (settings) => {
    const { scope, ...rest } = limit;
    if (scope === 'deployment') throw new UserError('Only whoever runs this bot sets limits for everybody.');
    const before = settings.limits.find((other) => isSame(other, limit));
    const others = settings.limits.filter((other) => other !== before);
    if (others.length >= MOST_LIMITS) {
      throw new UserError(`There are ${MOST_LIMITS} limits here already. Take some back with /limits reset.`);
    }
    return {
      settings: { ...settings, limits: [...others, { scope, ...rest }] },
      trace: {
        what: 'limit',
        from: before ? describeLimit(before, where) : 'none',
        to: describeLimit(limit, where),
      },
    };
  };
}

export function resetLimit(name: LimitName, where: Pick<Address, 'platform'>): Edit {
  return (settings) => {
    const before = settings.limits.find((other) => isSame(other, name));
    if (!before) return undefined;
    return {
      settings: { ...settings, limits: settings.limits.filter((other) => other !== before) },
      trace: {
        what: 'limit',
        from: describeLimit(before, where),
        to: `none on ${describeLimitName(name, where)}`,
      },
    };
  };
}

function isSame(one: LimitName, other: LimitName): boolean {
  const parts = ({ scope, family, per, of, who }: LimitName) => [scope, family, per, of, who?.type, who?.id];
  return isDeepStrictEqual(parts(one), parts(other));
}

export function setExemption(exempt: boolean): Edit {
  return (settings) => ({
    settings: { ...settings, exemptModerators: exempt },
    trace: {
      what: 'moderators are exempt from limits',
      from: settings.exemptModerators === true ? 'yes' : 'no',
      to: exempt ? 'yes' : 'no',
    },
  });
}

/** Undefined where it is so already. */
export function setPause(paused: boolean): Edit {
  return (settings) =>
    (settings.paused ?? false) === paused
      ? undefined
      : {
          settings: { ...settings, paused },
          trace: { what: 'paused', from: paused ? 'no' : 'yes', to: paused ? 'yes' : 'no' },
        };
}
