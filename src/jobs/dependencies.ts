import type { Address, AnyCommand, Family, Invocation, Log, Outcome, Voice } from '../command.ts';
import type { Gateway } from '../gateway/client.ts';
import type { Media } from '../media/media.ts';
import type { KeptFile } from '../message.ts';
import type { Platform } from '../platforms/platform.ts';
import type { Storage } from '../storage/storage.ts';
import type { Work } from '../work.ts';
import type { Job } from './job.ts';
import type { Pace } from './pace.ts';

/** Counts what people use. */
export interface JobMeter {
  /** Throws UserError when a limit has no room. `known`: the same invocation was counted before. */
  reserve(job: MeteredJob): Promise<{ readonly known: boolean }>;
  /** May be called again. */
  settle(job: MeteredJob): Promise<void>;
  /** May be called again; what was settled stays. */
  giveBack(job: MeteredJob): Promise<void>;
}

type MeteredJob = Pick<Job, 'invocation' | 'address' | 'person' | 'work' | 'createdAt'>;

/** Everything that the jobs room needs from outside. */
export interface JobDependencies {
  readonly storage: Storage;
  readonly gateway: Gateway;
  readonly meter: JobMeter;
  readonly media: Pick<Media, 'archive' | 'keep' | 'keepBytes' | 'keepText' | 'open' | 'stat' | 'tag'>;
  /** Keeps a voice for the server; may be called again with the same. */
  readonly voices: { keep(where: Address, voice: Voice): Promise<void> };
  readonly platform: (name: string) => Platform | undefined;
  readonly command: (name: string) => AnyCommand | undefined;
  /** The door that people's own commands go through: the same checks, access and limits. Never rejects. */
  readonly invoke: (invocation: Invocation) => Promise<Outcome>;
  /** The signed URL that the gateway calls for this job. */
  readonly callbackUrl: (job: string) => string;
  /** A signed, expiring URL under which people and the gateway can read a kept file; `name` is what it is saved as. */
  readonly fileUrl: (file: KeptFile, name: string) => string;
  /** How many jobs of a family may be at the gateway at once, over all replicas. */
  readonly concurrency: Readonly<Record<Family, number>>;
  readonly familyOf: (work: Work) => Family;
  /** One rate for all polls of this replica. */
  readonly pollPace: Pace;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after so many milliseconds, or at once when the signal aborts. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 to 1, for jitter. */
  readonly random: () => number;
  /** A new id of letters and digits, at most 25 characters, never used before. */
  readonly newId: () => string;
  readonly log: Log;
}
