import { type Context, defineCommand } from '../src/command.ts';
import { actionId, type Button, type Message, plain } from '../src/message.ts';
import type { JobState, JobView } from '../src/work.ts';
import { duration } from './text.ts';

/** Buttons that fit on every platform, half of them for each list. */
const MOST_LISTED = 10;

const STAGES = {
  accepted: 'about to begin',
  submitting: 'being asked for',
  waiting: 'at the gateway',
  ready: 'on its way to you',
  delivered: 'delivered',
  failed: 'failed',
  expired: 'not finished in time',
  cancelled: 'cancelled',
} as const satisfies Record<JobState, string>;

export const jobs = defineCommand({
  name: 'jobs',
  description: 'What is running for you here, with a way to cancel it, and what could not be shown',
  options: {},
  answersPrivately: true,

  async run(_invocation, context) {
    const [running, unplaced] = await Promise.all([
      context.jobs.running(),
      context.jobs.unplaced(MOST_LISTED / 2),
    ]);
    return { type: 'message', visibility: 'person', message: list(running, unplaced, context) };
  },
});

function list(
  running: readonly JobView[],
  unplaced: readonly JobView[],
  { now }: Pick<Context, 'now'>,
): Message {
  const listed = running.slice(0, MOST_LISTED - unplaced.length);
  const more = running.length - listed.length;
  const lines = [
    ...(running.length === 0 ? ['Nothing is running for you here.'] : []),
    ...listed.map((job, index) => `${index + 1}\\. ${runningLine(job, now())}`),
    ...(more > 0 ? [`And ${more} more.`] : []),
    ...(unplaced.length > 0 ? ['These I could not show where you asked for them:'] : []),
    ...unplaced.map((job, index) => `${listed.length + index + 1}\\. ${unplacedLine(job, now())}`),
  ];
  const actions: Button[] = [
    ...listed.flatMap((job, index) =>
      // What is on its way cannot be held back any more.
      job.state === 'ready' ? [] : [button(job, 'cancel', `Cancel ${index + 1}`)],
    ),
    ...unplaced.map((job, index) => button(job, 'show', `Show ${listed.length + index + 1} here`)),
  ];
  return {
    ...(actions.length > 0 ? { title: 'Your jobs', actions } : {}),
    text: lines.join('\n\n'),
  };
}

function runningLine({ title, state, queuePlace, createdAt }: JobView, now: number): string {
  const stage = queuePlace === undefined ? STAGES[state] : `place ${queuePlace} in the queue`;
  return `**${plain(title)}**: ${stage}, for ${duration((now - createdAt) / 1000)}`;
}

function unplacedLine({ title, state, createdAt }: JobView, now: number): string {
  const end = state === 'delivered' ? 'finished' : STAGES[state];
  return `**${plain(title)}**: ${end}, asked for ${inWords(now - createdAt)} ago`;
}

function inWords(milliseconds: number): string {
  const minutes = Math.max(1, Math.round(milliseconds / 60_000));
  const [count, unit] =
    minutes < 90
      ? [minutes, 'minute']
      : minutes < 48 * 60
        ? [Math.round(minutes / 60), 'hour']
        : [Math.round(minutes / (24 * 60)), 'day'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function button({ command, id }: JobView, action: 'cancel' | 'show', label: string): Button {
  return { type: 'action', id: actionId({ command, action, job: id, index: 0 }), label };
}
