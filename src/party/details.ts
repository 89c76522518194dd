/** What the message of a party shows of a song: its timed lines, its cover and its page. */
import type { MediaItem } from '../core/message.ts';
import type { Party } from '../core/party.ts';
import type { LyricLine } from '../core/work.ts';
import type { PartiesOptions } from './options.ts';

interface Details {
  readonly lines: readonly LyricLine[];
  readonly cover: MediaItem | undefined;
  readonly page: string | undefined;
}

const NONE: Details = { lines: [], cover: undefined, page: undefined };

/** Asked for once a round, and there when they have come. */
export function createDetails({
  linesOf,
  coverOf,
  pageOf,
  log,
}: Pick<PartiesOptions, 'linesOf' | 'coverOf' | 'pageOf' | 'log'>) {
  let round: number | undefined;
  let details: Details = NONE;
  return ({ round: current, current: song }: Party): Details => {
    if (round === current) return details;
    round = current;
    details = NONE;
    if (song) {
      const failed = (error: unknown) => void log.info({ err: error }, 'A song is shown without its details');
      linesOf(song).then((lines) => {
        if (round === current) details = { ...details, lines };
      }, failed);
      coverOf(song).then((cover) => {
        if (round === current) details = { ...details, cover };
      }, failed);
      pageOf(song).then((page) => {
        if (round === current) details = { ...details, page };
      }, failed);
    }
    return details;
  };
}

/** The line that is sung at a second. Plain. */
export function lineAt(lines: readonly LyricLine[], seconds: number): string | undefined {
  return lines.findLast(({ startSeconds }) => startSeconds <= seconds)?.text;
}
