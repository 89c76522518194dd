/** What chat platforms serve at the listener. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BrowserAnswer, BrowserEvent } from './browser-chat.ts';

/** What a chat platform answers itself at the listener: events that it sends, and pages that people open. */
export interface PlatformRoutes {
  readonly routes: readonly { readonly method: 'GET' | 'POST'; readonly path: string }[];
  /** Reads the body itself, since signatures are made over its bytes. Throws what the listener answers with 500. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
}

/** Whether a part of the process is of use; `reason` is public. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string };

/** A chat that the listener shows in a browser on this machine. */
export interface BrowserChat {
  /** In the page's address: without it nothing is served. */
  readonly token: string;
  /** The most that a file may have. */
  readonly uploadBytes: number;
  /**
   * Sends what the person sees: first all of it, then each change, until the signal aborts or the chat closes. Resolves then;
   * at once where there is no such person.
   */
  watch(person: string, send: (event: BrowserEvent) => void, signal: AbortSignal): Promise<void>;
  /** Answers what the page asks; undefined for what cannot be read. */
  ask(request: unknown): Promise<BrowserAnswer | undefined>;
  /** Holds a file until the bot has read it. */
  upload(name: string, contentType: string, bytes: Buffer): { readonly id: string };
  /** A file that is held; undefined where there is none of this id. */
  uploaded(id: string): { readonly contentType: string; readonly bytes: Buffer } | undefined;
}
