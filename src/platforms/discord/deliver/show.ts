/** Shows a message in the richest style that Discord accepts. Safe to repeat. */
import type { Address } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { PlatformError, type PostState, type ShowOptions } from '../../platform.ts';
import { type AddressData, addressDataOf, liveToken } from '../address.ts';
import { type ErrorKind, errorKindOf, platformErrorOf } from '../errors.ts';
import { DEFAULT_FILE_BYTES, FILE_BYTES_BY_TIER } from '../limits.ts';
import {
  missingNote,
  missingPermissionAdvice,
  type PermissionName,
  preventsSending,
} from '../permissions.ts';
import { type DiscordRenderOptions, type Page, renderPages } from '../render/pages.ts';
import type { DeliveryTools } from './tools.ts';
import { createWriter, discordPostOf, UnconfirmedFollowUp } from './writer.ts';

const TOKEN_ONLY =
  "Discord lets me write here for only 15 minutes. If this takes longer, I'll send you the result as a direct message.";

export interface ShowOnceOptions extends ShowOptions {
  /** The text is still being written. */
  readonly streaming?: boolean;
}

/** Throws PlatformError. */
export async function showMessage(
  address: Address,
  message: Message,
  options: ShowOnceOptions,
  tools: DeliveryTools,
): Promise<PostState> {
  const data = addressDataOf(address);
  const post = discordPostOf(options.posted);
  const writer = createWriter(address, post, options, tools);
  const missing = missingForBot(address, data, tools) ?? [];
  const write = async () => {
    // The note remains if the token expires before the result is ready.
    const tokenNote = data.tokenOnly && message.progress ? { note: TOKEN_ONLY } : {};
    const styles = stylesFor(address, data, missing, tools).map((style) => ({
      ...style,
      ...tokenNote,
    }));
    await writeRichest(writer, message, post.unheard ? styles.map(inOneMessage) : styles, options, tools);
  };
  try {
    if (preventsSending(missing)) {
      const advice = missingPermissionAdvice(missing);
      throw new PlatformError('gone', 'The bot is missing permission to write in the channel', { advice });
    }
    await write().catch(async (error: unknown) => {
      if (!(error instanceof UnconfirmedFollowUp)) throw error;
      await write();
    });
    if (message.notify && !options.streaming) await writer.notify(message.notify);
    if (options.streaming) await writer.rememberPosted();
    return post;
  } catch (error) {
    await writer.rememberPosted();
    throw platformErrorOf(error, missing.length > 0 ? missing : data.missing);
  }
}

const CLOSED_ADVICE =
  "I couldn't send you a direct message. Allow direct messages in this server's privacy settings, then use /jobs to see the result.";

/** Shows a message in the requester's direct messages: see Address.toPerson. Throws PlatformError. */
export async function showDirectly(
  { platform, person }: Address,
  message: Message,
  options: ShowOnceOptions,
  tools: DeliveryTools,
): Promise<PostState> {
  try {
    const [first] = discordPostOf(options.posted).messages;
    const channel = first?.channel ?? (await tools.rest.directChannel(person));
    return await showMessage({ platform, channel, direct: true, person }, message, options, tools);
  } catch (error) {
    const known = platformErrorOf(error);
    if (!(known instanceof PlatformError) || known.code === 'unavailable' || known.code === 'refused')
      throw known;
    throw new PlatformError('gone', 'The person does not accept direct messages', {
      cause: error,
      advice: CLOSED_ADVICE,
    });
  }
}

/** Returns the permissions missing for the bot's own token. An interaction's token does not need permissions. */
function missingForBot(
  { guild, channel, parent }: Address,
  data: AddressData,
  { guilds, now }: DeliveryTools,
) {
  if (guild === undefined || data.tokenOnly || liveToken(data, now())) return undefined;
  return guilds.missingPermissions(guild, channel, parent);
}

type Style = Pick<DiscordRenderOptions, 'fileBytes' | 'cards' | 'textFile' | 'maxPages' | 'threads' | 'note'>;

/** Returns styles from the richest to the plainest. */
function stylesFor(
  { guild }: Address,
  data: AddressData,
  missing: readonly PermissionName[],
  { guilds, now }: DeliveryTools,
): Style[] {
  const tier = guild === undefined ? 0 : (guilds.premiumTier(guild) ?? 0);
  const guildLimit = FILE_BYTES_BY_TIER[tier] ?? DEFAULT_FILE_BYTES;
  const largest = (liveToken(data, now()) && data.fileBytes) ?? guildLimit;
  const sizes = [largest, ...(largest > DEFAULT_FILE_BYTES ? [DEFAULT_FILE_BYTES] : []), 0];
  const threads = data.threads ?? false;
  const plainest = { fileBytes: 0, cards: false, textFile: false, threads };
  if (missing.length === 0) return [...sizes.map((fileBytes) => ({ fileBytes, threads })), plainest];
  const note = missingNote(missing);
  if (!missing.includes('Embed Links'))
    return [
      { fileBytes: 0, textFile: false, threads, note },
      { ...plainest, note },
    ];
  const withFiles = sizes.map((fileBytes) => ({ fileBytes, cards: false, threads, note }));
  return [...(missing.includes('Attach Files') ? [] : withFiles), { ...plainest, note }];
}

/** Puts everything in one message: long text becomes a file. */
const inOneMessage = (style: Style): Style => ({ ...style, maxPages: 1, textFile: true });

/** Tries plainer styles while Discord rejects a file, or the current style needs a missing permission. */
async function writeRichest(
  writer: ReturnType<typeof createWriter>,
  message: Message,
  styles: readonly Style[],
  { streaming = false }: ShowOnceOptions,
  { media: { link } }: DeliveryTools,
): Promise<void> {
  let note: Pick<Style, 'note'> = {};
  for (const [index, style] of styles.entries()) {
    const pages = await renderPages(message, { ...style, ...note, link, streaming });
    try {
      return await writer.writePages(pages);
    } catch (error) {
      const kind = errorKindOf(error);
      const next = styles[index + 1];
      if (!next || !canSimplify(kind, pages)) throw error;
      const unneeded = permissionsNotNeeded(pages, next);
      if (kind === 'no-permission' && unneeded.length > 0) note = { note: missingNote(unneeded) };
    }
  }
}

const hasFiles = (pages: readonly Page[]): boolean => pages.some(({ files }) => files.length > 0);
const hasCards = (pages: readonly Page[]): boolean => pages.some(({ embeds }) => embeds.length > 0);

function canSimplify(kind: ErrorKind, pages: readonly Page[]): boolean {
  if (kind === 'no-permission') return hasFiles(pages) || hasCards(pages);
  return (kind === 'too-large' || kind === 'refused') && hasFiles(pages);
}

/** Returns the permissions that the next style no longer needs. */
function permissionsNotNeeded(pages: readonly Page[], next: Style): PermissionName[] {
  return [
    ...(next.cards === false && hasCards(pages) ? (['Embed Links'] as const) : []),
    ...(next.fileBytes === 0 && (hasFiles(pages) || next.cards === false) ? (['Attach Files'] as const) : []),
  ];
}
