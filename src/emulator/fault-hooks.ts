/** Hooks that tests use to inject faults. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { MusicShape, TaskReport } from './shapes.ts';

/** Each hook gets a request and returns undefined for no fault. */
export interface FaultHooks {
  /** Called before the routes are registered, for faults of whole requests. */
  register(server: FastifyInstance, tools: FaultTools): void;
  reporting(request: FastifyRequest): FaultyReport | undefined;
  /** The events of a streamed answer. */
  streaming(request: FastifyRequest, dialect: StreamDialect): AsyncIterable<string> | undefined;
  /** The end of a failing video. */
  video(request: FastifyRequest): VideoFault | undefined;
}

export interface FaultTools {
  readonly shape: MusicShape;
  readonly closing: AbortSignal;
  randomId(): string;
  /** Waits for a number of seconds, scaled by the emulator's speed. Rejects when the emulator closes. */
  pause(seconds: number): Promise<void>;
}

/** A step of a task that ends in a callback, `atSeconds` after the submission (scaled by speed). */
export interface Stage {
  readonly atSeconds: number;
  make(): Promise<TaskReport>;
}

/** Reports a task to its receiver. */
export interface Reporter {
  /** Resolves to true if the report was accepted. `taskId` replaces the task's own ID. */
  send(report: TaskReport, taskId?: string): Promise<boolean>;
  sendBody(body: string): Promise<boolean>;
  /** Ends the task with the report that is being sent. */
  finish(sending: Promise<boolean>, state: 'complete' | 'failed'): Promise<void>;
  fail(code: number, message: string): Promise<void>;
}

/** A faulty way to report a task's stages. `isEarly`: before the response to the submission. */
interface FaultyReport {
  readonly isEarly: boolean;
  report(reporter: Reporter, stages: readonly Stage[]): Promise<void>;
}

/** The events of a streamed answer in one dialect, each as the text after `data: `. */
export interface StreamDialect {
  /** Events before the text. Empty in some dialects. */
  readonly opening: readonly string[];
  readonly pieces: readonly string[];
  piece(text: string): string;
  /** The events at the end of an answer, with the end marker. */
  readonly closing: readonly string[];
  /** An error in the middle of the stream. */
  readonly error: string;
}

/** The end of a failing video. A video that stays `PENDING` has no failure. */
export interface VideoFault {
  readonly status: 'PENDING' | 'FAILED' | 'CANCELED' | 'UNKNOWN';
  readonly failure?: { readonly code: string; readonly message: string };
}
