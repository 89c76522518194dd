/** Pressed buttons. */
import type { App } from '@slack/bolt';
import { z } from 'zod';
import type { Invocation } from '../../../command.ts';
import { answer } from '../answering.ts';
import { actionOf, interactionAddress, interactionSchema } from '../invocations.ts';
import { homeOf, pressInHome } from './home.ts';
import { type ListenerTools, toolsIn, who } from './tools.ts';

export function listenToButtons(app: App, shared: ListenerTools): void {
  app.action(/.*/, async ({ ack, body, payload, context }) => {
    const home = homeOf(body);
    if (home !== undefined) return pressInHome({ body, payload, context, ack: () => ack() }, home, shared);
    const interaction = interactionSchema.parse(body);
    const { value, action_id: id } = z
      .object({ value: z.string().optional(), action_id: z.string() })
      .parse(payload);
    const target = actionOf(value ?? id);
    // A button that opens a page, or a menu inside a form: there is nothing to do.
    if (target === undefined) return ack();
    const tools = await toolsIn(context, shared);
    const identity = await tools.identity.read();
    const invocation = tools.persons.find(interaction.user.id, interaction.user.username).then(
      (known): Invocation => ({
        id: interaction.trigger_id ?? `${interaction.user.id}:${value}`,
        ...target,
        options: {},
        address: interactionAddress(interaction, identity, tools.now()),
        ...who(known),
      }),
    );
    await answer(
      invocation,
      { acknowledge: { silently: () => ack() }, triggerId: interaction.trigger_id },
      tools,
    );
  });
}
