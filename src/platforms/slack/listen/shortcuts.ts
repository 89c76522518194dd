/** Shortcuts: from a message's menu, and from everywhere. */
import type { App } from '@slack/bolt';
import { z } from 'zod';
import type { AnyCommand } from '../../../command.ts';
import { openForm } from '../answering.ts';
import { spoken, talkOptions } from '../conversation.ts';
import { commandForm } from '../forms.ts';
import { interactionAddress, interactionSchema } from '../invocations.ts';
import { fileReference } from '../modal.ts';
import { GLOBAL_SHORTCUT, MESSAGE_SHORTCUT } from '../shortcuts.ts';
import { type ListenerTools, toolsIn } from './tools.ts';

export function listenToShortcuts(
  app: App,
  commands: ReadonlyMap<string, AnyCommand>,
  shared: ListenerTools,
): void {
  const messageSchema = z.object({
    message: z.object({ text: z.string().catch(''), files: z.array(z.unknown()).catch([]) }).optional(),
  });

  app.shortcut(/.*/, async ({ ack, body, payload, context }) => {
    const tools = await toolsIn(context, shared);
    await ack();
    const interaction = interactionSchema.parse(body);
    const { callback_id: callback } = payload;
    const name = [MESSAGE_SHORTCUT, GLOBAL_SHORTCUT].find((prefix) => callback.startsWith(prefix));
    const command = commands.get(callback.slice(name?.length ?? 0));
    if (command === undefined) return;
    const identity = await tools.identity.read();
    const address = interactionAddress(interaction, identity, tools.now());
    const { message } = messageSchema.parse(body);
    const option = command.messageMenu?.option;
    const files = (message?.files ?? []).map(fileReference).filter((file) => file !== undefined);
    const initial =
      message === undefined || option === undefined
        ? {}
        : { ...talkOptions(command, '', files), [option]: spoken(message.text, identity) };
    await openForm(commandForm(command, { initial }), address, interaction.trigger_id, tools);
  });
}
