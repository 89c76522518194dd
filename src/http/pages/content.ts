/** What pages show, as it is handed to them. Texts are as people wrote them; pages escape them. */
import type { KeptFile } from '../../core/message.ts';
import type { LyricLine } from '../../core/work.ts';

/** A file on the listener: `path` is relative to its root and signed, and expires; `name` is the file name for downloads. */
export interface LinkedFile extends KeptFile {
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

/** A song in few words, with the path of its page where that can be opened. */
export interface PageLink {
  readonly title: string;
  readonly path?: string;
}

export interface SongPage {
  readonly title: string;
  /** The requester. */
  readonly person: string;
  readonly style?: string;
  readonly lyrics?: string;
  readonly cover?: LinkedFile;
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
  /** Takes with stored files, numbered among all takes. */
  readonly takes: readonly (PageTake & { readonly number: number })[];
  readonly madeFrom?: PageLink;
  /** Songs based on it, newest first. */
  readonly made: readonly PageLink[];
}

export interface AlbumSong extends PageLink {
  readonly person: string;
  readonly cover?: LinkedFile;
  readonly seconds?: number;
}

export interface AlbumPage {
  /** The channel's name, if known. */
  readonly channel?: string;
  /** Newest first. */
  readonly songs: readonly AlbumSong[];
}

/** Why there is no page behind a link that was good. */
export type Gone = 'erased' | 'withdrawn' | 'off' | 'files';

/** Where pages get their content. Rejects when storage is away. */
export interface PageSource {
  /** By the id of its job. */
  song(id: string): Promise<SongPage | Gone>;
  /** By what its address says. */
  album(id: string): Promise<AlbumPage | Gone>;
}
