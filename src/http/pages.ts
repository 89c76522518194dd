/** Pages that a platform serves to browsers by itself, such as those by which its users install the bot. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Routes, sendNotFound } from './server.ts';

export interface PageOptions {
  readonly paths: readonly string[];
  /** Answers a `GET`; undefined while nobody is there to do it. */
  readonly visit: () => ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
}

export function pageRoutes({ paths, visit }: PageOptions): Routes {
  return (scope) => {
    for (const path of paths)
      scope.get(path, (request, reply) => {
        const answer = visit();
        if (!answer) return sendNotFound(reply);
        const { raw } = reply;
        for (const [name, value] of Object.entries(reply.getHeaders()))
          if (value !== undefined) raw.setHeader(name, value);
        reply.hijack();
        answer(request.raw, raw);
        return reply;
      });
  };
}
