import type { Log } from '../core/telemetry/log.ts';
import type { Measure } from '../core/telemetry/series.ts';
import { isSignedBy, sign } from '../core/web/signatures.ts';
import { sendNotFound } from './not-found.ts';
import { isCompressed, type Routes } from './server.ts';

/** The largest public example has two songs in 4 KiB; one with timestamps of every word would be smaller than this. */
export const CALLBACK_BODY_BYTES = 1024 * 1024;

/** What becomes of callbacks, as they are counted. */
export const CALLBACK_OUTCOMES = ['stored', 'unknown-job', 'unavailable', 'forged'] as const;

/** Senders give up after 15 s (upstream facts); one that gets 503 before that tries again. */
const RECEIVE_TIMEOUT_MS = 10_000;

/** The signature that proves a callback for this job. */
export function signCallback(job: string, secret: string): string {
  return sign(signedText(job), secret);
}

function signedText(job: string): string {
  return `music-callback\n${job}`;
}

/** The `callBackUrl` of a job's request. `publicUrl` may carry a path, and has no slash at its end. */
export function callbackUrl(publicUrl: string, job: string, secret: string): string {
  return `${publicUrl}/callbacks/music/${encodeURIComponent(job)}/${signCallback(job, secret)}`;
}

export interface MusicCallbackOptions {
  /** The current secret and previous ones that are still valid. */
  readonly secrets: readonly string[];
  /** Resolves once the body is stored, or with the reason it was ignored; rejects if storage is down. */
  readonly receive: (job: string, body: string) => Promise<'stored' | 'unknown-job'>;
  readonly log: Log;
  readonly measure: Measure;
}

interface CallbackRoute {
  Params: { job: string; signature: string };
  Body: string | undefined;
}

/**
 * `POST /callbacks/music/:job/:signature`: where the gateway reports. The signature is checked before a byte of the
 * body is read; the body is kept as text and not parsed here. 200 means that it is stored.
 */
export function musicCallbackRoutes(options: MusicCallbackOptions): Routes {
  const { secrets, log, measure } = options;
  const count = (outcome: (typeof CALLBACK_OUTCOMES)[number]) =>
    measure('minstrel_callbacks_total', { outcome });
  return (scope) => {
    scope.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    );
    scope.post<CallbackRoute>('/callbacks/music/:job/:signature', {
      bodyLimit: CALLBACK_BODY_BYTES,
      onRequest: (request, reply, done) => {
        const { job, signature } = request.params;
        if (!isSignedBy(signedText(job), signature, secrets)) {
          count('forged');
          return void sendNotFound(reply);
        }
        if (isCompressed(request)) return void reply.code(415).send({ error: 'send the body uncompressed' });
        // The body is stored unchanged, regardless of its content type.
        request.headers['content-type'] = 'text/plain';
        done();
      },
      handler: async (request, reply) => {
        const { job } = request.params;
        const outcome = await within(RECEIVE_TIMEOUT_MS, options.receive(job, request.body ?? '')).catch(
          (error: unknown) => {
            log.error({ err: error, job }, 'Could not store a callback; the gateway was asked to retry');
            return 'unavailable' as const;
          },
        );
        count(outcome);
        switch (outcome) {
          case 'stored':
            return reply.code(200).send({ received: true });
          case 'unknown-job':
            log.warn({ job }, 'Callback for an unknown job');
            return sendNotFound(reply);
          case 'unavailable':
            return reply.code(503).header('retry-after', '5').send({ error: 'unavailable' });
          default:
            return outcome satisfies never;
        }
      },
    });
  };
}

function within<Value>(milliseconds: number, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer in ${milliseconds} ms`)), milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
