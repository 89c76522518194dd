/** Refusals by limits, in words. */
import { type Address, serverWord } from '../../core/invocation.ts';
import { counted } from '../../core/message.ts';
import type { Limit } from '../../core/moderation.ts';
import { describeLimit } from '../access/words.ts';

type Somewhere = Pick<Address, 'platform'>;

export const PAUSED_BY_OPERATOR =
  'Whoever runs this bot has paused it: nothing new is made for now, and what runs is finished. Please try again later.';

export const pausedSentence = (address: Somewhere): string =>
  `Moderators have paused me in this ${serverWord(address)}: nothing new is made until /limits resume. What runs is finished.`;

interface RefusalFacts {
  readonly units: number;
  readonly freesAt: number | undefined;
  readonly now: number;
  readonly where: Somewhere;
}

/** Which limit is reached, and when it ends. `isCeiling`: the operator set it, so moderators cannot lift it. */
export function refusalSentence(
  { limit, isCeiling }: { readonly limit: Limit; readonly isCeiling: boolean },
  { units, freesAt, now, where }: RefusalFacts,
): string {
  const rule = `${describeLimit(limit, where)}${isCeiling ? ', set by whoever runs this bot' : ''}`;
  if (limit.most === 0) {
    const who = isCeiling ? 'Nobody here' : 'A moderator';
    return `This is switched off by a limit: ${rule}. ${who} can change that.`;
  }
  if (freesAt === undefined) return `This costs ${counted(units, 'unit')}, and the limit is ${rule}.`;
  return `The limit is reached: ${rule}. There is room again in ${timeUntil(freesAt, now)}.`;
}

/** As in `3 h 20 min`; never less than it is. */
export function timeUntil(at: number, now: number): string {
  const minutes = Math.max(1, Math.ceil((at - now) / 60_000));
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`;
}
