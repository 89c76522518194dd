/** The origin of a file according to its marks, in every format. */

/** The marks in a file, of any service. */
export interface Provenance {
  /** It has a C2PA manifest, whose signature covers the whole file: https://spec.c2pa.org */
  readonly c2pa: boolean;
  /** XMP packets and other texts that may hold a mark. */
  readonly texts: readonly string[];
}

/** A part of a file, from `start` to before `end`. */
export interface FilePart {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** Metadata is small. Longer texts are not read. */
export const LONGEST_TEXT = 1024 * 1024;
