/** What Bolt passes on, and what becomes of it. */
import type { App, SlackViewAction } from '@slack/bolt';
import { z } from 'zod';
import type { AnyCommand, Invocation } from '../../command.ts';
import { toMessage, UserError } from '../../errors.ts';
import { type Acknowledgement, type AnsweringTools, answer, openForm } from './answering.ts';
import {
  CONVERSATION_COMMAND,
  createEventMemory,
  filesOf,
  isFromPerson,
  spoken,
  type Talk,
  talkOptions,
  talkSchema,
  turnsBefore,
} from './conversation.ts';
import { unescapeSlack } from './escape.ts';
import { commandForm, formTarget, optionsOf } from './forms.ts';
import type { IdentityReader } from './identity.ts';
import {
  actionOf,
  interactionAddress,
  interactionSchema,
  PLATFORM_NAME,
  slashAddress,
  slashSchema,
} from './invocations.ts';
import { LIMITS } from './limits.ts';
import { choiceOption, FORM_CALLBACK, fileReference, formOptions, formView, readMetadata } from './modal.ts';
import type { KnownPerson, Persons } from './persons.ts';
import { GLOBAL_SHORTCUT, MESSAGE_SHORTCUT } from './shortcuts.ts';
import { readTyped } from './slash.ts';
import { privateParts } from './whisper.ts';

export interface ListenerTools extends AnsweringTools {
  readonly now: () => number;
  readonly identity: IdentityReader;
  readonly persons: Persons;
}

/** Registers everything that the bot answers to. */
export function listen(app: App, tools: ListenerTools): void {
  const commands = new Map(tools.bot.commands.map((command) => [command.name, command]));
  for (const command of commands.values()) listenToCommand(app, command, tools);
  listenToButtons(app, tools);
  listenToForms(app, commands, tools);
  listenToShortcuts(app, commands, tools);
  const talkative = commands.get(CONVERSATION_COMMAND);
  if (talkative !== undefined) listenToTalk(app, talkative, tools);
}

function who({ person, locale }: KnownPerson): Pick<Invocation, 'person' | 'locale'> {
  return { person, ...(locale === undefined ? {} : { locale }) };
}

function listenToCommand(app: App, command: AnyCommand, tools: ListenerTools): void {
  app.command(`/${command.name}`, async ({ ack, body }) => {
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

function listenToButtons(app: App, tools: ListenerTools): void {
  app.action(/.*/, async ({ ack, body, payload }) => {
    const interaction = interactionSchema.parse(body);
    const { value, action_id: id } = z
      .object({ value: z.string().optional(), action_id: z.string() })
      .parse(payload);
    const target = actionOf(value ?? id);
    // A button that opens a page, or a menu inside a form: there is nothing to do.
    if (target === undefined) return ack();
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

function listenToForms(app: App, commands: ReadonlyMap<string, AnyCommand>, tools: ListenerTools): void {
  app.view<SlackViewAction>(FORM_CALLBACK, async ({ ack, body, view }) => {
    const interaction = interactionSchema.parse(body);
    const metadata = readMetadata(view.private_metadata);
    if (body.type !== 'view_submission' || metadata === undefined) return ack();
    const { address, form } = metadata;
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
      withForm: (next) => ack({ response_action: 'update', view: formView(next, address) }),
    };
    await answer(invocation, { acknowledge, triggerId: interaction.trigger_id }, tools);
  });

  app.options(/.*/, async ({ ack, body, payload }) => {
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

function listenToShortcuts(app: App, commands: ReadonlyMap<string, AnyCommand>, tools: ListenerTools): void {
  const messageSchema = z.object({
    message: z.object({ text: z.string().catch(''), files: z.array(z.unknown()).catch([]) }).optional(),
  });

  app.shortcut(/.*/, async ({ ack, body, payload }) => {
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

function listenToTalk(app: App, command: AnyCommand, tools: ListenerTools): void {
  const isNew = createEventMemory();
  const envelopeSchema = z.object({ event_id: z.string(), team_id: z.string().optional() });

  async function hear(
    body: unknown,
    event: unknown,
    inThread: (talk: Talk) => string | undefined,
  ): Promise<void> {
    const talk = talkSchema.parse(event);
    const { event_id: id, team_id: team } = envelopeSchema.parse(body);
    if (!isFromPerson(talk) || !isNew(id)) return;
    const identity = await tools.identity.read();
    const text = spoken(talk.text, identity);
    const files = filesOf(talk);
    if (text === '' && files.length === 0) return;
    const [known, conversation] = await Promise.all([
      tools.persons.find(talk.user),
      turnsBefore(talk, identity, tools),
    ]);
    const thread = inThread(talk);
    const invocation: Invocation = {
      id,
      command: command.name,
      options: talkOptions(command, text, files),
      address: {
        platform: PLATFORM_NAME,
        guild: team ?? identity.team,
        channel: talk.channel,
        person: talk.user,
        ...(thread === undefined ? {} : { thread }),
      },
      ...who(known),
      ...(conversation.length > 0 ? { conversation } : {}),
    };
    // Bolt acknowledges events before it passes them on.
    await answer(invocation, { acknowledge: { silently: async () => {} }, triggerId: undefined }, tools);
  }

  app.event('app_mention', ({ body, event }) => hear(body, event, ({ thread_ts, ts }) => thread_ts ?? ts));
  app.event('message', async ({ body, event }) => {
    if (event.channel_type === 'im') await hear(body, event, ({ thread_ts }) => thread_ts);
  });
}
