/** Routes that a chat platform brings: webhooks, which it calls, and pages, which people open. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WebhookAnswer, WebhookRequest } from '../core/http.ts';
import { isCompressed, type Routes, sendNotFound } from './server.ts';

export interface WebhookOptions {
  /** Such as `/slack/events`. */
  readonly path: string;
  /** Checks the signature and takes the request; undefined while the platform is not running. */
  readonly receive: (request: WebhookRequest) => Promise<WebhookAnswer | undefined>;
}

/** Forms with lyrics and messages from menus are far smaller. */
export const WEBHOOK_BODY_BYTES = 1024 * 1024;

/** `POST` of what a chat platform sends. The body is handed over as bytes, for every content type. */
export function webhookRoutes({ path, receive }: WebhookOptions): Routes {
  return (scope) => {
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.post<{ Body: Buffer | undefined }>(path, {
      bodyLimit: WEBHOOK_BODY_BYTES,
      onRequest: async (request, reply) => {
        if (isCompressed(request)) return reply.code(415).send({ error: 'send the body uncompressed' });
        request.headers['content-type'] = 'application/octet-stream';
      },
      handler: async (request, reply) => {
        const answer = await receive({ headers: request.headers, body: request.body ?? Buffer.alloc(0) });
        if (!answer) return sendNotFound(reply);
        reply.code(answer.status);
        return answer.json ? reply.send(answer.json) : reply.send();
      },
    });
  };
}

export interface PageOptions {
  readonly paths: readonly string[];
  /** Answers a `GET`. Throws what the listener answers with 500. */
  readonly visit: (request: IncomingMessage, response: ServerResponse) => void;
}

/** Pages that a platform serves to browsers, such as the page that installs the bot. */
export function pageRoutes({ paths, visit }: PageOptions): Routes {
  return (scope) => {
    // The platform's own router knows a page by GET and by its very path, and would leave anything else without an answer.
    for (const path of paths)
      scope.get(path, { exposeHeadRoute: false }, (request, reply) => {
        const { raw } = reply;
        if (request.url.split('?', 1)[0] !== path) return sendNotFound(reply);
        for (const [name, value] of Object.entries(reply.getHeaders()))
          if (value !== undefined) raw.setHeader(name, value);
        visit(request.raw, raw);
        return reply.hijack();
      });
  };
}
