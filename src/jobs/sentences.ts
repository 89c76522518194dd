/** What people read when work fails: what happened, and what to do. */
import { dayOf } from '../core/clock.ts';
import type { Route, Work } from '../core/work.ts';
import type { GatewayErrorCode } from '../gateway/transport/errors.ts';
import type { MediaError } from '../media/errors.ts';
import { PLANS } from './route-plans.ts';

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
  unfetched:
    'The gateway could not fetch a file that it needs for this. Please press Again; if it happens again, tell whoever runs this bot.',
  'not-made': 'The gateway tried, but could not make this. Press Again, or put it another way.',
  refunded:
    'The gateway tried, but could not make this, and gave the credits back. Press Again, or put it another way.',
  unavailable: 'The gateway could not be reached. Nothing was lost; please press Again in a while.',
  timeout: 'The gateway took too long to answer. Please press Again.',
  network: 'The connection to the gateway broke. Please press Again.',
  nonsense: 'The gateway answered something that holds no result. Please press Again.',
  'no-api':
    'What answers at the gateway’s address is not the gateway, but a web page. Whoever runs this bot has to look at that address.',
  aborted: 'This was stopped.',
  'broken-stream': 'The answer broke off.',
  stalled: 'The answer stopped coming.',
} as const satisfies Record<GatewayErrorCode, string>;

/** Says when to ask again, if the gateway asked for a longer pause than people are kept waiting. Times are in milliseconds. */
export function askLaterSentence(code: GatewayErrorCode, waitMs: number, now: number): string {
  const minutes = Math.ceil(waitMs / 60_000);
  const wait = minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
  const at = now + waitMs;
  const day = waitMs < 12 * 60 * 60_000 ? '' : `${dayOf(at)}, `;
  const time = new Date(at).toISOString().slice(11, 16);
  const what = code === 'maintenance' ? 'is under maintenance' : 'is too busy to take this';
  return `The gateway ${what}, and asks to be left alone until ${day}${time} UTC, for about ${wait}. Nothing was spent; press Again after that.`;
}

/** What people read when this kind of work fails in this way: what happened, and what still works. */
export function sentenceFor(code: GatewayErrorCode, work?: Pick<Work, 'route'>): string {
  return (work && songSentenceFor(code, work.route)) ?? SENTENCES[code];
}

export const UNCERTAIN_SENTENCE =
  'I lost the connection while asking the gateway, so I cannot tell whether it took this. To be safe I did not ask twice. Press Again if you want me to.';

/** When it is unknown whether the gateway took the work, and no callback can tell. */
export function uncertainSentence(code: GatewayErrorCode): string {
  return code === 'no-api'
    ? 'A web page came in place of the gateway’s answer, so I cannot tell whether it took this. To be safe I did not ask twice. Whoever runs this bot has to look at the gateway’s address; press Again if you want me to ask anew.'
    : UNCERTAIN_SENTENCE;
}

/** Of work that had not begun when a backup was made. */
export const RESTORED_SENTENCE =
  'I was restored from a backup that was made before I began with this, so I cannot tell whether I did it afterwards. To be safe I do not do it twice.';

/** The channel shows what came after the backup. */
export const RESTORED_NOTE = 'If it is in this channel already, it is good as it is. If not, press Again';

export const NOT_ACKNOWLEDGED_SENTENCE =
  'I could not answer this in time, so I have not started. Nothing was spent; press Again if you still want it.';

export const INTERRUPTED_SENTENCE =
  'I was restarted in the middle of this. Press Again and I will start over.';

export const TOO_LATE_SENTENCE =
  'I could not begin this for a day, so I let it go. Nothing was spent; press Again if you still want it.';

export const LOST_TASK_SENTENCE =
  'The gateway lost track of this. If it finds it again, the video will appear here. Again asks for a new one, which is paid for anew.';

export const EXPIRED_SENTENCE =
  'The gateway has not finished this in time. If it still does, the result will appear here; or press Again.';

/** At the deadline, when it is unknown whether the gateway took the work. */
export const UNCERTAIN_EXPIRED_SENTENCE =
  'I lost the gateway’s answer to this, and it has not called back, so it probably did not take it. If it still does, the result will appear here; or press Again.';

/** At the deadline, when callbacks came and none of them could be read. */
export const UNREADABLE_SENTENCE =
  'The gateway called back, but I could not read what it sent. If it sends more, the result will appear here. Please tell whoever runs this bot the reference below.';

export const CANCELLED_SENTENCE = 'Cancelled.';

export const CANCELLED_FINISHED_SENTENCE = 'This was cancelled, but the gateway finished it all the same.';

/** Whether the fault is on our side, where the operator can help. */
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

/** Undefined where the general sentence says it all. */
function songSentenceFor(code: GatewayErrorCode, route: Route): string | undefined {
  const { withSong, doneOnce, takesRecording } = PLANS[route];
  switch (code) {
    case 'not-found':
      return withSong === undefined
        ? undefined
        : `The gateway no longer has this song, so it cannot ${withSong}. The files in the channel stay, /remix works with them, and Again under the song makes a new one.`;
    case 'exists':
      return doneOnce === undefined
        ? undefined
        : `The gateway has already ${doneOnce}, and does so once. The result stands further up in this channel.`;
    case 'unfetched':
      return takesRecording
        ? 'The gateway could not fetch your recording from this bot. Whoever runs this bot has to see to it that the gateway reaches it; then press Again.'
        : undefined;
    case 'blocked':
      return takesRecording
        ? 'The gateway declined this recording: it sounds like a work that exists, or its content rules forbid it. Please try another recording.'
        : undefined;
    default:
      return undefined;
  }
}
