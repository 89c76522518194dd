/** Handles an interaction until its first response, within Discord's three seconds. */
import {
  ComponentType,
  type MessageContextMenuCommandInteraction,
  MessageFlags,
  type StringSelectMenuInteraction,
} from 'discord.js';
import { answersPrivately } from '../../../core/bot/command.ts';
import { type Outcome, privately } from '../../../core/bot/outcome.ts';
import { UserError } from '../../../core/errors.ts';
import type { Invocation } from '../../../core/invocation.ts';
import { type Message, plain } from '../../../core/message.ts';
import type { FileReference } from '../../../core/options.ts';
import { present } from '../../../core/util/present.ts';
import { declarationOf } from '../../shared/command-line.ts';
import { filledForm } from '../../shared/message-menu.ts';
import { ASK } from '../../shared/question.ts';
import { firstResponse } from '../connection/rest.ts';
import { textSending } from '../deliver/payload.ts';
import { errorKindOf } from '../errors.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import { alternateMenuId, OPEN_THREAD } from '../render/buttons.ts';
import type { Page } from '../render/pages.ts';
import { contentOf } from './content.ts';
import { historyOfInteraction } from './history.ts';
import { toIncomingMessage } from './incoming-message.ts';
import { type Answerable, invocationOf, requestedAt, requestOf, withPublicity } from './invocation.ts';
import { type MenuForm, menuChoice, menuFormId, modalOrReason, openFormButton, readFormId } from './modal.ts';
import {
  type Deferral,
  explainExpiry,
  logFailure,
  type PendingAnswer,
  pagesOf,
  type ReceivedInteraction,
  say,
  withDirectFallback,
} from './say.ts';
import { continueInThread } from './threads.ts';
import type { ReceivingTools } from './tools.ts';

/** Leaves the acknowledgement the other half of the time to arrive. */
const DEFER_AFTER_MS = DISCORD_LIMITS.responseMs / 2;
const FORM_LATE: Message = { text: 'Your form is ready:' };
const FORM_FAILED: Message = { text: "Discord didn't open the form. Try again." };

/** Never rejects. */
export async function answerInteraction(interaction: Answerable, tools: ReceivingTools): Promise<void> {
  if (interaction.isMessageContextMenuCommand()) {
    const choice = menuChoice(interaction, tools);
    if (!choice) return await explainExpiry(interaction, tools);
    if ('form' in choice) return await openMenuForm(interaction, choice, tools);
    return await answerRequest(
      interaction,
      { ...requestOf(interaction, tools.now()), ...choice.request },
      tools,
    );
  }
  if (interaction.isMessageComponent() && interaction.customId === OPEN_THREAD)
    return await runIfAllowed(interaction, ASK, tools, () => continueInThread(interaction, tools));
  const received = invocationOf(interaction, tools.now());
  if (!received) return await explainExpiry(interaction, tools);
  return await answerRequest(interaction, received, tools);
}

async function openMenuForm(
  interaction: MessageContextMenuCommandInteraction,
  { command, form }: MenuForm,
  tools: ReceivingTools,
): Promise<void> {
  tools.messages.remember(toIncomingMessage(interaction.targetMessage));
  const refuse = (reason: string) =>
    tools.rest.reply(interaction, textSending(reason), MessageFlags.Ephemeral);
  const open = () => {
    if (form instanceof UserError) return refuse(form.message);
    const modal = modalOrReason(form);
    if (typeof modal === 'string') return refuse(modal);
    const id = menuFormId(form, interaction);
    return firstResponse(() => interaction.showModal({ ...modal, custom_id: id }));
  };
  await runIfAllowed(interaction, command, tools, () => logFailure(open, tools));
}

async function answerRequest(
  interaction: Answerable,
  received: Invocation,
  tools: ReceivingTools,
): Promise<void> {
  const invocation = { ...received, address: withPublicity(received.address, tools) };
  const request = { interaction, invocation, isPrivate: answersPrivately(invocation, tools.bot.commands) };
  // Rendering can be slow too, so the deferral covers it.
  const running = run(request, tools).then(async (outcome) => ({
    outcome,
    pages: await pagesOfOutcome(outcome, request, tools),
  }));
  // Requests that may cost something are acknowledged only once they are stored.
  const deferral = request.isPrivate ? await deferIfSlow(request, running, tools) : 'none';
  const { outcome, pages } = await running;
  await answer({ ...request, deferral }, outcome, pages, tools);
  if (interaction.isStringSelectMenu()) await resetMenus(interaction, tools);
}

/**
 * Clients remember a menu choice, and send nothing if the same one is chosen again before the message is edited.
 * https://github.com/discord/discord-api-docs/issues/4801. Never rejects.
 */
async function resetMenus(
  { message }: StringSelectMenuInteraction,
  { rest, log }: ReceivingTools,
): Promise<void> {
  if (message.flags.has(MessageFlags.Ephemeral)) return;
  const rows = message.components.map((row) => {
    const shown = row.toJSON();
    if (shown.type !== ComponentType.ActionRow) return shown;
    const components = shown.components.map((component) =>
      component.type === ComponentType.StringSelect
        ? { ...component, custom_id: alternateMenuId(component.custom_id) }
        : component,
    );
    return { ...shown, components };
  });
  try {
    await rest.editRows(message.channelId, message.id, rows);
  } catch (error) {
    log.debug({ err: error, kind: errorKindOf(error) }, 'Could not reset a menu');
  }
}

/** Checks access for forms and threads, which open without running a command. */
async function runIfAllowed(
  interaction: Answerable,
  command: string,
  tools: ReceivingTools,
  open: () => Promise<void>,
): Promise<void> {
  const invocation = requestOf(interaction, tools.now());
  const message = await tools.bot.refusal({ ...invocation, command });
  if (!message) return await open();
  const pending = { interaction, invocation, isPrivate: true, deferral: 'none' } as const;
  const pages = await pagesOf(message, pending, tools);
  await say(pending, { message, pages, alone: true }, tools);
}

type Running = ReceivedInteraction & { readonly invocation: Invocation };

/** Runs a request. Questions in threads include the conversation. */
async function run({ interaction, invocation }: Running, tools: ReceivingTools): Promise<Outcome> {
  if (invocation.action) return await tools.bot.run(invocation);
  const files = await filesOfMenu(interaction, invocation, tools);
  const declared = declarationOf(invocation, tools.bot.commands)?.options;
  const options = files ? filledForm(declared, invocation.options, files) : invocation.options;
  if (options instanceof UserError) return privately(options.message);
  if (invocation.command === ASK) {
    const history = historyOfInteraction(interaction, tools.self);
    return await tools.bot.run({ ...invocation, ...present({ history, files }) });
  }
  return await tools.bot.run({ ...invocation, options });
}

/** Returns the files of the message whose menu opened the form, unless the person chose a file. None if the message was deleted. */
async function filesOfMenu(
  interaction: Answerable,
  { options }: Invocation,
  tools: ReceivingTools,
): Promise<readonly FileReference[] | undefined> {
  const { message } = interaction.isModalSubmit() ? readFormId(interaction.customId) : {};
  const hasFile = Object.values(options).some((value) => typeof value === 'object');
  if (message === undefined || hasFile) return undefined;
  const found = await tools.messages.read(message.channel, message.id);
  return found ? contentOf(found, tools).files : [];
}

async function deferIfSlow(
  request: Running,
  running: Promise<unknown>,
  tools: ReceivingTools,
): Promise<Deferral> {
  const done = new AbortController();
  const now = tools.now();
  const remaining = Math.max(0, requestedAt(request.interaction, now) + DEFER_AFTER_MS - now);
  const slow = tools.sleep(remaining, done.signal).then(() => 'slow' as const);
  const first = await Promise.race([running, slow]);
  done.abort('done');
  return first === 'slow' ? await defer(request, tools) : 'none';
}

async function defer(
  { interaction, isPrivate }: ReceivedInteraction,
  { log }: ReceivingTools,
): Promise<Deferral> {
  try {
    await firstResponse(() => interaction.deferReply(isPrivate ? { flags: MessageFlags.Ephemeral } : {}));
    return isPrivate ? 'private' : 'public';
  } catch (error) {
    log.warn({ err: error, kind: errorKindOf(error) }, 'Could not acknowledge an interaction');
    return 'failed';
  }
}

async function answer(
  pending: PendingAnswer,
  outcome: Outcome,
  pages: readonly Page[],
  tools: ReceivingTools,
): Promise<void> {
  switch (outcome.type) {
    case 'accepted': {
      const isPrivate = pending.isPrivate || outcome.reply !== undefined;
      const deferral =
        pending.deferral === 'none' ? await defer({ ...pending, isPrivate }, tools) : pending.deferral;
      // Discord showed that the bot did not respond, so the person will try again. They must not pay twice.
      if (deferral === 'failed' && outcome.decline) return await outcome.decline();
      outcome.begin();
      if (outcome.reply)
        await say({ ...pending, deferral }, { message: outcome.reply, pages, alone: true }, tools);
      return;
    }
    case 'message': {
      const alone = outcome.visibility === 'person' || pending.isPrivate;
      return await say(pending, { message: outcome.message, pages, alone }, tools);
    }
    case 'form': {
      if (pending.deferral === 'none') {
        const modal = modalOrReason(outcome.form);
        if (typeof modal === 'string') {
          const reply = privateMessage(modal);
          return await answer(pending, reply, await pagesOf(messageOf(reply), pending, tools), tools);
        }
        const { interaction } = pending;
        return await withDirectFallback(pending, FORM_FAILED, tools, async () => {
          if (interaction.isModalSubmit()) throw new TypeError('Discord cannot open a form from a form');
          await firstResponse(() => interaction.showModal(modal));
        });
      }
      const components = [openFormButton(outcome.form)];
      const withForm = pages.map((page) => ({ ...page, components }));
      return await say(pending, { message: FORM_LATE, pages: withForm, alone: true }, tools);
    }
    default:
      return outcome satisfies never;
  }
}

const privateMessage = (text: string): Extract<Outcome, { type: 'message' }> => ({
  type: 'message',
  visibility: 'person',
  message: { text: plain(text) },
});

async function pagesOfOutcome(
  outcome: Outcome,
  request: ReceivedInteraction,
  tools: ReceivingTools,
): Promise<Page[]> {
  const message = outcome.type === 'accepted' ? outcome.reply : messageOf(outcome);
  return message ? await pagesOf(message, request, tools) : [];
}

/** Returns the message of an outcome; for a form, the message if it is late. */
const messageOf = (outcome: Exclude<Outcome, { type: 'accepted' }>): Message =>
  outcome.type === 'message' ? outcome.message : FORM_LATE;
