/** What talk without commands asks of the bot: prompts, an end to what runs in a thread, and where each message is a question. */
import { suggestedPrompts } from '../../../commands/home/suggested-prompts.ts';
import { commands } from '../../../commands/index.ts';
import type { Bot } from '../../core/bot/bot.ts';
import type { Log } from '../../core/telemetry/log.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { type ContextParts, contextOf } from './context.ts';

interface TalkParts {
  readonly jobs: Pick<Jobs, 'running' | 'ofEvent' | 'cancel'>;
  readonly parts: ContextParts;
  readonly log: Log;
}

export function talkTools(
  { refusal }: Pick<Bot, 'refusal'>,
  { jobs, parts, log }: TalkParts,
): Required<Pick<Bot, 'prompts' | 'cancelRunning' | 'withdraw' | 'talks'>> {
  return {
    async talks(address) {
      try {
        return await parts.administration.talks(address);
      } catch (error) {
        log.warn({ err: error }, 'Whether each message is a question cannot be read; it is none');
        return false;
      }
    },

    async prompts({ address, person: platformPerson }) {
      try {
        const asking = { address, person: platformPerson };
        const admitted = await parts.administration.admit({ ...asking, command: 'minstrel' });
        return await suggestedPrompts({
          context: contextOf({ ...admitted, address, platformPerson }, parts),
          commands,
          isAllowed: async (command) => (await refusal({ ...asking, command })) === undefined,
        });
      } catch (error) {
        log.warn({ err: error }, 'What a person could say cannot be suggested');
        return [];
      }
    },

    async cancelRunning({ address, person: { id: person } }) {
      try {
        for (const job of await jobs.running(address, person))
          if (job.address.thread === address.thread) await jobs.cancel(job.id, person);
      } catch (error) {
        log.error({ err: error }, 'What runs in a thread could not be cancelled');
      }
    },

    async withdraw({ platform, id }) {
      try {
        const job = await jobs.ofEvent(platform, id);
        if (job) await jobs.cancel(job.id, job.person.id);
      } catch (error) {
        log.error({ err: error }, 'What a deleted message asked for could not be cancelled');
      }
    },
  };
}
