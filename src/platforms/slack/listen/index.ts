/** Registers everything that the bot answers to in Slack. */
import type { App } from '@slack/bolt';
import { CONVERSATION_COMMAND } from '../conversation.ts';
import { listenToButtons } from './buttons.ts';
import { listenToCommand } from './commands.ts';
import { listenToForms } from './forms.ts';
import { listenToHome } from './home.ts';
import { listenToRemoval } from './removal.ts';
import { listenToShortcuts } from './shortcuts.ts';
import { listenToTalk } from './talk.ts';
import type { ListenerTools } from './tools.ts';

export function listen(app: App, tools: ListenerTools): void {
  const commands = new Map(tools.bot.commands.map((command) => [command.name, command]));
  for (const command of commands.values()) listenToCommand(app, command, tools);
  listenToButtons(app, tools);
  listenToForms(app, commands, tools);
  listenToHome(app, tools);
  listenToShortcuts(app, commands, tools);
  listenToRemoval(app, tools);
  const talkative = commands.get(CONVERSATION_COMMAND);
  if (talkative !== undefined) listenToTalk(app, talkative, tools);
}
