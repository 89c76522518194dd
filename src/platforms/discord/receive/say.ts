/** Says something to an interaction, and where Discord takes no response, to the person directly. */
import { MessageFlags } from 'discord.js';
import type { Invocation } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { addressDataOf } from '../address.ts';
import { sendingOf, textSending } from '../deliver/payload.ts';
import { sendPrivateMessage } from '../deliver/private.ts';
import { troubleOf } from '../errors.ts';
import { DEFAULT_FILE_BYTES } from '../limits.ts';
import { type Page, renderPages } from '../render/pages.ts';
import type { Answerable } from './invocation.ts';
import type { ReceivingTools } from './tools.ts';

const OUTDATED = 'This button is too old. Use the command again.';

export interface AskedInteraction {
  readonly interaction: Answerable;
  readonly invocation: Pick<Invocation, 'id' | 'address'>;
  readonly isPrivate: boolean;
}

/** Whether Discord shows that the bot is thinking, and to whom. */
export type Deferral = 'none' | 'public' | 'private' | 'failed';
export type Answering = AskedInteraction & { readonly deferral: Deferral };

export async function pagesOf(
  message: Message,
  { invocation }: AskedInteraction,
  { media }: ReceivingTools,
): Promise<Page[]> {
  const { fileBytes = DEFAULT_FILE_BYTES } = addressDataOf(invocation.address);
  return await renderPages(message, { fileBytes, link: media.link });
}

/** The first page becomes the response, the others follow it. Never rejects. */
export async function say(
  answering: Answering,
  { message, pages, alone }: { message: Message; pages: readonly Page[]; alone: boolean },
  tools: ReceivingTools,
): Promise<void> {
  const { rest, media } = tools;
  const { interaction, deferral } = answering;
  const token = { application: interaction.applicationId, token: interaction.token };
  const flags = alone ? MessageFlags.Ephemeral : 0;
  return await orPrivately(answering, message, tools, async () => {
    for (const [index, page] of pages.entries()) {
      const sending = sendingOf(page, [], media);
      if (index > 0) await rest.followUp(token, sending, flags);
      else if (deferral === 'none') await rest.reply(interaction, sending, flags);
      else await rest.editResponse(token, '@original', sending);
    }
  });
}

/**
 * What Discord does not take in the channel goes to the person directly; not where it had told them that the bot did not
 * respond. Never rejects.
 */
export async function orPrivately(
  { invocation: { id, address }, deferral }: Answering,
  message: Message,
  tools: ReceivingTools,
  respond: () => Promise<void>,
): Promise<void> {
  const { log } = tools;
  if (deferral === 'failed') return;
  try {
    return await respond();
  } catch (error) {
    const trouble = troubleOf(error);
    log.warn({ err: error, trouble, invocation: id }, 'Discord rejected an answer');
    if (trouble === 'token-dead') return;
  }
  try {
    await sendPrivateMessage(address, message, tools);
  } catch (error) {
    log.error({ err: error, trouble: troubleOf(error), invocation: id }, 'Could not send an answer');
  }
}

/** Never rejects. */
export async function orLogged(respond: () => Promise<void>, { log }: ReceivingTools): Promise<void> {
  try {
    await respond();
  } catch (error) {
    log.warn({ err: error, trouble: troubleOf(error) }, 'Discord rejected an answer');
  }
}

export async function sayOutdated(interaction: Answerable, tools: ReceivingTools): Promise<void> {
  const sending = textSending(OUTDATED);
  await orLogged(() => tools.rest.reply(interaction, sending, MessageFlags.Ephemeral), tools);
}
