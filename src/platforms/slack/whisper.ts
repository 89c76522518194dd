/** A sentence for one person alone: in place where that is possible, else as a direct message. */
import type { Address } from '../../command.ts';
import type { Message } from '../../message.ts';
import type { MediaReader } from '../platform.ts';
import { call, type SlackTools } from './client.ts';
import { toPlatformError } from './errors.ts';
import { type Part, render } from './render.ts';
import type { ResponseUrls } from './response-url.ts';

export interface WhisperTools extends SlackTools {
  readonly responseUrls: ResponseUrls;
  readonly media: MediaReader;
  readonly botName: () => string;
}

/** The parts of a message that is seen by one person: files are links, and nobody is called. */
export function privateParts(address: Address, message: Message, media: MediaReader): readonly Part[] {
  const { notify: _, ...quiet } = message;
  return render(quiet, { person: address.person, links: (file, name) => media.link(file, name) }).parts;
}

/** See Platform.whisper. Throws PlatformError when there is no way to the person. */
export async function whisper(address: Address, message: Message, tools: WhisperTools): Promise<void> {
  for (const part of privateParts(address, message, tools.media)) await whisperPart(address, part, tools);
}

export async function whisperPart(address: Address, part: Part, tools: WhisperTools): Promise<void> {
  if (await tools.responseUrls.reply(address, part)) return;
  const { channel, person, thread } = address;
  const { web } = tools;
  const { text, blocks } = part;
  try {
    await call(
      () =>
        web.chat.postEphemeral({
          channel,
          user: person,
          text,
          blocks,
          ...(thread === undefined ? {} : { thread_ts: thread }),
        }),
      { repeatable: true },
      tools,
    );
    return;
  } catch {
    // The bot or the person is not in that channel, or it is gone: a direct message reaches them.
  }
  try {
    await call(() => web.chat.postMessage({ channel: person, text, blocks }), { repeatable: false }, tools);
  } catch (error) {
    throw toPlatformError(error, { botName: tools.botName() });
  }
}
