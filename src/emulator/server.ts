import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as wait, setImmediate as yieldToOthers } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import fastify from 'fastify';
import { createCallbacks } from './callbacks.ts';
import type { EmulatorContext } from './context.ts';
import { createFileShelf, registerFileRoute } from './files.ts';
import { registerImageRoute } from './media/image.ts';
import { registerVideoRoutes } from './media/video.ts';
import { registerModelRoutes } from './models.ts';
import { registerDerivedRoutes, registerPersonaRoute } from './music/derived.ts';
import { registerGenerateRoutes, registerUploadRoutes } from './music/songs.ts';
import { registerWordRoutes } from './music/words.ts';
import type { EmulatorOptions, RecordedCallback, RecordedRequest } from './options.ts';
import {
  answerRefusal,
  checkHeaders,
  pathOf,
  RefusedRequest,
  reasonOfStatus,
  routeFamily,
} from './requests.ts';
import { sunoapi } from './shapes.ts';
import { createStore } from './store.ts';
import { openStudio } from './studio/studio.ts';
import { registerChatRoutes } from './text/chat.ts';
import { registerGenRoutes } from './text/gen.ts';
import { registerMsgRoutes } from './text/msg.ts';

/** A running gateway emulator. */
export interface Emulator {
  /** The gateway's `base_url`, such as `http://127.0.0.1:40123`. */
  readonly url: string;
  readonly apiKey: string;
  /** The last 1000 requests, oldest first, without files. */
  readonly requests: readonly RecordedRequest[];
  /** The last 1000 callbacks, oldest first. */
  readonly callbacks: readonly RecordedCallback[];
  /** Resolves when all tasks and callbacks in the background have ended. */
  settled(): Promise<void>;
  /** Stops immediately, with all open requests, callbacks, tasks and workers. */
  close(): Promise<void>;
}

/** Enough for two 10 MiB images in base64. */
const maxBodyBytes = 40 * 1024 * 1024;
const maxRecorded = 1000;

/** Starts the emulator. Throws if it cannot listen. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { host = '127.0.0.1', port = 0, apiKey = 'emulator-key', speed = 1, shape = sunoapi } = options;
  const now = options.now ?? Date.now;
  const randomId = options.randomId ?? randomUUID;
  const fetch = options.fetch ?? globalThis.fetch;
  const sleep = options.sleep ?? waitAtLeast;
  const closing = new AbortController();
  const background = new Set<Promise<void>>();
  const requests: RecordedRequest[] = [];
  let url = '';

  const studio = options.studio ?? openStudio();
  const callbacks = createCallbacks({
    fetch,
    sleep,
    speed,
    timeoutSeconds: options.callbackTimeoutSeconds ?? 15,
    closing: closing.signal,
  });
  const context: EmulatorContext = {
    store: createStore(),
    studio,
    files: createFileShelf(randomBytes(16).toString('hex'), () => options.publicUrl ?? url),
    callbacks,
    shape,
    faultHooks: options.faultHooks ?? {},
    songSeconds: options.songSeconds ?? 14,
    longestVideoSeconds: options.longestVideoSeconds ?? Number.POSITIVE_INFINITY,
    videoUrlSeconds: options.videoUrlSeconds ?? 86_400,
    fetch,
    closing: closing.signal,
    now,
    randomId,
    pause: (seconds) => sleep(Math.max(0, seconds * 1000 * speed), closing.signal),
    background(work) {
      const running = work().catch((error: unknown) => {
        if (!closing.signal.aborted) throw error;
      });
      background.add(running);
      void running.finally(() => background.delete(running));
    },
  };

  const server = fastify({
    bodyLimit: maxBodyBytes,
    forceCloseConnections: true,
    logger: false,
  });
  server.addHook('onRequest', async (request, reply) => {
    const { method, url: requestUrl, headers } = request;
    if (routeFamily(requestUrl) !== 'files') {
      requests.push({
        method,
        url: requestUrl,
        get body() {
          return request.body ?? undefined;
        },
        get status() {
          return reply.raw.writableFinished ? reply.statusCode : null;
        },
      });
      if (requests.length > maxRecorded) requests.shift();
    }
    checkHeaders(pathOf(requestUrl), headers, apiKey);
  });
  context.faultHooks.register?.(server, context);
  registerErrorAnswers(server, context);
  registerGenerateRoutes(server, context);
  registerUploadRoutes(server, context);
  registerWordRoutes(server, context);
  registerDerivedRoutes(server, context);
  registerPersonaRoute(server, context);
  registerImageRoute(server, context);
  registerVideoRoutes(server, context);
  registerModelRoutes(server, options.modelsPerPage ?? 20);
  registerChatRoutes(server, context);
  registerMsgRoutes(server, context);
  registerGenRoutes(server, context);
  registerFileRoute(server, context);

  const stop = async (): Promise<void> => {
    closing.abort();
    await Promise.all([server.close(), studio.close()]);
    await Promise.allSettled(background);
  };
  try {
    url = await server.listen({ host, port });
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    url,
    apiKey,
    requests,
    callbacks: callbacks.sent,
    async settled() {
      while (background.size > 0) await Promise.allSettled(background);
    },
    close: stop,
  };
}

/** Waits. With a delay of zero, only yields to other work (a timer would take a millisecond per word). */
function waitAtLeast(milliseconds: number, signal: AbortSignal): Promise<void> {
  return milliseconds > 0 ? wait(milliseconds, undefined, { signal }) : yieldToOthers(undefined, { signal });
}

/** Formats every error, also of the framework, in the dialect of the request's family. */
function registerErrorAnswers(server: FastifyInstance, context: EmulatorContext): void {
  // All routes accept only JSON.
  server.removeContentTypeParser('text/plain');
  server.setErrorHandler(async (error: Error & { statusCode?: number; code?: string }, request, reply) => {
    const refusal = error instanceof RefusedRequest ? error : refusalOf(error);
    const requestId = context.randomId();
    // On the chat path, the headers decide the dialect of the model list.
    const isListed = pathOf(request.url) === '/chat/v1/models' && request.headers['x-api-key'] !== undefined;
    const dialect = isListed ? 'msg' : routeFamily(request.url);
    const { status, body } = answerRefusal(refusal, dialect, context.shape, requestId);
    if (dialect === 'msg') reply.header('request-id', requestId);
    return reply.code(status).send(body);
  });
  server.setNotFoundHandler(async (request) => {
    throw new RefusedRequest('not found', `no route ${request.method} ${pathOf(request.url)}`);
  });
}

function refusalOf(error: Error & { statusCode?: number; code?: string }): RefusedRequest {
  const status = error.statusCode ?? 500;
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new RefusedRequest(
      'unsupported media type',
      'the body must be sent with "Content-Type: application/json"',
    );
  }
  if (status >= 500) return new RefusedRequest('internal', 'the emulator failed');
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new RefusedRequest('too large', 'the body is too large');
  return new RefusedRequest(reasonOfStatus(status), error.message);
}
