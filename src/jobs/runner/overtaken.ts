/** Handles messages posted by a run after another run had taken over. */
import { isDeepStrictEqual } from 'node:util';
import type { Job } from '../../core/job.ts';
import type { PostState } from '../../platforms/platform.ts';
import type { EventOf, JobEvent } from '../events.ts';

type PostEvent = EventOf<'recorded'> & { readonly fields: { readonly posted: PostState } };

export const isPost = (event: JobEvent): event is PostEvent =>
  event.type === 'recorded' && event.fields.posted !== undefined;

/** Adapts the events of a run based on the record `before` to the newest record. */
export function rebaseEvents(events: readonly JobEvent[], before: Job, newest: Job): readonly JobEvent[] {
  const isShownAgain = newest.shown !== before.shown || !isDeepStrictEqual(newest.posted, before.posted);
  return isShownAgain ? events.flatMap(withoutPosts) : events;
}

/** Keeps the messages of an overtaken run from replacing those of the run that took over. */
function withoutPosts(event: JobEvent): JobEvent[] {
  if (!isPost(event)) return [event];
  const { posted, shown: _, ...fields } = event.fields;
  return [
    { type: 'recorded', fields },
    { type: 'overtaken', posted },
  ];
}
