import { defineCommand } from '../src/command.ts';
import { actionId, plain } from '../src/message.ts';
import type { JobState } from '../src/work.ts';
import { duration } from './text.ts';

/** Buttons that fit on every platform. */
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
  description: 'What is running for you here, with a way to cancel it',
  options: {},
  answersPrivately: true,

  async run(_invocation, context) {
    const running = await context.jobs.running();
    if (running.length === 0) {
      return { type: 'message', visibility: 'person', message: { text: 'Nothing is running for you here.' } };
    }
    const listed = running.slice(0, MOST_LISTED);
    const lines = listed.map(({ title, state, createdAt }, index) => {
      const seconds = (context.now() - createdAt) / 1000;
      return `${index + 1}\\. **${plain(title)}**: ${STAGES[state]}, for ${duration(seconds)}`;
    });
    const more = running.length > listed.length ? [`And ${running.length - listed.length} more.`] : [];
    return {
      type: 'message',
      visibility: 'person',
      message: {
        title: 'Running for you here',
        text: [...lines, ...more].join('\n\n'),
        actions: listed.map((job, index) => ({
          type: 'action',
          id: actionId({ command: job.command, action: 'cancel', job: job.id, index: 0 }),
          label: `Cancel ${index + 1}`,
        })),
      },
    };
  },
});
