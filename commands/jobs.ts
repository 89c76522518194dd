import { defineCommand } from '../src/core/bot/command.ts';
import { privately } from '../src/core/bot/outcome.ts';
import type { JobState, JobView } from '../src/core/job.ts';
import { type Button, button, type Field, type Message, plain } from '../src/core/message.ts';
import { duration, queuePositionText, timeAgo } from '../src/core/util/words.ts';
import { fieldLine } from './text/phrases.ts';

/** As many buttons as fit on every platform, half for each list. */
const MOST_LISTED = 10;

const NO_JOBS_HERE = 'You have no running jobs here.';

const STAGES = {
  accepted: 'starting',
  submitting: 'sending the request',
  waiting: 'running',
  ready: 'delivering the result',
  delivered: 'delivered',
  failed: 'failed',
  expired: 'timed out',
  cancelled: 'cancelled',
} as const satisfies Record<JobState, string>;

export const jobs = defineCommand({
  name: 'jobs',
  description: 'Your running jobs: cancel them, or show undelivered results',
  options: { all: { type: 'flag', description: 'Include jobs from other channels' } },
  alwaysAllowed: true,
  answersPrivately: true,

  async run({ options: { all = false } }, context) {
    const [running, undelivered] = await Promise.all([
      context.jobs.running({ everywhere: all }),
      context.jobs.undelivered(MOST_LISTED / 2),
    ]);
    return privately(
      list(running, undelivered, all ? 'You have no running jobs.' : NO_JOBS_HERE, context.now()),
    );
  },
});

/** Lists up to `most` running jobs, with buttons to cancel them. */
export function runningList(running: readonly JobView[], most: number, now: number) {
  const listed = running.slice(0, most);
  const more = running.length - listed.length;
  const label = (index: number) => (listed.length === 1 ? 'Cancel' : `Cancel ${index + 1}`);
  return {
    fields: listed.map(
      (job, index): Field => ({
        name: `${index + 1}. ${job.title}`,
        value: waitText(job, now) ?? `${stageOf(job)}, ${duration((now - job.createdAt) / 1000)} so far`,
      }),
    ),
    more: more > 0 ? `And ${more} more.` : undefined,
    actions: listed.flatMap((job, index) =>
      // A job that is being delivered can no longer be cancelled.
      job.state === 'ready'
        ? []
        : [{ ...button(job, 'cancel', label(index)), icon: 'cancel' as const, about: job.title }],
    ),
  };
}

function list(
  running: readonly JobView[],
  undelivered: readonly JobView[],
  emptyText: string,
  now: number,
): Message {
  const {
    fields,
    more,
    actions: cancelButtons,
  } = runningList(running, MOST_LISTED - undelivered.length, now);
  const number = (index: number) => fields.length + index + 1;
  const lines = [
    ...(running.length === 0 ? [emptyText] : []),
    ...fields.map(fieldLine),
    ...(more === undefined ? [] : [more]),
    ...(undelivered.length > 0
      ? ["I couldn't deliver these results where you requested them. Press a button to show them here:"]
      : []),
    ...undelivered.map((job, index) => `${number(index)}\\. ${undeliveredLine(job, now)}`),
  ];
  const actions: Button[] = [
    ...cancelButtons,
    ...undelivered.map((job, index) => ({
      ...button(job, 'show', `Show ${number(index)} here`),
      about: job.title,
    })),
  ];
  return {
    ...(actions.length > 0 ? { title: 'Your jobs', actions } : {}),
    text: lines.join('\n\n'),
  };
}

function stageOf({ state, end, queuePosition }: JobView): string {
  // Already cancelled for the requester, but the gateway has not answered yet.
  if (end === 'cancelled') return STAGES.cancelled;
  return queuePosition === undefined ? STAGES[state] : queuePositionText(queuePosition);
}

/** The reason for a wait and when it ends, if known. */
function waitText({ state, held, uncertain, deadlineAt = 0 }: JobView, now: number): string | undefined {
  const { asking = 0, showing = 0 } = held ?? {};
  const left = (until: number) => duration(Math.max(0, until - now) / 1000);
  if ((state === 'accepted' || state === 'waiting') && asking > now)
    return `waiting because the service is busy; next try in ${left(asking)}`;
  if ((state === 'accepted' || state === 'ready') && showing > now)
    return `${state === 'ready' ? 'finished; ' : ''}waiting because the chat platform is busy; next try in ${left(showing)}`;
  return state === 'waiting' && uncertain
    ? `the service may not have accepted it; waiting up to ${left(deadlineAt)} more`
    : undefined;
}

function undeliveredLine({ title, state, createdAt }: JobView, now: number): string {
  const end = state === 'delivered' ? 'finished' : STAGES[state];
  return `**${plain(title)}**: ${end}, requested ${timeAgo(createdAt, now)}`;
}
