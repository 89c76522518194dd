/** Shows a message to one person: in the channel if Slack allows it, otherwise as a direct message. */
import { request } from 'undici';
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { present } from '../../../core/util/present.ts';
import { PlatformError, type PostState } from '../../platform.ts';
import { call } from '../connection/client.ts';
import { toPlatformError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { type Part, type RenderOptions, render } from '../render/parts.ts';
import { readPosted, type ShowTools } from './post.ts';
import { show } from './show.ts';
import { digestOf } from './writer.ts';

export interface PrivateTools extends ShowTools {
  readonly now: () => number;
}

const REPLY_TIMEOUT_MS = 15_000;
const TOO_LONG_NOTICE =
  'This is long, so I sent it to you as a direct message. The full text is attached there.';

interface PrivateRendering {
  /** Messages for the place where the person asked. */
  readonly parts: readonly Part[];
  /** A message to send directly instead, because Slack cannot show a file to one person in a channel. */
  readonly direct: Message | undefined;
}

/** Renders a message for one person: files become links, and nobody is mentioned. */
export async function renderPrivately(
  { person }: Address,
  message: Message,
  { media }: Pick<ShowTools, 'media'>,
  hasCards = false,
): Promise<PrivateRendering> {
  const { notify: _, ...withoutMention } = message;
  const options: RenderOptions = { person, hasCards, links: (file, name) => media.link(file, name) };
  const { parts, textFile } = await render(withoutMention, options);
  return textFile === undefined
    ? { parts, direct: undefined }
    : { parts: (await render({ text: TOO_LONG_NOTICE }, options)).parts, direct: withoutMention };
}

/** See Platform.sendPrivately. Throws PlatformError if the person cannot be reached. */
export async function sendPrivately(address: Address, message: Message, tools: PrivateTools): Promise<void> {
  const hasCards = message.data !== undefined;
  try {
    await sendRendered(address, await renderPrivately(address, message, tools, hasCards), tools);
  } catch (error) {
    if (!hasCards || !(error instanceof PlatformError) || error.code !== 'refused') throw error;
    tools.log.warn({ err: error }, 'Slack rejected a chart or a table; sending them as text');
    await sendRendered(address, await renderPrivately(address, message, tools), tools);
  }
}

async function sendRendered(
  address: Address,
  { parts, direct }: PrivateRendering,
  tools: PrivateTools,
): Promise<void> {
  if (direct !== undefined) await sendDirectly(address, direct, tools);
  if (direct !== undefined && isDirect(address)) return;
  for (const part of parts) await sendPartPrivately(address, part, tools);
}

/** Sends a direct message with its files. Throws PlatformError. */
export async function sendDirectly(
  { platformData: _, thread: __, ...address }: Address,
  message: Message,
  tools: PrivateTools,
): Promise<void> {
  const key = digestOf(`${address.person} ${tools.now()}`);
  const channel = isDirect(address) ? address.channel : address.person;
  await show({ ...address, channel }, message, { key, remember: async () => undefined }, tools);
}

/** The address itself, or the requester's direct messages: see Address.toPerson. Throws PlatformError. */
export async function deliveryAddress(
  address: Address,
  posted: PostState | undefined,
  tools: ShowTools,
): Promise<Address> {
  if (!address.toPerson) return address;
  const { person, platformData: _, thread: _thread, ...rest } = address;
  const { channel, parts } = readPosted(posted, '');
  if (parts.length > 0) return { ...rest, person, channel };
  const open = () => tools.web.conversations.open({ users: person });
  try {
    const opened = await call(open, { repeatable: true }, tools);
    return { ...rest, person, channel: opened.channel?.id ?? person };
  } catch (error) {
    throw toPlatformError(error, tools);
  }
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
    // The bot or the person is not in the channel, or it was deleted. A direct message still works.
  }
  try {
    await call(() => chat.postMessage({ channel: user, text, blocks }), { repeatable: false }, tools);
  } catch (error) {
    throw toPlatformError(error, tools);
  }
}

const platformDataSchema = z.object({ responseUrl: z.string(), responseUrlSince: z.number() });

/** The response URL of an interaction, for its address. */
export function responseUrlData(responseUrl: string | undefined, now: number): Pick<Address, 'platformData'> {
  return responseUrl === undefined ? {} : { platformData: { responseUrl, responseUrlSince: now } };
}

/**
 * Replies through the response URL, even in channels where the bot may not write. The URL works five times within 30 minutes.
 * Returns false if it no longer works.
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
    // The caller falls back to another method.
    return false;
  }
}
