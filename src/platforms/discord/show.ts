/** Makes a message stand, in the richest style that Discord takes. Safe to repeat. */
import type { Address } from '../../command.ts';
import type { Message } from '../../message.ts';
import { PlatformError, type Posted, type ShowOptions } from '../platform.ts';
import { lackingAdvice, type Trouble, toPlatformError, troubleOf } from './errors.ts';
import { DEFAULT_FILE_BYTES } from './limits.ts';
import { listed, mutes, type PermissionName } from './permissions.ts';
import { liveToken, type Place, placeOf } from './place.ts';
import { type Page, type RenderOptions, render } from './render.ts';
import { standingSchema, UnheardFollowUp, Writer, type WriterDependencies } from './writer.ts';

export interface ShowDependencies extends WriterDependencies {
  /** The largest file in bytes that the bot token may send to a guild. */
  readonly fileBytes: (guild: string | undefined) => number;
  /** Permissions that the bot lacks in a channel; undefined where that is not known. */
  readonly lacking: (guild: string, channel: string) => readonly PermissionName[] | undefined;
}

interface ShowOnce extends ShowOptions {
  /** The text is still being written. */
  readonly streaming?: boolean;
}

/** Throws PlatformError. */
export async function show(
  address: Address,
  message: Message,
  options: ShowOnce,
  dependencies: ShowDependencies,
): Promise<Posted> {
  const place = placeOf(address);
  const standing = standingSchema.parse(
    standingSchema.safeParse(options.posted ?? {}).data ?? { messages: [] },
  );
  const writer = new Writer(address, place, standing, options, dependencies);
  const lacks = lackingNow(address, place, dependencies);
  const richest = styles(address, place, lacks ?? [], dependencies);
  const stand = (some: readonly Style[]) => standInSomeStyle(writer, message, some, options, dependencies);
  try {
    if (lacks && mutes(lacks)) throw silenced(lacks);
    standing.folded ||= standing.unheard;
    try {
      await stand(standing.folded ? richest.map(folded) : richest);
    } catch (error) {
      if (!(error instanceof UnheardFollowUp)) throw error;
      standing.folded = true;
      await stand(richest.map(folded));
    }
    if (message.notify && !options.streaming) await writer.notify();
    return standing;
  } catch (error) {
    throw toPlatformError(error, lacks?.length ? lacks : place.lacks);
  }
}

/** What the bot's own token lacks now; nothing while the interaction's token speaks, which needs no permission. */
function lackingNow({ guild, channel }: Address, place: Place, d: ShowDependencies) {
  if (guild === undefined || place.tokenOnly || liveToken(place, d.now())) return undefined;
  return d.lacking(guild, channel);
}

const silenced = (lacks: readonly string[]): PlatformError =>
  new PlatformError('gone', 'The bot may not write in the channel', { advice: lackingAdvice(lacks) });

type Style = Pick<RenderOptions, 'fileBytes' | 'cards' | 'textFile' | 'mostPages' | 'threads' | 'note'>;

/** From the richest to the plainest. */
function styles(
  address: Address,
  place: Place,
  lacks: readonly PermissionName[],
  { fileBytes, now }: ShowDependencies,
): Style[] {
  const most =
    liveToken(place, now()) && place.fileBytes !== undefined ? place.fileBytes : fileBytes(address.guild);
  const sizes = [most, ...(most > DEFAULT_FILE_BYTES ? [DEFAULT_FILE_BYTES] : []), 0];
  const threads = place.threads ?? false;
  const plainest = { fileBytes: 0, cards: false, textFile: false, threads };
  const [missing, ...more] = lacks;
  if (missing === undefined) return [...sizes.map((size) => ({ fileBytes: size, threads })), plainest];
  const note = missingNote([missing, ...more]);
  if (!lacks.includes('Embed Links'))
    return [
      { fileBytes: 0, textFile: false, threads, note },
      { ...plainest, note },
    ];
  const filesToo = lacks.includes('Attach Files');
  return [
    ...(filesToo ? [] : sizes.map((size) => ({ fileBytes: size, cards: false, threads, note }))),
    { ...plainest, note },
  ];
}

/** Everything in one message: what is long becomes a file. */
const folded = (style: Style): Style => ({ ...style, mostPages: 1, textFile: true });

/** Turns to a plainer style while Discord does not take a file or a permission for the present one is missing. */
async function standInSomeStyle(
  writer: Writer,
  message: Message,
  [style = { fileBytes: 0 }, ...plainer]: readonly Style[],
  options: ShowOnce,
  dependencies: ShowDependencies,
): Promise<void> {
  const { link } = dependencies.media;
  const pages = render(message, { ...style, link, streaming: options.streaming ?? false });
  try {
    await writer.stand(pages);
  } catch (error) {
    const trouble = troubleOf(error);
    if (!helpsToBePlain(trouble, pages) || plainer.length === 0) throw error;
    const note = trouble === 'no-permission' ? missingNote(goneWithout(pages, plainer)) : undefined;
    const next = plainer.map((one) => (note === undefined ? one : { ...one, note }));
    await standInSomeStyle(writer, message, next, options, dependencies);
  }
}

const hasFiles = (pages: readonly Page[]): boolean => pages.some(({ files }) => files.length > 0);
const hasCards = (pages: readonly Page[]): boolean => pages.some(({ embeds }) => embeds.length > 0);

function helpsToBePlain(trouble: Trouble, pages: readonly Page[]): boolean {
  switch (trouble) {
    case 'too-large':
    case 'refused':
      return hasFiles(pages);
    case 'no-permission':
      return hasFiles(pages) || hasCards(pages);
    default:
      return false;
  }
}

/** What the next style goes without is what is missing. */
function goneWithout(pages: readonly Page[], [next]: readonly Style[]): string[] {
  return [
    ...(next?.cards === false && hasCards(pages) ? ['Embed Links'] : []),
    ...(next?.fileBytes === 0 && (hasFiles(pages) || next.cards === false) ? ['Attach Files'] : []),
  ];
}

const missingNote = (missing: readonly string[]): string =>
  `This would look better if I had the permission ${listed(missing)} here.`;
