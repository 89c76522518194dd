/** The origin of a file according to its marks. */
import type { JobView } from './job.ts';

export interface FileOrigin {
  /** The mark that this deployment wrote, and its job if the person may see it. */
  readonly mark?: {
    /** The day of the request in UTC, as `2026-01-31`. */
    readonly day: string;
    readonly model?: string | undefined;
    readonly job?: JobView | undefined;
  };
  /** The bot stores exactly this file. */
  readonly isStored: boolean;
  /** It has a C2PA manifest of another service. */
  readonly hasManifest: boolean;
  /** It says that a model generated it, or parts of it. */
  readonly isGenerated: boolean;
  /** False for types whose marks the bot cannot read. */
  readonly isReadable: boolean;
}
