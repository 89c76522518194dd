import { MessageFlags } from 'discord.js';
import type { Address } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { addressDataOf, liveToken } from '../address.ts';
import type { Sending } from '../connection/multipart.ts';
import { type InteractionToken, nonceOf } from '../connection/rest.ts';
import { platformErrorOf, troubleOf, unlessTrouble } from '../errors.ts';
import { DEFAULT_FILE_BYTES } from '../limits.ts';
import { renderPages } from '../render/pages.ts';
import { sendingOf } from './payload.ts';
import type { DeliveryTools } from './tools.ts';

type PrivateTools = Pick<DeliveryTools, 'rest' | 'media' | 'now'>;

/** To the person alone: in the channel while the interaction lives, else by direct message. Throws PlatformError. */
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
    // Whatever Discord refuses in the channel may still reach the person directly.
    if (token && (await sendInChannel(token).catch(unlessRefused))) return;
    const channel = await rest.directChannel(address.person);
    await sendPages(DEFAULT_FILE_BYTES, (sending, index) =>
      // Discord takes two messages of one nonce for one, so different messages have different nonces.
      rest.post(channel, sending, {
        nonce: nonceOf(`${channel} ${now()} ${index} ${JSON.stringify(sending.body)}`),
      }),
    );
  } catch (error) {
    throw platformErrorOf(error);
  }
}

/** False for a refusal. Throws what may pass, and what is not Discord's. */
function unlessRefused(error: unknown): false {
  const trouble = troubleOf(error);
  if (trouble === 'unavailable' || trouble === 'other') throw error;
  return false;
}

/** The first follow-up would fill a response that is still deferred, visibly for everybody. */
async function removeThinking(token: InteractionToken, { rest }: PrivateTools): Promise<void> {
  await unlessTrouble(['message-gone'], async () => {
    const original = await rest.response(token, '@original');
    if (original.flags & MessageFlags.Loading) await rest.deleteResponse(token, '@original');
  });
}
