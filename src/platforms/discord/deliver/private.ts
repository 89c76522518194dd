import { MessageFlags } from 'discord.js';
import type { Address } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { addressDataOf, liveToken } from '../address.ts';
import type { Sending } from '../connection/multipart.ts';
import { type InteractionToken, nonceOf } from '../connection/rest.ts';
import { errorKindOf, ignoreErrors, platformErrorOf } from '../errors.ts';
import { DEFAULT_FILE_BYTES } from '../limits.ts';
import { renderPages } from '../render/pages.ts';
import { sendingOf } from './payload.ts';
import type { DeliveryTools } from './tools.ts';

type PrivateTools = Pick<DeliveryTools, 'rest' | 'media' | 'now'>;

/** Shows a message only to the requester: in the channel while the token is live, otherwise by direct message. Throws PlatformError. */
export async function sendPrivateMessage(
  address: Address,
  message: Message,
  tools: PrivateTools,
): Promise<void> {
  const { rest, media, now } = tools;
  const data = addressDataOf(address);
  const token = liveToken(data, now());
  const sendPages = async (
    fileBytes: number,
    send: (sending: Sending, index: number) => Promise<unknown>,
  ) => {
    const pages = await renderPages(message, { fileBytes, link: media.link });
    for (const [index, page] of pages.entries()) await send(sendingOf(page, [], media), index);
  };
  const sendInChannel = async (live: InteractionToken) => {
    await removeThinking(live, tools);
    const fileBytes = data.fileBytes ?? DEFAULT_FILE_BYTES;
    await sendPages(fileBytes, (sending) => rest.followUp(live, sending, MessageFlags.Ephemeral));
    return true;
  };
  try {
    // If Discord rejects the message in the channel, a direct message may still work.
    if (token && (await sendInChannel(token).catch(falseIfRejected))) return;
    const channel = await rest.directChannel(address.person);
    await sendPages(DEFAULT_FILE_BYTES, (sending, index) =>
      // Discord drops a second message with the same nonce, so each message needs its own.
      rest.post(channel, sending, {
        nonce: nonceOf(`${channel} ${now()} ${index} ${JSON.stringify(sending.body)}`),
      }),
    );
  } catch (error) {
    throw platformErrorOf(error);
  }
}

/** Returns false if Discord rejected the request. Throws temporary errors, and errors that are not from Discord. */
function falseIfRejected(error: unknown): false {
  const kind = errorKindOf(error);
  if (kind === 'unavailable' || kind === 'other') throw error;
  return false;
}

/** Deletes a deferred response: otherwise the first follow-up would fill it, visible to everyone. */
async function removeThinking(token: InteractionToken, { rest }: PrivateTools): Promise<void> {
  await ignoreErrors(['message-deleted'], async () => {
    const original = await rest.response(token, '@original');
    if (original.flags & MessageFlags.Loading) await rest.deleteResponse(token, '@original');
  });
}
