/** What Slack's agent view asks of the bot: prompts when a person opens it, and an end to what runs in a thread. */
import { commands } from '../../commands/index.ts';
import type { Bot } from '../core/bot.ts';
import type { Log } from '../core/log.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { type ContextParts, contextOf } from './context.ts';

interface AgentParts {
  readonly jobs: Pick<Jobs, 'running' | 'cancel'>;
  readonly parts: ContextParts;
  readonly log: Log;
}

export function agentTools(
  { refusal }: Pick<Bot, 'refusal'>,
  { jobs, parts, log }: AgentParts,
): Required<Pick<Bot, 'prompts' | 'cancelRunning'>> {
  return {
    async prompts({ address, person: platformPerson }) {
      try {
        const asking = { address, person: platformPerson };
        const admitted = await parts.administration.admit({ ...asking, command: 'minstrel' });
        const { suggestedPrompts } = await import('../../commands/suggested-prompts.ts');
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
  };
}
