/** Where a test makes the emulator fail on purpose. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { MusicShape, TaskReport } from './shapes.ts';

/** Each is called with a request; undefined means no fault. */
export interface FaultHooks {
  /** Called before the routes are there, for hooks of whole requests. */
  register(server: FastifyInstance, tools: FaultTools): void;
  reporting(request: FastifyRequest): FaultyReport | undefined;
  /** The events of a streamed answer. */
  streaming(request: FastifyRequest, dialect: StreamDialect): AsyncIterable<string> | undefined;
  /** How a video that fails ends. */
  video(request: FastifyRequest): VideoFault | undefined;
}

export interface FaultTools {
  readonly shape: MusicShape;
  readonly closing: AbortSignal;
  randomId(): string;
  /** Waits so many seconds, scaled by the emulator's speed; rejects when it closes. */
  pause(seconds: number): Promise<void>;
}

/** A step of a task's work that ends in a callback, `atSeconds` after the submission (scaled by speed). */
export interface Stage {
  readonly atSeconds: number;
  make(): Promise<TaskReport>;
}

/** Reports a task to its receiver. */
export interface Reporter {
  /** Resolves to whether the report was taken. `taskId`: as if it were of another task. */
  send(report: TaskReport, taskId?: string): Promise<boolean>;
  sendBody(body: string): Promise<boolean>;
  /** Ends the task with what is being sent. */
  finish(sending: Promise<boolean>, state: 'complete' | 'failed'): Promise<void>;
  fail(code: number, message: string): Promise<void>;
}

/** Another way to report a task's stages; `isEarly`: before the submission is answered. */
interface FaultyReport {
  readonly isEarly: boolean;
  report(reporter: Reporter, stages: readonly Stage[]): Promise<void>;
}

/** The events of a streamed answer in one dialect, each as the text after `data: `. */
export interface StreamDialect {
  /** Before the first words; none in some dialects. */
  readonly opening: readonly string[];
  readonly pieces: readonly string[];
  piece(text: string): string;
  /** The end of a finished answer, its end mark included. */
  readonly closing: readonly string[];
  /** An error that comes in the middle. */
  readonly error: string;
}

/** The end of a video that fails; one that stays `PENDING` has none. */
export interface VideoFault {
  readonly status: 'PENDING' | 'FAILED' | 'CANCELED' | 'UNKNOWN';
  readonly failure?: { readonly code: string; readonly message: string };
}
