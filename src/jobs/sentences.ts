/** Messages for failed work: what happened, and what to do. */

import { timeText } from '../core/util/moment.ts';
import { counted } from '../core/util/words.ts';
import type { Work } from '../core/work.ts';
import type { GatewayErrorCode } from '../gateway/transport/errors.ts';
import type { MediaError } from '../media/errors.ts';
import { PLANS } from './route-plans.ts';

const SENTENCES = {
  credits: "The service is out of credits. Ask the bot's operator to top it up, then press Again.",
  rate: 'The service is too busy right now. Press Again in a few minutes.',
  auth: "The service rejected this bot's key. Ask the bot's operator to check it, then press Again.",
  forbidden: "The service doesn't allow this bot to use this model. Try another one.",
  invalid: 'The service rejected this request. Change it and try again.',
  'too-long': 'The service rejected this: the text is too long. Shorten it and try again.',
  blocked: 'The service declined this because of its content rules. Rephrase it and try again.',
  copyright: 'The service declined this because the lyrics are copyrighted. Use your own words.',
  artist: 'The service declined this because it names an artist. Describe the style instead.',
  'not-found': 'The service no longer has this model or song. Choose another.',
  exists: "The service has already created this and won't create it again. Look for the result further up.",
  maintenance: 'The service is under maintenance. Press Again later.',
  unfetched:
    "The service couldn't fetch a file it needs. Press Again. If that doesn't help, tell the bot's operator.",
  unread:
    "I couldn't read a reference image, so I haven't started. Nothing was spent. Press Again in a few minutes.",
  'not-made': "The service couldn't create this. Press Again, or rephrase it.",
  refunded: "The service couldn't create this and refunded the credits. Press Again, or rephrase it.",
  cancelled: 'The service cancelled this before it was finished. Press Again to retry.',
  unavailable: 'The service is unavailable right now. Nothing was spent. Press Again in a few minutes.',
  timeout: 'The service took too long to answer. Press Again to retry.',
  network: 'I lost the connection to the service. Press Again to retry.',
  nonsense: "The service's answer contained no result. Press Again to retry.",
  'no-api':
    "The service's address leads to a web page, not to the service. Ask the bot's operator to check the address.",
  'no-service':
    "This bot no longer has a service for this. Ask the bot's operator to set one (/minstrel help shows what is missing).",
  'no-images': "This model can't read images. Ask without images, or choose another model.",
  aborted: 'This was stopped.',
  'broken-stream': 'The answer was cut off. Press Again to retry.',
  stalled: 'The answer stopped arriving. Press Again to retry.',
} as const satisfies Record<GatewayErrorCode, string>;

/** For a Retry-After that is too long to wait. */
export function retryLaterSentence(code: GatewayErrorCode, waitMs: number, now: number): string {
  const minutes = Math.ceil(waitMs / 60_000);
  const wait = minutes < 120 ? counted(minutes, 'minute') : counted(Math.round(minutes / 60), 'hour');
  const what = code === 'maintenance' ? 'is under maintenance' : 'is too busy right now';
  return `The service ${what}. It asks me to wait until ${timeText(now + waitMs)} (about ${wait}). Nothing was spent. Press Again after that.`;
}

/** The message for a gateway error, specific to the kind of work if possible. */
export function sentenceFor(code: GatewayErrorCode, work?: FailedWork): string {
  return (work && routeSentenceFor(code, work)) ?? SENTENCES[code];
}

interface FailedWork extends Pick<Work, 'route'> {
  /** Reference images. */
  readonly images?: readonly unknown[];
}

const uncertain = (reason: string) =>
  `${reason}, so I don't know whether it accepted this request. To be safe, I didn't send it twice. Pressing Again sends a new request, which may be charged too.`;

export const UNCERTAIN_SENTENCE = uncertain('I lost the connection to the service');

/** For requests that the gateway may have accepted and that have no callback. */
export function uncertainSentence(code: GatewayErrorCode): string {
  switch (code) {
    case 'no-api':
      return "The service's address returned a web page, so I don't know whether it accepted this request. To be safe, I didn't send it twice. Ask the bot's operator to check the address, then press Again.";
    case 'nonsense':
      return "The service answered without a result. It may charge for this, so I didn't ask twice. Pressing Again sends a new request, which may be charged too.";
    case 'timeout':
      return uncertain('The service took too long to answer');
    case 'unavailable':
      return uncertain('The service reported an error');
    default:
      return UNCERTAIN_SENTENCE;
  }
}

/** For jobs that had not been submitted when the backup was made. */
export const RESTORED_SENTENCE =
  "I was restored from a backup made before I started this, so I don't know whether it finished. To be safe, I didn't start it a second time.";

/** The channel may show a result from after the backup. */
export const RESTORED_NOTE = 'If you already have the result, nothing is missing. If not, press Again';

export const NOT_ACKNOWLEDGED_SENTENCE =
  "I couldn't respond in time, so I didn't start. Nothing was spent. Press Again to retry.";

export const INTERRUPTED_SENTENCE = 'I was restarted in the middle of this. Press Again to start over.';

export const TOO_LATE_SENTENCE =
  "I couldn't start this within a day, so I dropped it. Nothing was spent. Press Again to retry.";

export const LOST_TASK_SENTENCE =
  "The service lost track of this video. If it turns up, I'll post it here. Pressing Again creates a new one, which is charged too.";

export const EXPIRED_SENTENCE =
  "The service didn't finish this in time. If it still does, the result will appear here. Pressing Again starts a new one, which may be charged too.";

/** At the deadline of a request that the gateway may not have accepted. */
export const UNCERTAIN_EXPIRED_SENTENCE =
  "I lost the service's reply, and the service sent no result, so it probably didn't accept this request. If it did, the result will appear here. Pressing Again starts a new one, which may be charged too.";

/** At the deadline, if callbacks arrived but none could be parsed. */
export const UNREADABLE_SENTENCE =
  "The service sent a result that I couldn't read. If a readable one arrives, it will appear here. Give the bot's operator the reference below.";

export const CANCELLED_SENTENCE = 'Cancelled.';

export const CANCELLED_FINISHED_SENTENCE = 'This was cancelled, but the service had already finished it.';

/** True if our own storage failed, so that the operator can help. */
export function isStorageFault({ code }: MediaError): boolean {
  return code === 'disk-full' || code === 'store';
}

export function notStoredSentence(error: MediaError): string {
  return isStorageFault(error)
    ? "The service created this, but I can't store files right now. Tell the bot's operator, then press Again."
    : "The service's answer wasn't an image. Press Again to retry.";
}

/** While the files may still arrive. */
export function waitingSentence(names: string, error: MediaError | undefined): string {
  return error && isStorageFault(error)
    ? `Created, but not here yet: ${names}. I can't store files right now, but I'll keep trying. If this lasts, tell the bot's operator.`
    : `Created, but not here yet: ${names}. The download isn't working right now, but I'll keep trying.`;
}

export function lostSentence(names: string): string {
  return `The service created ${names}, but the download failed. Pressing Again starts a new one, which may be charged too.`;
}

/** For the last resort: the gateway's temporary URLs. */
export function linkedFilesSentence(names: string): string {
  return `I couldn't store ${names}. Links from the service expire in a few days, so download them soon.`;
}

/** A message specific to the kind of work; undefined if the general one fits. */
function routeSentenceFor(code: GatewayErrorCode, { route, images = [] }: FailedWork): string | undefined {
  const { withSong, doneOnce, downloads, fixed } = PLANS[route];
  switch (code) {
    case 'not-found':
      return withSong === undefined
        ? undefined
        : `The service no longer has this song, so it can't ${withSong}. The files in the channel still work with /remix. To create the song again, press Again under the song.`;
    case 'exists':
      return doneOnce === undefined
        ? undefined
        : `The service has already ${doneOnce} and won't do it again. The result is further up.`;
    case 'unfetched':
      return downloads === undefined
        ? undefined
        : "The service couldn't download a file from this bot. Ask the bot's operator to check that PUBLIC_URL is reachable from outside, then press Again.";
    case 'blocked':
    case 'artist':
      if (fixed)
        return `The service declined this song because of its content rules, so it can't ${withSong}. Try another song.`;
      return downloads === 'recording' && code === 'blocked'
        ? 'The service declined this because of its content rules. Rephrase it, or try another recording.'
        : undefined;
    case 'copyright':
      if (downloads === 'recording')
        return 'The service declined this because the recording or the lyrics match an existing work. Use your own recording and lyrics.';
      return fixed
        ? `The service declined this song because it matches an existing work, so it can't ${withSong}. Try another song.`
        : undefined;
    case 'invalid':
    case 'too-long':
    case 'not-made':
      return fixed
        ? `The service received this song, but couldn't ${withSong}. Press Again, or try another take.`
        : undefined;
    // Without references, the request contains no images: the model can't return any.
    case 'no-images':
      if (route !== 'gen.image') return undefined;
      return images.length > 0
        ? "This model can't create images from other images. Choose another model."
        : "This model can't create images. Choose another model.";
    case 'refunded':
      return fixed
        ? `The service received this song, but couldn't ${withSong}, and refunded the credits. Press Again to retry.`
        : undefined;
    default:
      return undefined;
  }
}
