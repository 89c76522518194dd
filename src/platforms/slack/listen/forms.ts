/** Sent forms, and menus in forms that load what they offer. */
import type { App, SlackViewAction } from '@slack/bolt';
import { z } from 'zod';
import type { AnyCommand, Invocation } from '../../../command.ts';
import { type Acknowledgement, answer } from '../answering.ts';
import { unescapeSlack } from '../escape.ts';
import { formTarget, optionsOf } from '../forms.ts';
import { interactionSchema } from '../invocations.ts';
import { LIMITS } from '../limits.ts';
import { choiceOption, FORM_CALLBACK, formOptions, formView, readMetadata } from '../modal.ts';
import { privateParts } from '../whisper.ts';
import { homePlace, noticeIn } from './home.ts';
import { type ListenerTools, toolsIn, who } from './tools.ts';

export function listenToForms(
  app: App,
  commands: ReadonlyMap<string, AnyCommand>,
  shared: ListenerTools,
): void {
  app.view<SlackViewAction>(FORM_CALLBACK, async ({ ack, body, view, context }) => {
    const tools = await toolsIn(context, shared);
    const interaction = interactionSchema.parse(body);
    const metadata = readMetadata(view.private_metadata);
    if (body.type !== 'view_submission' || metadata === undefined) return ack();
    const { address, form, home } = metadata;
    const invocation = tools.persons.find(interaction.user.id, interaction.user.username).then(
      (known): Invocation => ({
        // A trigger id is new each time a form is sent, also when the same form is sent again after a correction.
        id: interaction.trigger_id ?? view.id,
        ...formTarget(form),
        options: formOptions(view.state.values),
        address,
        ...who(known),
      }),
    );
    const fields = new Set(view.blocks.map((block) => block.block_id));
    const acknowledge: Acknowledgement = {
      silently: () => ack(),
      besideField: async (option, sentence) => {
        if (!fields.has(option)) return false;
        const [part] = privateParts(address, sentence, tools.media);
        await ack({ response_action: 'errors', errors: { [option]: unescapeSlack(part?.text ?? '') } });
        return true;
      },
      withForm: (next) =>
        ack({ response_action: 'update', view: formView(next, address, home ? { home } : {}) }),
    };
    const asked = { acknowledge, triggerId: interaction.trigger_id };
    await answer(
      invocation,
      home ? { ...asked, home: noticeIn(homePlace(address, home), tools) } : asked,
      tools,
    );
  });

  app.options(/.*/, async ({ ack, body, payload, context }) => {
    const tools = await toolsIn(context, shared);
    const interaction = interactionSchema.parse(body);
    const { view } = z.object({ view: z.object({ private_metadata: z.string() }) }).parse(body);
    const { action_id: option, value: typed } = z
      .object({ action_id: z.string(), value: z.string().catch('') })
      .parse(payload);
    const metadata = readMetadata(view.private_metadata);
    if (metadata === undefined) return ack({ options: [] });
    const { command, subcommand } = formTarget(metadata.form);
    const { person } = await tools.persons.find(interaction.user.id, interaction.user.username);
    const request = {
      command,
      option,
      typed,
      address: metadata.address,
      person,
      ...(subcommand === undefined ? {} : { subcommand }),
    };
    const choices = await tools.bot.suggest(request);
    const declared = commands.get(command);
    const anything = declared !== undefined && optionsOf(declared, subcommand)[option]?.type === 'text';
    // Any text is allowed, so what was typed is offered too.
    const own = anything && typed.trim() !== '' ? [{ name: typed, value: typed }] : [];
    const offered = [...choices, ...own].filter(
      ({ value }) => value !== '' && value.length <= LIMITS.optionValue,
    );
    const once = offered.filter(
      ({ value }, index) => offered.findIndex((other) => other.value === value) === index,
    );
    await ack({ options: once.slice(0, LIMITS.options).map(({ name, value }) => choiceOption(name, value)) });
  });
}
