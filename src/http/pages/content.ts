/** The content of pages. Texts are raw; pages escape them. */
import type { MediaFile } from '../../core/message.ts';
import type { LyricLine } from '../../core/work.ts';

/** A file on the listener. `path` is signed, expiring and relative to the root; `name` is the download name. */
export interface LinkedFile extends MediaFile {
  readonly path: string;
}

export interface PageStem {
  /** Such as `vocals`. */
  readonly name: string;
  readonly file: LinkedFile;
}

export interface PageTake {
  readonly audio: LinkedFile;
  readonly seconds?: number;
  /** Synced lyrics; empty if unknown. */
  readonly lines: readonly LyricLine[];
  readonly stems: readonly PageStem[];
  readonly wav?: LinkedFile;
  readonly lrc?: LinkedFile;
  readonly video?: LinkedFile;
}

/** A link to another song; without `path` if its page cannot be opened. */
export interface PageLink {
  readonly title: string;
  readonly path?: string;
}

/** A song that is being created. Times are in milliseconds since the epoch. */
export interface PageProgress {
  readonly stage: string;
  readonly startedAt: number;
  /** Typical duration of similar work, in milliseconds. */
  readonly estimateMs?: number;
}

export interface SongPage {
  /** Absent once the song is finished. Until then, there may be no takes. */
  readonly progress?: PageProgress;
  readonly title: string;
  /** The requester. */
  readonly person: string;
  readonly style?: string;
  /** Such as the contest that it won. */
  readonly award?: string;
  /** As the gateway names it. */
  readonly model?: string;
  readonly lyrics?: string;
  readonly cover?: LinkedFile;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Takes with stored files, numbered among all takes. */
  readonly takes: readonly (PageTake & { readonly number: number })[];
  readonly basedOn?: PageLink;
  /** Songs based on it, newest first. */
  readonly derived: readonly PageLink[];
}

export interface AlbumSong extends PageLink {
  readonly person: string;
  readonly audio: LinkedFile;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly cover?: LinkedFile;
  readonly seconds?: number;
  /** Shown instead of its time, such as its votes in a contest. */
  readonly note?: string;
}

export interface AlbumPage {
  /** Replaces the title with the channel's name. */
  readonly title?: string;
  /** The channel's name, if known. */
  readonly channel?: string;
  /** Newest first; for a contest, most votes first. */
  readonly songs: readonly AlbumSong[];
}

/** The reason a valid link has no page. */
export type PageUnavailable = 'erased' | 'failed' | 'withdrawn' | 'off' | 'files';

/** Loads the content of pages. Rejects when storage is down. */
export interface PageSource {
  /** `id` is the song's job id. */
  song(id: string): Promise<SongPage | PageUnavailable>;
  /** `id` is the id in the page's URL. */
  album(id: string): Promise<AlbumPage | PageUnavailable>;
  /** Whether the page of this song can be opened. */
  isOpen(id: string): Promise<boolean>;
}
