import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Callbacks } from './callbacks.ts';
import type { Fault } from './faults.ts';
import type { FileShelf } from './files.ts';
import type { Shape } from './options.ts';
import { Refusal } from './refusal.ts';
import type { Store } from './store.ts';
import type { Studio } from './studio/studio.ts';

/** What the routes work with. */
export interface EmulatorContext {
  readonly store: Store;
  readonly studio: Studio;
  readonly files: FileShelf;
  readonly callbacks: Callbacks;
  readonly shape: Shape;
  readonly songSeconds: number;
  readonly videoUrlSeconds: number;
  readonly fetch: typeof globalThis.fetch;
  readonly closing: AbortSignal;
  now(): number;
  randomId(): string;
  /** Waits so many seconds, scaled by the emulator's speed; rejects when it closes. */
  pause(seconds: number): Promise<void>;
  /** Waits real seconds, whatever the speed, where a fault tries the client's patience. */
  hold(seconds: number): Promise<void>;
  /** Runs work that outlives its request; closing waits for it. */
  background(work: () => Promise<void>): void;
  /** The faults of a request. */
  faultsOf(request: FastifyRequest): readonly Fault[];
}

/** The first fault of a kind that a request has. */
export function faultOf<Kind extends Fault['kind']>(
  context: EmulatorContext,
  request: FastifyRequest,
  kind: Kind,
): Extract<Fault, { kind: Kind }> | undefined {
  return context
    .faultsOf(request)
    .find((fault): fault is Extract<Fault, { kind: Kind }> => fault.kind === kind);
}

/** Reads a request's body by its schema. Throws a Refusal that names the first member at fault. */
export function readBody<Schema extends z.ZodType>(
  schema: Schema,
  request: FastifyRequest,
): z.output<Schema> {
  const parsed = schema.safeParse(request.body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join('.') ?? '';
  throw new Refusal(
    'invalid',
    place === '' ? (issue?.message ?? 'invalid body') : `${place}: ${issue?.message}`,
  );
}

/** A moment as upstream writes it: `YYYY-MM-DD HH:MM:SS`, with milliseconds where asked. UTC. */
export function formatTime(milliseconds: number, withMilliseconds = false): string {
  const text = new Date(milliseconds).toISOString().replace('T', ' ').replace('Z', '');
  return withMilliseconds ? text : text.slice(0, 19);
}
