/** One interaction, from its arrival to the bot's first words: always answered within Discord's three seconds. */
import { ApplicationCommandType, ComponentType, MessageFlags } from 'discord.js';
import type { Outcome } from '../../../core/bot/outcome.ts';
import type { Invocation } from '../../../core/invocation.ts';
import { type Message, plain } from '../../../core/message.ts';
import type { Acknowledged } from '../../platform.ts';
import { textSending } from '../deliver/payload.ts';
import { acknowledgement } from '../deliver/private.ts';
import { troubleOf } from '../errors.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import { OPEN_THREAD, otherMenuId } from '../render/card.ts';
import type { Page } from '../render/render.ts';
import type { ReceivingTools } from '../tools.ts';
import { ASK, historyOfInteraction } from './history.ts';
import type { ComponentInteraction, Interaction } from './interaction.ts';
import { askedAt, askingOf, invocationOf, withPublicity } from './invocation.ts';
import { menuForm, modalOrReason, openFormButton } from './modal.ts';
import {
  type Answerable,
  type Answering,
  type AskedInteraction,
  type Deferral,
  isTaken,
  orPrivately,
  pagesOf,
  say,
  sayOutdated,
} from './respond.ts';
import { openThread } from './threads.ts';

/** Leaves the acknowledgement itself as much time to arrive. */
const DEFER_AFTER_MS = DISCORD_LIMITS.responseMs / 2;
/** Work for those who were acknowledged keeps the process from acknowledging others. */
const OTHERS_FIRST_MS = 1_000;
const FORM_LATE: Message = { text: 'That took me a moment. Here is the form:' };
const FORM_GONE: Message = { text: 'That reached me too late to open its form. Please ask again.' };

/** Never rejects. */
export async function acknowledge(interaction: Answerable, tools: ReceivingTools): Promise<void> {
  if (interaction.type === 2 && interaction.data.type === ApplicationCommandType.Message) {
    const form = menuForm(interaction, tools.bot.commands);
    if (!form) return await sayOutdated(interaction, tools);
    const modal = modalOrReason(form);
    const open = () =>
      typeof modal === 'string'
        ? tools.rest.reply(interaction, textSending(modal), MessageFlags.Ephemeral)
        : tools.rest.openForm(interaction, modal);
    return await ifAdmitted(interaction, form.id, tools, async () => void (await isTaken(open, tools)));
  }
  if (interaction.type === 3 && interaction.data.custom_id === OPEN_THREAD)
    return await ifAdmitted(interaction, ASK, tools, () => openThread(interaction, tools));
  const received = invocationOf(interaction, tools.now());
  if (!received) return await sayOutdated(interaction, tools);
  const invocation = { ...received, address: withPublicity(received.address, tools) };
  const before = await shownBefore(interaction, invocation, tools);
  if (before === 'answered') return;
  const asked = { interaction, invocation, isPrivate: answersPrivately(invocation, tools) };
  const early = await (before === 'waiting' ? takeOver(asked, tools) : deferInCrowd(asked, tools));
  // What takes long to render is waited for like what takes long to find out.
  const running = run(asked, tools).then(async (outcome) => ({
    outcome,
    pages: outcome.type === 'accepted' ? [] : await pagesOf(saidBy(outcome), asked, tools),
  }));
  const deferral = early === 'none' ? await deferIfSlow(asked, running, tools) : early;
  const { outcome, pages } = await running;
  if (await answer({ ...asked, deferral }, outcome, pages, tools)) await tools.bot.answered?.(invocation);
  if (interaction.type === 3 && interaction.data.component_type === ComponentType.StringSelect)
    await resetMenus(interaction, tools);
}

function answersPrivately({ command: named, action }: Invocation, { bot }: ReceivingTools): boolean {
  const command = bot.commands.find(({ name }) => name === named);
  const button = action && command?.actions?.[action.name];
  return button?.answersPrivately ?? command?.answersPrivately ?? false;
}

/** A resumed session repeats what a process answered that died before it could remember the event. Never rejects. */
async function shownBefore(
  interaction: Interaction,
  { id, address }: Pick<Invocation, 'id' | 'address'>,
  tools: ReceivingTools,
): Promise<Acknowledged> {
  const now = tools.now();
  if (now - askedAt(interaction, now) <= DISCORD_LIMITS.responseMs) return 'nothing';
  try {
    return await acknowledgement(address, id, tools);
  } catch (error) {
    tools.log.warn({ err: error, invocation: id }, 'Whether an interaction was answered is not known');
    return 'nothing';
  }
}

/**
 * A client keeps what was chosen from a menu, and sends nothing when the same is chosen again, until the message is edited.
 * https://github.com/discord/discord-api-docs/issues/4801. Never rejects.
 */
async function resetMenus(
  { message, channel_id: channel }: ComponentInteraction,
  { rest, log }: ReceivingTools,
): Promise<void> {
  if (!message || message.components.length === 0 || message.flags & MessageFlags.Ephemeral) return;
  const rows = message.components.map(({ components, ...row }) => ({
    ...row,
    components: components.map((component) =>
      component.type === ComponentType.StringSelect && component.custom_id !== undefined
        ? { ...component, custom_id: otherMenuId(component.custom_id) }
        : component,
    ),
  }));
  try {
    await rest.editRows(channel, message.id, rows);
  } catch (error) {
    log.debug({ err: error, trouble: troubleOf(error) }, 'A menu still shows what was chosen');
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
  if (!invocation) return await sayOutdated(interaction, tools);
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
  const conversation = await historyOfInteraction(interaction, tools);
  return await tools.bot.run(conversation.length > 0 ? { ...invocation, conversation } : invocation);
}

/** Each of many that come together is acknowledged before the first is worked on; but what may open a form cannot wait for that. */
async function deferInCrowd(asked: Running, tools: ReceivingTools): Promise<Deferral> {
  const { interaction, invocation } = asked;
  if (interaction.type !== 2 || Object.keys(invocation.options).length === 0 || !tools.isCrowded())
    return 'none';
  const deferral = await deferRecorded(asked, tools);
  await tools.sleep(OTHERS_FIRST_MS, tools.closing);
  return deferral;
}

/** Without the record a person would wait for ever after a crash. */
async function deferRecorded(asked: Running, tools: ReceivingTools): Promise<Deferral> {
  const isRecorded = (await tools.bot.recordPendingAcknowledgement?.(asked.invocation)) ?? true;
  return isRecorded ? await defer(asked, tools) : 'none';
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
  return first === 'slow' ? await deferRecorded(asked, tools) : 'none';
}

/** The process that deferred it died. */
async function takeOver({ invocation, isPrivate }: Running, { bot }: ReceivingTools): Promise<Deferral> {
  await bot.recordPendingAcknowledgement?.(invocation);
  return isPrivate ? 'private' : 'public';
}

async function defer(
  { interaction, isPrivate }: AskedInteraction,
  { rest, log }: ReceivingTools,
): Promise<Deferral> {
  try {
    await rest.defer(interaction, isPrivate ? MessageFlags.Ephemeral : 0);
    return isPrivate ? 'private' : 'public';
  } catch (error) {
    log.warn({ err: error, trouble: troubleOf(error) }, 'Discord did not take the acknowledgement');
    return 'failed';
  }
}

/** False when the process is about to end before the person could be answered. */
async function answer(
  answering: Answering,
  outcome: Outcome,
  pages: readonly Page[],
  tools: ReceivingTools,
): Promise<boolean> {
  switch (outcome.type) {
    case 'accepted': {
      const isNew = answering.deferral === 'none';
      const deferral = isNew ? await defer(answering, tools) : answering.deferral;
      if (isNew && tools.isCrowded()) await tools.sleep(OTHERS_FIRST_MS, tools.closing);
      // The person was told that the bot did not respond, and asks again. They must not pay twice.
      if (deferral === 'failed' && outcome.decline) await outcome.decline();
      else outcome.begin();
      return true;
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
        const open = () => tools.rest.openForm(answering.interaction, modal);
        return await orPrivately(answering, FORM_GONE, tools, open);
      }
      const components = [openFormButton(outcome.form)];
      const withForm = pages.map((page) => ({ ...page, components }));
      return await say(answering, { message: FORM_GONE, pages: withForm, alone: true }, tools);
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
