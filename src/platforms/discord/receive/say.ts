/** Responds to an interaction, or by direct message if Discord rejects the response. */
import { MessageFlags } from 'discord.js';
import type { Invocation } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { addressDataOf } from '../address.ts';
import { sendingOf, textSending } from '../deliver/payload.ts';
import { sendPrivateMessage } from '../deliver/private.ts';
import { errorKindOf } from '../errors.ts';
import { DEFAULT_FILE_BYTES } from '../limits.ts';
import { type Page, renderPages } from '../render/pages.ts';
import type { Answerable } from './invocation.ts';
import type { ReceivingTools } from './tools.ts';

const BUTTON_EXPIRED = 'This button no longer works. Use the command again.';

export interface ReceivedInteraction {
  readonly interaction: Answerable;
  readonly invocation: Pick<Invocation, 'id' | 'address'>;
  readonly isPrivate: boolean;
}

/** Whether Discord shows that the bot is thinking, and to whom; `failed` if it did not accept the deferral. */
export type Deferral = 'none' | 'public' | 'private' | 'failed';
export type PendingAnswer = ReceivedInteraction & { readonly deferral: Deferral };

export async function pagesOf(
  message: Message,
  { invocation }: ReceivedInteraction,
  { media }: ReceivingTools,
): Promise<Page[]> {
  const { fileBytes = DEFAULT_FILE_BYTES } = addressDataOf(invocation.address);
  return await renderPages(message, { fileBytes, link: media.link });
}

/** Sends the first page as the response and the others as follow-ups. Never rejects. */
export async function say(
  pending: PendingAnswer,
  { message, pages, alone }: { message: Message; pages: readonly Page[]; alone: boolean },
  tools: ReceivingTools,
): Promise<void> {
  const { rest, media } = tools;
  const { interaction, deferral } = pending;
  const token = { application: interaction.applicationId, token: interaction.token };
  const flags = alone ? MessageFlags.Ephemeral : 0;
  return await withDirectFallback(pending, message, tools, async () => {
    for (const [index, page] of pages.entries()) {
      const sending = sendingOf(page, [], media);
      if (index > 0) await rest.followUp(token, sending, flags);
      else if (deferral === 'none') await rest.reply(interaction, sending, flags);
      else await rest.editResponse(token, '@original', sending);
    }
  });
}

/**
 * Sends the message directly if Discord rejects the response, unless Discord already showed that the bot did not respond.
 * Never rejects.
 */
export async function withDirectFallback(
  { invocation: { id, address }, deferral }: PendingAnswer,
  message: Message,
  tools: ReceivingTools,
  respond: () => Promise<void>,
): Promise<void> {
  const { log } = tools;
  if (deferral === 'failed') return;
  try {
    return await respond();
  } catch (error) {
    const kind = errorKindOf(error);
    log.warn({ err: error, kind, invocation: id }, 'Discord rejected an answer');
    if (kind === 'token-expired') return;
  }
  try {
    await sendPrivateMessage(address, message, tools);
  } catch (error) {
    log.error({ err: error, kind: errorKindOf(error), invocation: id }, 'Could not send an answer');
  }
}

/** Never rejects. */
export async function logFailure(respond: () => Promise<void>, { log }: ReceivingTools): Promise<void> {
  try {
    await respond();
  } catch (error) {
    log.warn({ err: error, kind: errorKindOf(error) }, 'Discord rejected an answer');
  }
}

export async function explainExpiry(interaction: Answerable, tools: ReceivingTools): Promise<void> {
  const sending = textSending(BUTTON_EXPIRED);
  await logFailure(() => tools.rest.reply(interaction, sending, MessageFlags.Ephemeral), tools);
}
