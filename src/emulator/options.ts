import type { FaultHooks } from './fault-hooks.ts';
import type { MusicShape } from './shapes.ts';
import type { Studio } from './studio/studio.ts';

export interface EmulatorOptions {
  /** Address to listen on; default 127.0.0.1. */
  readonly host?: string;
  /** Port to listen on; default 0, any free one. */
  readonly port?: number;
  /** The key that clients must present; default `emulator-key`. */
  readonly apiKey?: string;
  /** Base of the URLs of generated files; default where the emulator listens. */
  readonly publicUrl?: string;
  /** Scales every delay: 1 (the default) takes seconds as in a demo, 0 removes all delays. */
  readonly speed?: number;
  /** How the gaps of the music routes (what the contract calls "not shown") are filled; default as the public API does. */
  readonly shape?: MusicShape;
  /** Length of a song in seconds, rounded to whole bars; default 14. Tests ask for less. */
  readonly songSeconds?: number;
  /** The maximum length of a video in seconds; default the requested length. */
  readonly longestVideoSeconds?: number;
  /** How long a video's URL works, in seconds and never scaled; default 86 400 (upstream's 24 hours). */
  readonly videoUrlSeconds?: number;
  /** How many models a page of the model list has when the client names no limit; default 20. */
  readonly modelsPerPage?: number;
  /** How long a callback's receiver may take to answer, in seconds; default 15, as upstream. */
  readonly callbackTimeoutSeconds?: number;
  readonly faultHooks?: FaultHooks;
  /** Milliseconds since 1970; default Date.now. */
  readonly now?: () => number;
  /** Waits, and rejects when the signal aborts; default that of node:timers/promises. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Makes ids; default crypto.randomUUID. */
  readonly randomId?: () => string;
  /** Makes songs, pictures and videos; default one that paints and synthesises them. Closed with the emulator. */
  readonly studio?: Studio;
  /** Used for callbacks, uploads and source images; default the global fetch. */
  readonly fetch?: typeof globalThis.fetch;
}

/** A received request, for tests and client authors. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** The parsed JSON body, if there was one. */
  readonly body: unknown;
  /** Null until answered. */
  readonly status: number | null;
}

/** One callback and what became of it. */
export interface RecordedCallback {
  readonly body: string;
  readonly attempts: number;
  readonly outcome: 'pending' | 'delivered' | 'given up';
}
