/** One interaction, from its arrival to the bot's first words: always answered within Discord's three seconds. */
import { ComponentType, MessageFlags, type StringSelectMenuInteraction } from 'discord.js';
import { answersPrivately } from '../../../core/bot/command.ts';
import type { Outcome } from '../../../core/bot/outcome.ts';
import type { Invocation } from '../../../core/invocation.ts';
import { type Message, plain } from '../../../core/message.ts';
import type { FileReference } from '../../../core/options.ts';
import { present } from '../../../core/util/present.ts';
import { ASK } from '../../shared/question.ts';
import { firstResponse } from '../connection/rest.ts';
import { textSending } from '../deliver/payload.ts';
import { troubleOf } from '../errors.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import { OPEN_THREAD, otherMenuId } from '../render/buttons.ts';
import type { Page } from '../render/pages.ts';
import { contentOf } from './content.ts';
import { historyOfInteraction } from './history.ts';
import { toIncomingMessage } from './incoming-message.ts';
import { type Answerable, askedAt, askingOf, invocationOf, withPublicity } from './invocation.ts';
import { menuForm, menuFormId, modalOrReason, openFormButton, readFormId } from './modal.ts';
import {
  type Answering,
  type AskedInteraction,
  type Deferral,
  orLogged,
  orPrivately,
  pagesOf,
  say,
  sayOutdated,
} from './say.ts';
import { continueInThread } from './threads.ts';
import type { ReceivingTools } from './tools.ts';

/** Leaves the acknowledgement itself as much time to arrive. */
const DEFER_AFTER_MS = DISCORD_LIMITS.responseMs / 2;
const FORM_LATE: Message = { text: 'Your form is ready:' };
const FORM_REFUSED: Message = { text: "Discord didn't open the form. Try again." };

/** Never rejects. */
export async function answerInteraction(interaction: Answerable, tools: ReceivingTools): Promise<void> {
  if (interaction.isMessageContextMenuCommand()) {
    const form = menuForm(interaction, tools);
    if (!form) return await sayOutdated(interaction, tools);
    tools.messages.remember(toIncomingMessage(interaction.targetMessage));
    const modal = modalOrReason(form);
    const open = () =>
      typeof modal === 'string'
        ? tools.rest.reply(interaction, textSending(modal), MessageFlags.Ephemeral)
        : firstResponse(() => interaction.showModal({ ...modal, custom_id: menuFormId(form, interaction) }));
    return await ifAdmitted(interaction, form.id, tools, () => orLogged(open, tools));
  }
  if (interaction.isMessageComponent() && interaction.customId === OPEN_THREAD)
    return await ifAdmitted(interaction, ASK, tools, () => continueInThread(interaction, tools));
  const received = invocationOf(interaction, tools.now());
  if (!received) return await sayOutdated(interaction, tools);
  const invocation = { ...received, address: withPublicity(received.address, tools) };
  const asked = { interaction, invocation, isPrivate: answersPrivately(invocation, tools.bot.commands) };
  // What takes long to render is waited for like what takes long to find out.
  const running = run(asked, tools).then(async (outcome) => ({
    outcome,
    pages: outcome.type === 'accepted' ? [] : await pagesOf(saidBy(outcome), asked, tools),
  }));
  // What may cost something is acknowledged when it is stored, and not before.
  const deferral = asked.isPrivate ? await deferIfSlow(asked, running, tools) : 'none';
  const { outcome, pages } = await running;
  await answer({ ...asked, deferral }, outcome, pages, tools);
  if (interaction.isStringSelectMenu()) await resetMenus(interaction, tools);
}

/**
 * A client keeps what was chosen from a menu, and sends nothing when the same is chosen again, until the message is edited.
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
        ? { ...component, custom_id: otherMenuId(component.custom_id) }
        : component,
    );
    return { ...shown, components };
  });
  try {
    await rest.editRows(message.channelId, message.id, rows);
  } catch (error) {
    log.debug({ err: error, trouble: troubleOf(error) }, 'Could not reset a menu');
  }
}

/** What opens without the bot asks for access by itself. */
async function ifAdmitted(
  interaction: Answerable,
  command: string,
  tools: ReceivingTools,
  open: () => Promise<void>,
): Promise<void> {
  const invocation = askingOf(interaction, tools.now());
  const message = await tools.bot.refusal({ ...invocation, command });
  if (!message) return await open();
  const answering = { interaction, invocation, isPrivate: true, deferral: 'none' } as const;
  const pages = await pagesOf(message, answering, tools);
  await say(answering, { message, pages, alone: true }, tools);
}

type Running = AskedInteraction & { readonly invocation: Invocation };

/** A question in a thread goes on with what was said there. */
async function run({ interaction, invocation }: Running, tools: ReceivingTools): Promise<Outcome> {
  if (invocation.command !== ASK || invocation.action) return await tools.bot.run(invocation);
  const history = historyOfInteraction(interaction, tools.self);
  const files = await filesOfMenu(interaction, invocation, tools);
  return await tools.bot.run({ ...invocation, ...present({ history, files }) });
}

/** Those of the message whose menu opened the form, unless the person picked a file. */
async function filesOfMenu(
  interaction: Answerable,
  { options }: Invocation,
  tools: ReceivingTools,
): Promise<readonly FileReference[] | undefined> {
  const { message } = interaction.isModalSubmit() ? readFormId(interaction.customId) : {};
  const hasPicked = Object.values(options).some((value) => typeof value === 'object');
  if (message === undefined || hasPicked) return undefined;
  const found = await tools.messages.read(message.channel, message.id);
  return found && contentOf(found, tools).files;
}

async function deferIfSlow(
  asked: Running,
  running: Promise<unknown>,
  tools: ReceivingTools,
): Promise<Deferral> {
  const done = new AbortController();
  const now = tools.now();
  const left = Math.max(0, askedAt(asked.interaction, now) + DEFER_AFTER_MS - now);
  const slow = tools.sleep(left, done.signal).then(() => 'slow' as const);
  const first = await Promise.race([running, slow]);
  done.abort('done');
  return first === 'slow' ? await defer(asked, tools) : 'none';
}

async function defer(
  { interaction, isPrivate }: AskedInteraction,
  { log }: ReceivingTools,
): Promise<Deferral> {
  try {
    await firstResponse(() => interaction.deferReply(isPrivate ? { flags: MessageFlags.Ephemeral } : {}));
    return isPrivate ? 'private' : 'public';
  } catch (error) {
    log.warn({ err: error, trouble: troubleOf(error) }, 'Could not acknowledge an interaction');
    return 'failed';
  }
}

async function answer(
  answering: Answering,
  outcome: Outcome,
  pages: readonly Page[],
  tools: ReceivingTools,
): Promise<void> {
  switch (outcome.type) {
    case 'accepted': {
      const deferral = answering.deferral === 'none' ? await defer(answering, tools) : answering.deferral;
      // The person was told that the bot did not respond, and asks again. They must not pay twice.
      if (deferral === 'failed' && outcome.decline) return await outcome.decline();
      return outcome.begin();
    }
    case 'message': {
      const alone = outcome.visibility === 'person' || answering.isPrivate;
      return await say(answering, { message: outcome.message, pages, alone }, tools);
    }
    case 'form': {
      if (answering.deferral === 'none') {
        const modal = modalOrReason(outcome.form);
        if (typeof modal === 'string') {
          const sentence = saying(modal);
          return await answer(answering, sentence, await pagesOf(saidBy(sentence), answering, tools), tools);
        }
        const { interaction } = answering;
        return await orPrivately(answering, FORM_REFUSED, tools, async () => {
          if (interaction.isModalSubmit()) throw new TypeError('Discord cannot open a form from a form');
          await firstResponse(() => interaction.showModal(modal));
        });
      }
      const components = [openFormButton(outcome.form)];
      const withForm = pages.map((page) => ({ ...page, components }));
      return await say(answering, { message: FORM_LATE, pages: withForm, alone: true }, tools);
    }
    default:
      return outcome satisfies never;
  }
}

const saying = (text: string): Extract<Outcome, { type: 'message' }> => ({
  type: 'message',
  visibility: 'person',
  message: { text: plain(text) },
});

/** What the person reads of it; of a form, when it comes late. */
const saidBy = (outcome: Exclude<Outcome, { type: 'accepted' }>): Message =>
  outcome.type === 'message' ? outcome.message : FORM_LATE;
