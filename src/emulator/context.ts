import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Callbacks } from './callbacks.ts';
import type { FaultHooks, FaultTools } from './fault-hooks.ts';
import type { FileShelf } from './files.ts';
import { RefusedRequest } from './requests.ts';
import type { Store } from './store.ts';
import type { Commission, Piece, Studio } from './studio/studio.ts';

/** Tools that all routes share. */
export interface EmulatorContext extends FaultTools {
  readonly store: Store;
  readonly studio: Studio;
  readonly files: FileShelf;
  readonly callbacks: Callbacks;
  readonly faultHooks: Partial<FaultHooks>;
  readonly songSeconds: number;
  readonly longestVideoSeconds: number;
  readonly videoUrlSeconds: number;
  readonly fetch: typeof globalThis.fetch;
  now(): number;
  /** Runs work that outlives its request; closing waits for it. */
  background(work: () => Promise<void>): void;
}

/** Produces the single file of a commission. Throws as {@link Studio.produce}. */
export async function produceOne(context: EmulatorContext, commission: Commission): Promise<Piece> {
  const [piece] = await context.studio.produce(commission);
  if (piece === undefined) throw new Error('the studio returned no file');
  return piece;
}

/** Stores a file of the studio and returns its URL. */
export function keepFile({ files }: EmulatorContext, { bytes, contentType }: Piece): string {
  return files.url(files.add(bytes, contentType));
}

/** Produces and stores the single file of a commission. Returns its URL. Throws as {@link Studio.produce}. */
export async function makeFile(context: EmulatorContext, commission: Commission): Promise<string> {
  return keepFile(context, await produceOne(context, commission));
}

/**
 * Parses a request's body. Throws a RefusedRequest that names the first invalid member. `foreign` has a message for each
 * member of another route family (contract, rule 2).
 */
export function readBody<Schema extends z.ZodType>(
  schema: Schema,
  request: FastifyRequest,
  foreign: Readonly<Record<string, string>> = {},
): z.output<Schema> {
  const { body } = request;
  if (typeof body === 'object' && body !== null) {
    for (const [member, sentence] of Object.entries(foreign))
      if (member in body) throw new RefusedRequest('invalid', `${member}: ${sentence}`);
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new RefusedRequest(
    'invalid',
    path === '' ? (issue?.message ?? 'invalid body') : `${path}: ${issue?.message}`,
  );
}
