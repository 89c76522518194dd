/** Types for serving stored files. */

/** A signed link. */
export interface FileLink {
  readonly name: string;
  /** File name of the download. */
  readonly downloadName: string;
  /** Seconds since the epoch. */
  readonly expires: number;
  /** The song whose page has the link. Without its page, the link does not work. */
  readonly page?: string | undefined;
}

/** An inclusive byte range, as in HTTP. Without `end`, to the end of the file. */
export interface ByteRange {
  readonly start: number;
  readonly end?: number;
}
