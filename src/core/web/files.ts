/** Kept files: what a link to one says, and which bytes of it are read. */

/** A signed link. */
export interface FileLink {
  readonly name: string;
  /** What the file is called where it is saved. */
  readonly downloadName: string;
  /** Seconds since the epoch. */
  readonly expires: number;
}

/** Byte positions, both inclusive, as in HTTP. Without `end`, to the end of the file. */
export interface ByteRange {
  readonly start: number;
  readonly end?: number;
}
