/** Handles submitted forms, and loads the choices of their menus. */
import type { App, SlackViewAction } from '@slack/bolt';
import { z } from 'zod';
import { UserError } from '../../../core/errors.ts';
import { declarationOf } from '../../shared/command-line.ts';
import { formTarget } from '../../shared/target.ts';
import { call } from '../connection/client.ts';
import { renderPrivately } from '../deliver/private.ts';
import { slackErrorOf } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { unescapeSlack } from '../render/escape.ts';
import { choiceOption, FORM_CALLBACK, formOptions, MORE_OPTIONS, readMetadata } from '../render/modal.ts';
import { homeAnswer } from './home.ts';
import { viewOf } from './open-form.ts';
import { interactionSchema } from './payloads.ts';
import { type Acknowledgement, type ListenerTools, respond, toolsIn } from './respond.ts';

const menuSchema = z.object({
  view: z.object({ private_metadata: z.string(), state: z.object({ values: z.unknown() }).optional() }),
  action_id: z.string(),
  value: z.string().catch(''),
});

const textSchema = z.object({ text: z.string() });
const openedSchema = z.object({
  view: menuSchema.shape.view.extend({
    id: z.string(),
    hash: z.string(),
    title: textSchema,
    submit: textSchema,
  }),
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

  app.action(MORE_OPTIONS, async ({ ack, body, context }) => {
    await ack();
    const { view } = openedSchema.parse(body);
    const metadata = readMetadata(view.private_metadata);
    if (metadata === undefined) return;
    const { address, form: id, home, files } = metadata;
    const tools = await toolsIn(context, shared, address.guild);
    const declared = declarationOf(formTarget(id), tools.bot.commands);
    if (declared === undefined) return;
    const initial = { ...files, ...formOptions(view.state?.values) };
    const form = {
      id,
      title: view.title.text,
      submitLabel: view.submit.text,
      options: declared.options,
      initial,
    };
    const expanded = viewOf(form, { address, home, expanded: true });
    if (expanded instanceof UserError) return;
    const update = { view_id: view.id, hash: view.hash, view: expanded };
    try {
      await call(() => tools.web.views.update(update), { repeatable: true }, tools);
    } catch (error) {
      tools.log.warn({ err: error, code: slackErrorOf(error) }, 'Could not show more fields of a form');
    }
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
