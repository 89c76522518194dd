import type { AnyCommand, Log } from '../command.ts';
import type { Gateway } from '../gateway/client.ts';
import type { Media } from '../media/media.ts';
import type { KeptFile } from '../message.ts';
import type { Platform } from '../platforms/platform.ts';
import type { Storage } from '../storage/storage.ts';
import type { Pace } from './pace.ts';

/** Everything that the jobs room needs from outside. */
export interface JobDependencies {
  readonly storage: Storage;
  readonly gateway: Gateway;
  readonly media: Pick<Media, 'keep' | 'keepBytes' | 'open' | 'stat' | 'tag'>;
  readonly platform: (name: string) => Platform | undefined;
  readonly command: (name: string) => AnyCommand | undefined;
  /** The signed URL that the gateway calls for this job. */
  readonly callbackUrl: (job: string) => string;
  /** A signed, expiring URL under which people and the gateway can read a kept file; `name` is what it is saved as. */
  readonly fileUrl: (file: KeptFile, name: string) => string;
  /** One rate for all polls of this replica. */
  readonly pollPace: Pace;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
  /** A new id of letters and digits, at most 25 characters, never used before. */
  readonly newId: () => string;
  readonly log: Log;
}
