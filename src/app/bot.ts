/** Builds the bot from commands and the tools for platform events. */
import { home } from '../../commands/home/sections.ts';
import { suggestedPrompts } from '../../commands/home/suggested-prompts.ts';
import { commandsFor, familyOfCommand } from '../../commands/index.ts';
import { type Bot, type BotOptions, createBot } from '../core/bot/create-bot.ts';
import { invocationKey } from '../core/job.ts';
import { FAMILY_SETTINGS } from '../core/models/family.ts';
import type { DecisionStore } from '../settings/decisions.ts';
import { type ContextParts, createEnter } from './context.ts';

export interface BotParts extends ContextParts, Pick<BotOptions, 'newReference' | 'log'> {
  readonly decisions: Pick<DecisionStore, 'read'>;
}

export function assembleBot(parts: BotParts): Bot {
  const { decisions, storage, jobs, newReference, log } = parts;
  const commands = commandsFor(parts);
  return createBot({
    commands,
    enter: createEnter(parts),
    newReference,
    log,
    settingFor: (name) => {
      const family = familyOfCommand(name);
      return family && FAMILY_SETTINGS[family];
    },
    home: ({ person, context }, address) => home({ person, address, context, commands }),
    prompts: ({ context }, isAllowed) => suggestedPrompts({ context, commands, isAllowed }),
    answersEveryMessage: async (address) => (await decisions.read(address)).channel.talk ?? false,

    async cancelRunning({ address, person: { id: person } }) {
      for (const job of await storage.jobs.running(address, person))
        if (job.address.thread === address.thread) await jobs.cancel(job.id, person);
    },

    async withdraw({ platform, id }) {
      const job = await storage.jobs.ofInvocation(invocationKey(platform, id));
      if (job) await jobs.cancel(job.id, job.person.id);
    },
  });
}
