/** What people read when a job ends without its result. */
import { hasWholeResult, type Job } from '../../core/job.ts';
import { actionId, type Button, type Message } from '../../core/message.ts';
import {
  CANCELLED_FINISHED_SENTENCE,
  CANCELLED_SENTENCE,
  EXPIRED_SENTENCE,
  RESTORED_NOTE,
  UNCERTAIN_EXPIRED_SENTENCE,
  UNREADABLE_SENTENCE,
} from '../sentences.ts';

export function again({ command, id }: Job): Button {
  return { type: 'action', id: actionId({ command, action: 'again', job: id, index: 0 }), label: 'Again' };
}

export function endMessage(job: Job): Message {
  const message = messageOfEnd(job);
  if (!job.restored || job.end === 'cancelled') return message;
  return { ...message, footer: [RESTORED_NOTE, message.footer].filter(Boolean).join(' · ') };
}

function messageOfEnd(job: Job): Message {
  switch (job.end) {
    case 'cancelled': {
      if (!hasWholeResult(job)) return { text: CANCELLED_SENTENCE, actions: [again(job)] };
      const offer: Button = {
        type: 'action',
        id: actionId({ command: job.command, action: 'show', job: job.id, index: 0 }),
        label: 'Show it',
        emphasis: 'primary',
      };
      return { text: CANCELLED_FINISHED_SENTENCE, actions: [offer, again(job)] };
    }
    case 'expired':
      return { ...expiredText(job), actions: [again(job)], notify: 'incomplete' };
    default:
      return {
        text: job.failure?.sentence ?? 'This did not work out.',
        ...(job.failure ? { footer: `Reference ${job.failure.reference}` } : {}),
        actions: [again(job)],
      };
  }
}

function expiredText({ id, unreadable, uncertain }: Job): Pick<Message, 'text' | 'footer'> {
  if (unreadable) return { text: UNREADABLE_SENTENCE, footer: `Reference ${id}` };
  return { text: uncertain ? UNCERTAIN_EXPIRED_SENTENCE : EXPIRED_SENTENCE };
}
