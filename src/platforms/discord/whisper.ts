import { MessageFlags } from 'discord.js';
import type { Address } from '../../command.ts';
import type { Message } from '../../message.ts';
import type { MediaReader } from '../platform.ts';
import { toPlatformError, troubleOf } from './errors.ts';
import { DEFAULT_FILE_BYTES } from './limits.ts';
import { nonceOf } from './nonce.ts';
import { type LiveToken, liveToken, placeOf } from './place.ts';
import { render } from './render.ts';
import type { DiscordRest } from './rest.ts';
import { sendingOf } from './uploads.ts';

export interface WhisperDependencies {
  readonly rest: DiscordRest;
  readonly media: MediaReader;
  readonly now: () => number;
}

/** To the person alone: under the channel's messages while the interaction lives, else by direct message. Throws PlatformError. */
export async function whisper(address: Address, message: Message, d: WhisperDependencies): Promise<void> {
  const place = placeOf(address);
  const token = liveToken(place, d.now());
  try {
    if (token && (await whisperInPlace(token, message, place.fileBytes ?? DEFAULT_FILE_BYTES, d))) return;
    const channel = await d.rest.directChannel(address.person);
    const pages = render(message, { fileBytes: DEFAULT_FILE_BYTES, link: d.media.link });
    for (const [index, page] of pages.entries()) {
      const { body, files } = await sendingOf(page, [], d.media);
      const nonce = nonceOf(`${channel} ${d.now()} ${index}`);
      await d.rest.post(channel, { body: { ...body, nonce, enforce_nonce: true }, files });
    }
  } catch (error) {
    throw toPlatformError(error);
  }
}

/** @returns false when the token is dead */
async function whisperInPlace(
  token: LiveToken,
  message: Message,
  fileBytes: number,
  d: WhisperDependencies,
): Promise<boolean> {
  try {
    await removeThinking(token, d);
    for (const page of render(message, { fileBytes, link: d.media.link })) {
      const { body, files } = await sendingOf(page, [], d.media);
      await d.rest.followUp(token, { body: { ...body, flags: MessageFlags.Ephemeral }, files });
    }
    return true;
  } catch (error) {
    if (troubleOf(error) === 'token-dead') return false;
    throw error;
  }
}

/** The first follow-up would fill a response that is still deferred, for everybody to see. */
async function removeThinking(token: LiveToken, { rest }: WhisperDependencies): Promise<void> {
  try {
    const original = await rest.response(token, '@original');
    if (original.flags & MessageFlags.Loading) await rest.deleteResponse(token, '@original');
  } catch (error) {
    if (troubleOf(error) !== 'message-gone') throw error;
  }
}
