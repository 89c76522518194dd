/** What becomes of the posts of a run that another run overtook. */
import { isDeepStrictEqual } from 'node:util';
import type { Job } from '../../core/job.ts';
import type { Posted } from '../../platforms/platform.ts';
import type { EventOf, JobEvent } from '../events.ts';

type PostEvent = EventOf<'recorded'> & { readonly fields: { readonly posted: Posted } };

export const isPost = (event: JobEvent): event is PostEvent =>
  event.type === 'recorded' && event.fields.posted !== undefined;

/** The events of a run that knows the record `before`, as they apply to the newest one. */
export function afterOvertaking(events: readonly JobEvent[], before: Job, newest: Job): readonly JobEvent[] {
  const isShownAgain = newest.shown !== before.shown || !isDeepStrictEqual(newest.posted, before.posted);
  return isShownAgain ? events.flatMap(withoutPosts) : events;
}

/** Posts of a run that was overtaken never replace the posts of the run that overtook it. */
function withoutPosts(event: JobEvent): JobEvent[] {
  if (!isPost(event)) return [event];
  const { posted, shown: _, ...fields } = event.fields;
  return [
    { type: 'recorded', fields },
    { type: 'overtaken', posted },
  ];
}
