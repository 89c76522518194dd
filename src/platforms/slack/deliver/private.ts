/** A message for one person alone: in the channel where Slack allows it, else as a direct message. */
import { request } from 'undici';
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { present } from '../../../core/util/present.ts';
import { call } from '../connection/client.ts';
import { toPlatformError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { type Part, type RenderOptions, render } from '../render/parts.ts';
import type { ShowTools } from './post.ts';
import { show } from './show.ts';
import { digestOf } from './writer.ts';

export interface PrivateTools extends ShowTools {
  readonly now: () => number;
}

const REPLY_TIMEOUT_MS = 15_000;
const TOO_LONG_HERE =
  'This is long, so I sent it to you as a direct message. The full text is attached there.';

interface PrivateRendering {
  /** What the person sees where they are. */
  readonly parts: readonly Part[];
  /** What goes to their direct messages, since no file can be shown to one person in a channel. */
  readonly direct: Message | undefined;
}

/** A message that one person sees: files are links, and there is no mention. */
export async function renderPrivately(
  { person }: Address,
  message: Message,
  { media }: Pick<ShowTools, 'media'>,
): Promise<PrivateRendering> {
  const { notify: _, ...quiet } = message;
  const options: RenderOptions = { person, links: (file, name) => media.link(file, name) };
  const { parts, textFile } = await render(quiet, options);
  return textFile === undefined
    ? { parts, direct: undefined }
    : { parts: (await render({ text: TOO_LONG_HERE }, options)).parts, direct: quiet };
}

/** See Platform.sendPrivately. Throws PlatformError when the person cannot be reached. */
export async function sendPrivately(address: Address, message: Message, tools: PrivateTools): Promise<void> {
  const { parts, direct } = await renderPrivately(address, message, tools);
  if (direct !== undefined) await sendDirectly(address, direct, tools);
  if (direct !== undefined && isDirect(address)) return;
  for (const part of parts) await sendPartPrivately(address, part, tools);
}

/** With all its files. Throws PlatformError. */
export async function sendDirectly(
  { platformData: _, thread: __, ...address }: Address,
  message: Message,
  tools: PrivateTools,
): Promise<void> {
  const key = digestOf(`${address.person} ${tools.now()}`);
  const channel = isDirect(address) ? address.channel : address.person;
  await show({ ...address, channel }, message, { key, remember: async () => undefined }, tools);
}

const isDirect = ({ channel }: Address): boolean => channel.startsWith('D');

export async function sendPartPrivately(
  address: Address,
  { text, blocks }: Part,
  tools: PrivateTools,
): Promise<void> {
  if (await reply(address, { text, blocks }, tools.now())) return;
  const { channel, person: user, thread } = address;
  const { chat } = tools.web;
  const ephemeral = { channel, user, text, blocks, ...present({ thread_ts: thread }) };
  try {
    await call(() => chat.postEphemeral(ephemeral), { repeatable: true }, tools);
    return;
  } catch {
    // The bot or the person is not in that channel, or it is gone: a direct message reaches them.
  }
  try {
    await call(() => chat.postMessage({ channel: user, text, blocks }), { repeatable: false }, tools);
  } catch (error) {
    throw toPlatformError(error, tools);
  }
}

const platformDataSchema = z.object({ responseUrl: z.string(), responseUrlSince: z.number() });

/** What an address keeps of the interaction it came from. */
export function responseUrlData(responseUrl: string | undefined, now: number): Pick<Address, 'platformData'> {
  return responseUrl === undefined ? {} : { platformData: { responseUrl, responseUrlSince: now } };
}

/**
 * By the address of an interaction, which works five times within thirty minutes, also in channels that the bot may not write in.
 * False when there is none that still works.
 */
async function reply({ platformData }: Address, { text, blocks }: Part, now: number): Promise<boolean> {
  const { data } = platformDataSchema.safeParse(platformData);
  if (data === undefined || now - data.responseUrlSince >= LIMITS.responseUrlMs) return false;
  try {
    const { statusCode, body } = await request(data.responseUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ response_type: 'ephemeral', replace_original: false, text, blocks }),
      signal: AbortSignal.timeout(REPLY_TIMEOUT_MS),
    });
    await body.dump();
    return statusCode === 200;
  } catch {
    // The caller tries another method.
    return false;
  }
}
