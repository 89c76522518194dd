/** The bot: what its commands do, and what platforms ask of it besides commands. */
import { home } from '../../commands/home/sections.ts';
import { suggestedPrompts } from '../../commands/home/suggested-prompts.ts';
import { commands } from '../../commands/index.ts';
import { type Bot, createBot } from '../core/bot/create-bot.ts';
import { toMessage, UserError } from '../core/errors.ts';
import { invocationKey } from '../core/job.ts';
import type { System } from '../core/system.ts';
import type { DecisionStore } from '../settings/decisions.ts';
import { type ContextParts, createEnter } from './context.ts';

export interface BotParts extends ContextParts, Pick<System, 'log'> {
  readonly decisions: Pick<DecisionStore, 'read'>;
  readonly newReference: () => string;
}

export function assembleBot(parts: BotParts): Bot {
  const { decisions, storage, jobs, log, newReference } = parts;
  const enter = createEnter(parts);

  return createBot({
    commands,
    enter,
    newReference,
    log,

    async home({ address, person: asking }) {
      try {
        const { person, context } = await enter({ address, person: asking });
        return await home({ person, address, context, commands });
      } catch (error) {
        return [toMessage(error, { log, reference: newReference() })];
      }
    },

    async prompts(asking) {
      const isAllowed = (command: string) =>
        enter({ ...asking, command }).then(
          () => true,
          (error: unknown) => {
            if (error instanceof UserError) return false;
            throw error;
          },
        );
      try {
        const { context } = await enter(asking);
        return await suggestedPrompts({ context, commands, isAllowed });
      } catch (error) {
        log.warn({ err: error }, 'What a person could say cannot be suggested');
        return [];
      }
    },

    async talks(address) {
      try {
        return (await decisions.read(address)).channel.talk ?? false;
      } catch (error) {
        log.warn({ err: error }, 'Whether each message is a question cannot be read; it is none');
        return false;
      }
    },

    async cancelRunning({ address, person: { id: person } }) {
      try {
        for (const job of await storage.jobs.running(address, person))
          if (job.address.thread === address.thread) await jobs.cancel(job.id, person);
      } catch (error) {
        log.error({ err: error }, 'What runs in a thread could not be cancelled');
      }
    },

    async withdraw({ platform, id }) {
      try {
        const job = await storage.jobs.ofInvocation(invocationKey(platform, id));
        if (job) await jobs.cancel(job.id, job.person.id);
      } catch (error) {
        log.error({ err: error }, 'What a deleted message asked for could not be cancelled');
      }
    },
  });
}
