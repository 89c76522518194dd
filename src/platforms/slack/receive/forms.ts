/** Handles submitted forms, and loads the choices of their menus. */
import type { App, SlackViewAction } from '@slack/bolt';
import { z } from 'zod';
import { declarationOf } from '../../shared/command-line.ts';
import { formTarget } from '../../shared/target.ts';
import { renderPrivately } from '../deliver/private.ts';
import { LIMITS } from '../limits.ts';
import { unescapeSlack } from '../render/escape.ts';
import { choiceOption, FORM_CALLBACK, formOptions, readMetadata } from '../render/modal.ts';
import { homeAnswer } from './home.ts';
import { interactionSchema } from './payloads.ts';
import { type Acknowledgement, type ListenerTools, respond, toolsIn } from './respond.ts';

const menuSchema = z.object({
  view: z.object({ private_metadata: z.string(), state: z.object({ values: z.unknown() }).optional() }),
  action_id: z.string(),
  value: z.string().catch(''),
});

export function listenToForms(app: App, shared: ListenerTools): void {
  app.view<SlackViewAction>(FORM_CALLBACK, async ({ ack, body, view, context }) => {
    const metadata = readMetadata(view.private_metadata);
    const tools = await toolsIn(context, shared, metadata?.address.guild);
    const { user, trigger_id: triggerId } = interactionSchema.parse(body);
    if (body.type !== 'view_submission' || metadata === undefined) return ack();
    const { address, form, home } = metadata;
    // Each submission has a new trigger ID, even of the same form after a correction.
    const id = triggerId ?? view.id;
    const options = { ...metadata.files, ...formOptions(view.state.values) };
    const acknowledge: Acknowledgement = {
      sentAt: tools.sentAt,
      silently: () => ack(),
      async atField(option, sentence) {
        if (!view.blocks.some((block) => block.block_id === option)) return false;
        const [part] = (await renderPrivately(address, sentence, tools)).parts;
        await ack({ response_action: 'errors', errors: { [option]: unescapeSlack(part?.text ?? '') } });
        return true;
      },
      withForm: (next) => ack({ response_action: 'update', view: next }),
    };
    const tab = home === undefined ? {} : { home: homeAnswer(address, home, tools) };
    const invocation = { id, ...formTarget(form), options, address };
    await respond(invocation, user, { acknowledge, triggerId, ...tab }, tools);
  });

  app.options(/.*/, async ({ ack, body, payload, context }) => {
    const { user } = interactionSchema.parse(body);
    const { view, action_id: option, value: typed } = menuSchema.parse({ ...body, ...payload });
    const metadata = readMetadata(view.private_metadata);
    const tools = await toolsIn(context, shared, metadata?.address.guild);
    if (metadata === undefined) return ack({ options: [] });
    const { address, form } = metadata;
    const { command, subcommand } = formTarget(form);
    const person = await tools.people.find(user.id, user.username);
    const { [option]: _replaced, ...options } = formOptions(view.state?.values);
    const choices = await tools.bot.suggest({ command, subcommand, option, typed, options, address, person });
    const declared = declarationOf({ command, subcommand }, tools.bot.commands)?.options[option];
    // A text option accepts any text, so the typed text is a choice too.
    const typedChoice = declared?.type === 'text' ? [{ name: typed, value: typed }] : [];
    const unique = [...choices, ...typedChoice].filter(
      ({ value }, index, all) =>
        value.trim() !== '' &&
        value.length <= LIMITS.optionValue &&
        all.findIndex((other) => other.value === value) === index,
    );
    await ack({
      options: unique.slice(0, LIMITS.options).map(({ name, value }) => choiceOption(name, value)),
    });
  });
}
