/** What people read when work fails: what happened, and what to do. */
import type { GatewayErrorCode } from '../gateway/errors.ts';
import type { MediaError } from '../media/errors.ts';
import type { Work } from '../work.ts';
import { studioSentenceFor } from './studio-sentences.ts';

const SENTENCES = {
  credits: 'The gateway has no credit left. Whoever runs this bot can top it up; then press Again.',
  rate: 'The gateway is too busy to take this right now. Please press Again in a few minutes.',
  auth: 'The gateway did not accept this bot’s key. Whoever runs this bot has to look at it.',
  forbidden: 'The gateway does not let this bot do that. Another model may work.',
  invalid: 'The gateway did not understand this request. Please change it and try again.',
  'too-long': 'The gateway found the text too long. Please make it shorter and try again.',
  blocked: 'The gateway declined this because of its content rules. Please put it another way.',
  'not-found': 'The gateway does not know this model or song any more. Please choose another.',
  exists: 'The gateway has already made this once and does not make it again.',
  maintenance: 'The gateway is under maintenance. Please press Again later.',
  unavailable: 'The gateway could not be reached. Nothing was lost; please press Again in a while.',
  timeout: 'The gateway took too long to answer. Please press Again.',
  network: 'The connection to the gateway broke. Please press Again.',
  nonsense: 'The gateway answered something that holds no result. Please press Again.',
  aborted: 'This was stopped.',
  'broken-stream': 'The answer broke off.',
  stalled: 'The answer stopped coming.',
} as const satisfies Record<GatewayErrorCode, string>;

/** What people read when work of this kind fails so: what happened, and what still works. */
export function sentenceFor(code: GatewayErrorCode, work?: Pick<Work, 'route'>): string {
  return (work && studioSentenceFor(code, work.route)) ?? SENTENCES[code];
}

export const UNCERTAIN_SENTENCE =
  'I lost the connection while asking the gateway, so I cannot tell whether it took this. To be safe I did not ask twice. Press Again if you want me to.';

export const FORGOTTEN_SENTENCE =
  'I was restarted before I could begin with this. Nothing was spent; please ask again.';

export const INTERRUPTED_SENTENCE =
  'I was restarted in the middle of this. Press Again and I will start over.';

export const TOO_LATE_SENTENCE =
  'I could not begin this for a day, so I let it go. Nothing was spent; press Again if you still want it.';

export const LOST_TASK_SENTENCE = 'The gateway lost track of this. Press Again and I will ask for a new one.';

export const EXPIRED_SENTENCE =
  'The gateway has not finished this in time. If it still does, the result will appear here; or press Again.';

export const CANCELLED_SENTENCE = 'Cancelled.';

export const CANCELLED_FINISHED_SENTENCE = 'This was cancelled, but the gateway finished it all the same.';

/** Whether the fault is on our side, where whoever runs the bot can help. */
export function isOwnFault({ code }: MediaError): boolean {
  return code === 'disk-full' || code === 'store';
}

export function unkeptSentence(error: MediaError): string {
  return isOwnFault(error)
    ? 'The gateway made this, but I have no room to keep it. Please tell whoever runs this bot, then press Again.'
    : 'The gateway answered with something that is no picture. Please press Again.';
}

/** While it is worth waiting for them. */
export function waitingSentence(names: string, error: MediaError): string {
  return isOwnFault(error)
    ? `Made, but not here yet: ${names}. I have no room to keep files right now, and go on trying. Whoever runs this bot can help.`
    : `Made, but not here yet: ${names}. The gateway does not hand it over right now; I go on trying.`;
}

export function lostSentence(names: string): string {
  return `The gateway made ${names}, but it could not be fetched. Press Again for a new one.`;
}

/** The last resort: the gateway's own temporary addresses. */
export function unkeptLinkSentence(names: string): string {
  return `I could not keep ${names}. The link is the gateway’s own and ends in a few days, so save it soon.`;
}
