import type { AnyCommand } from '../core/bot/command.ts';
import type { Outcome } from '../core/bot/outcome.ts';
import type { Family } from '../core/family.ts';
import type { Address, Invocation } from '../core/invocation.ts';
import type { Job } from '../core/job.ts';
import type { KeptFile } from '../core/message.ts';
import type { Voice } from '../core/music/voice.ts';
import type { System } from '../core/system.ts';
import type { Measure } from '../core/telemetry/series.ts';
import type { Tracer } from '../core/telemetry/tracer.ts';
import type { Gateway } from '../gateway/client.ts';
import type { PictureFitter } from '../media/content/pictures.ts';
import type { Media } from '../media/media.ts';
import type { Platform } from '../platforms/platform.ts';
import type { Meter } from '../settings/limits/meter.ts';
import type { Storage } from '../storage/storage.ts';

/** Everything that jobs need from outside. */
export interface JobDependencies extends Pick<System, 'now' | 'sleep' | 'random' | 'newId' | 'log'> {
  readonly storage: Storage;
  readonly gateway: Gateway;
  readonly meter: Pick<Meter, 'claim' | 'settle' | 'giveBack'>;
  readonly media: Pick<
    Media,
    'archive' | 'keep' | 'keepBytes' | 'keepText' | 'open' | 'seconds' | 'stat' | 'tag'
  >;
  /** Scales pictures down to what models take. */
  readonly fitPicture: PictureFitter;
  /** Keeps a voice for the server; may be called again with the same. */
  readonly voices: { keep(where: Address, voice: Voice): Promise<void> };
  readonly platform: (name: string) => Platform | undefined;
  readonly command: (name: string) => AnyCommand | undefined;
  /** Runs a command as people's own: with the same checks, access and limits. Never rejects. */
  readonly invoke: (invocation: Invocation) => Promise<Outcome>;
  /** The signed URL that the gateway calls for this job. */
  readonly callbackUrl: (job: string) => string;
  /** A signed, expiring URL of a kept file, for people and the gateway; `name` is what it is saved as. */
  readonly fileUrl: (file: KeptFile, name: string) => string;
  /** The page of a song, if people can open it and moderators allow it. */
  readonly pageUrl: (job: Job) => Promise<string | undefined>;
  /** How many jobs of a family may be at the gateway at once, over all replicas. */
  readonly concurrency: Readonly<Record<Family, number>>;
  /** For operators' numbers. */
  readonly measure: Measure;
  /** For operators' traces; left out, there are none. */
  readonly tracer?: Tracer | undefined;
}
