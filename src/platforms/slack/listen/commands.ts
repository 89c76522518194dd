/** Slash commands. */
import type { App } from '@slack/bolt';
import type { AnyCommand, Invocation } from '../../../command.ts';
import { toMessage, UserError } from '../../../errors.ts';
import { type Acknowledgement, answer, openForm } from '../answering.ts';
import { commandForm } from '../forms.ts';
import { slashAddress, slashSchema } from '../invocations.ts';
import { readTyped } from '../slash.ts';
import { privateParts } from '../whisper.ts';
import { type ListenerTools, toolsIn, who } from './tools.ts';

export function listenToCommand(app: App, command: AnyCommand, shared: ListenerTools): void {
  app.command(`/${command.name}`, async ({ ack, body, context }) => {
    const tools = await toolsIn(context, shared);
    const slash = slashSchema.parse(body);
    const address = slashAddress(slash, tools.now());
    const acknowledge: Acknowledgement = {
      silently: () => ack(),
      privately: ({ text, blocks }) => ack({ response_type: 'ephemeral', text, blocks }),
    };
    try {
      const typed = readTyped(command, slash.text);
      if (typed.type === 'form') {
        await ack();
        const { subcommand } = typed;
        await openForm(
          commandForm(command, subcommand === undefined ? {} : { subcommand }),
          address,
          slash.trigger_id,
          tools,
        );
        return;
      }
      const invocation = tools.persons.find(slash.user_id, slash.user_name).then(
        (known): Invocation => ({
          id: slash.trigger_id,
          command: command.name,
          ...(typed.subcommand === undefined ? {} : { subcommand: typed.subcommand }),
          options: typed.options,
          address,
          ...who(known),
        }),
      );
      await answer(invocation, { acknowledge, triggerId: slash.trigger_id }, tools);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const [part] = privateParts(
        address,
        toMessage(error, { log: tools.log, reference: slash.trigger_id }),
        tools.media,
      );
      if (part !== undefined) await acknowledge.privately?.(part);
    }
  });
}
