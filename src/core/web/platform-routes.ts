/** Routes of chat platforms on the HTTP listener. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BrowserAnswer, BrowserEvent } from './browser-chat.ts';

/** HTTP routes that a chat platform handles itself: its events, and pages that people open. */
export interface PlatformRoutes {
  readonly routes: readonly { readonly method: 'GET' | 'POST'; readonly path: string }[];
  /** Reads the body itself, because signatures cover its bytes. The listener answers thrown errors with 500. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
}

/** The readiness of a part of the process. `reason` is public. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string };

/** A chat in a browser on this machine. */
export interface BrowserChat {
  /** Secret in the page's URL, required by every request. */
  readonly token: string;
  /** Size limit of a file. */
  readonly uploadBytes: number;
  /**
   * Sends the person's view of the chat, then each change. Resolves when the signal aborts or the chat closes, and immediately for an
   * unknown person.
   */
  watch(person: string, send: (event: BrowserEvent) => void, signal: AbortSignal): Promise<void>;
  /** Handles a request of the page; undefined if it is malformed. */
  ask(request: unknown): Promise<BrowserAnswer | undefined>;
  /** Holds a file until the bot has read it. */
  upload(name: string, contentType: string, bytes: Buffer): { readonly id: string };
  /** An uploaded file; undefined if there is no such file. */
  uploaded(id: string): { readonly contentType: string; readonly bytes: Buffer } | undefined;
}
