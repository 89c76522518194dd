import type { FaultHooks } from './fault-hooks.ts';
import type { MusicShape } from './shapes.ts';
import type { Studio } from './studio/studio.ts';

export interface EmulatorOptions {
  /** Address to listen on; default 127.0.0.1. */
  readonly host?: string;
  /** Port to listen on; default 0, any free one. */
  readonly port?: number;
  /** The key that clients must send; default `emulator-key`. */
  readonly apiKey?: string;
  /** Base of the URLs of generated files; default where the emulator listens. */
  readonly publicUrl?: string;
  /** Scales every delay; default 1, where songs take seconds. 0 removes all delays. */
  readonly speed?: number;
  /** The form of music bodies that the contract doesn't show; default that of the public API. */
  readonly shape?: MusicShape;
  /** Length of a song in seconds, rounded to whole bars; default 14. Tests use less. */
  readonly songSeconds?: number;
  /** The maximum length of a video in seconds; default the requested length. */
  readonly longestVideoSeconds?: number;
  /** Lifetime of a video's URL in seconds, not scaled; default 86 400 (upstream's 24 hours). */
  readonly videoUrlSeconds?: number;
  /** Models on a page of the model list if the client sends no limit; default 20. */
  readonly modelsPerPage?: number;
  /** Timeout of callbacks in seconds; default 15, as upstream. */
  readonly callbackTimeoutSeconds?: number;
  readonly faultHooks?: FaultHooks;
  /** Milliseconds since 1970; default Date.now. */
  readonly now?: () => number;
  /** Waits, and rejects when the signal aborts; default that of node:timers/promises. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Creates IDs; default crypto.randomUUID. */
  readonly randomId?: () => string;
  /** Creates songs, images and videos; default a studio that synthesises them. Closed with the emulator. */
  readonly studio?: Studio;
  /** Used for callbacks, uploads and source images; default the global fetch. */
  readonly fetch?: typeof globalThis.fetch;
}

/** A received request, for tests and client authors. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** The parsed JSON body, if any. */
  readonly body: unknown;
  /** Null until the response is sent. */
  readonly status: number | null;
}

/** A callback and its outcome. */
export interface RecordedCallback {
  readonly body: string;
  readonly attempts: number;
  readonly outcome: 'pending' | 'delivered' | 'given up';
}
