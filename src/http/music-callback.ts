import type { Log } from '../core/telemetry/log.ts';
import type { Measure } from '../core/telemetry/series.ts';
import { isSignedBy, sign } from '../core/web/signatures.ts';
import { sendNotFound } from './not-found.ts';
import { isCompressed, type Routes } from './server.ts';

/** The largest public example has 4 KiB for two songs. Even timestamps for every word would fit. */
export const CALLBACK_BODY_BYTES = 1024 * 1024;

/** Outcomes of callbacks, used as metric labels. */
export const CALLBACK_OUTCOMES = ['stored', 'unknown-job', 'unavailable', 'forged'] as const;

/** The gateway times out after 15 s (upstream facts). A 503 before that makes it retry. */
const RECEIVE_TIMEOUT_MS = 10_000;

/** The signature that authenticates callbacks for this job. */
export function signCallback(job: string, secret: string): string {
  return sign(signedText(job), secret);
}

function signedText(job: string): string {
  return `music-callback\n${job}`;
}

/** The `callBackUrl` of a job's request. `publicUrl` may include a path, without a trailing slash. */
export function callbackUrl(publicUrl: string, job: string, secret: string): string {
  return `${publicUrl}/callbacks/music/${encodeURIComponent(job)}/${signCallback(job, secret)}`;
}

export interface MusicCallbackOptions {
  /** The current secret and previous ones that are still valid. */
  readonly secrets: readonly string[];
  /** Resolves once the body is stored or the job is known not to exist. Rejects if storage is down. */
  readonly receive: (job: string, body: string) => Promise<'stored' | 'unknown-job'>;
  readonly log: Log;
  readonly measure: Measure;
}

interface CallbackRoute {
  Params: { job: string; signature: string };
  Body: string | undefined;
}

/**
 * `POST /callbacks/music/:job/:signature`: receives the gateway's callbacks. Checks the signature before reading the body, and
 * stores the body as text. 200 means it is stored.
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
        const outcome = await withTimeout(RECEIVE_TIMEOUT_MS, options.receive(job, request.body ?? '')).catch(
          (error: unknown) => {
            log.error({ err: error, job }, 'Could not store a callback; asked the gateway to retry');
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

function withTimeout<Value>(milliseconds: number, work: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no response within ${milliseconds} ms`)), milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
