import type { AnyCommand } from '../core/bot/command.ts';
import type { Outcome } from '../core/bot/outcome.ts';
import type { Address, Invocation } from '../core/invocation.ts';
import type { Job } from '../core/job.ts';
import type { MediaFile } from '../core/message.ts';
import type { Family } from '../core/models/family.ts';
import type { Voice } from '../core/music/voice.ts';
import type { System } from '../core/system.ts';
import type { Measure } from '../core/telemetry/series.ts';
import type { Tracer } from '../core/telemetry/tracer.ts';
import type { Gateway } from '../gateway/client.ts';
import type { Pictures } from '../media/content/pictures.ts';
import type { Media } from '../media/media.ts';
import type { Platform } from '../platforms/platform.ts';
import type { Meter } from '../settings/limits/meter.ts';
import type { Storage } from '../storage/storage.ts';

/** External dependencies of jobs. */
export interface JobDependencies extends Pick<System, 'now' | 'sleep' | 'random' | 'newId' | 'log'> {
  readonly storage: Storage;
  readonly gateway: Omit<Gateway, 'checkKey'>;
  readonly meter: Pick<Meter, 'claim' | 'settle' | 'refund'>;
  readonly media: Pick<
    Media,
    'archive' | 'keep' | 'keepBytes' | 'keepText' | 'open' | 'seconds' | 'stat' | 'tag'
  >;
  /** Scales images down to the size that models accept. */
  readonly pictures: Pictures;
  /** Saves a voice for the server. Idempotent. */
  readonly voices: { save(where: Address, voice: Voice): Promise<void> };
  readonly platform: (name: string) => Platform | undefined;
  readonly command: (name: string) => AnyCommand | undefined;
  /** Runs a command on behalf of a person, with all checks, access rules and limits. Never rejects. */
  readonly invoke: (invocation: Invocation) => Promise<Outcome>;
  /** The signed callback URL of a job, for the gateway. */
  readonly callbackUrl: (job: string) => string;
  /** A signed, expiring URL of a stored file, for people and the gateway. `name` is the name of the download. */
  readonly fileUrl: (file: MediaFile, name: string) => string;
  /** The page of a song, if people can reach it and moderators allow it. */
  readonly pageUrl: (job: Job) => Promise<string | undefined>;
  /** Limit of jobs per family at the gateway, across all replicas. */
  readonly concurrency: Readonly<Record<Family, number>>;
  /** Records metrics. */
  readonly measure: Measure;
  /** Records traces, if enabled. */
  readonly tracer?: Tracer | undefined;
}
