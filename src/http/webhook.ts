import { type Routes, sendNotFound } from './server.ts';

/** What somebody sent. Nothing about it is proven. */
export interface WebhookRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As it came, since signatures are made over these bytes. */
  readonly body: Buffer;
}

export interface WebhookAnswer {
  readonly status: number;
  /** Without it the answer has no body. */
  readonly json?: object;
}

export interface WebhookOptions {
  /** Such as `/discord/interactions`. */
  readonly path: string;
  /** Proves and takes what was sent; undefined while nobody is there to take it. */
  readonly receive: (request: WebhookRequest) => Promise<WebhookAnswer | undefined>;
}

/** Forms with lyrics and messages from menus stay far under this. */
export const WEBHOOK_BODY_BYTES = 1024 * 1024;

/** `POST` of what a chat platform sends by itself. The body is handed over as it came, whatever it calls itself. */
export function webhookRoutes({ path, receive }: WebhookOptions): Routes {
  return (scope) => {
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.post<{ Body: Buffer | undefined }>(path, {
      bodyLimit: WEBHOOK_BODY_BYTES,
      onRequest: async (request, reply) => {
        const encoding = request.headers['content-encoding'] ?? 'identity';
        if (encoding !== 'identity') return reply.code(415).send({ error: 'send the body uncompressed' });
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
