/** Details of a song for the message of a party: timed lines, cover and page. */
import type { MediaItem } from '../core/message.ts';
import type { Party, PartySong } from '../core/music/party.ts';
import type { Log } from '../core/telemetry/log.ts';
import type { LyricLine } from '../core/work.ts';

export interface DetailSources {
  /** Returns the timed lines of a song; empty if nobody requested them. */
  readonly linesOf: (song: PartySong) => Promise<readonly LyricLine[]>;
  readonly coverOf: (song: PartySong) => Promise<MediaItem | undefined>;
  /** Returns the address of the song's page; undefined without one. */
  readonly pageOf: (song: PartySong) => Promise<string | undefined>;
  readonly log: Log;
}

interface Details {
  readonly lines: readonly LyricLine[];
  readonly cover: MediaItem | undefined;
  readonly page: string | undefined;
}

const EMPTY: Details = { lines: [], cover: undefined, page: undefined };

/** Loads the details once a round. Returns those loaded so far. */
export function createDetails({ linesOf, coverOf, pageOf, log }: DetailSources) {
  let round: number | undefined;
  let details: Details = EMPTY;
  return ({ round: current, current: song }: Party): Details => {
    if (round === current) return details;
    round = current;
    details = EMPTY;
    if (song) {
      const failed = (error: unknown) =>
        void log.info({ err: error }, 'Could not load the details of a song');
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

/** Returns the line sung at a second, as plain text. */
export function lineAt(lines: readonly LyricLine[], seconds: number): string | undefined {
  return lines.findLast(({ startSeconds }) => startSeconds <= seconds)?.text;
}
