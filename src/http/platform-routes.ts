/** Routes that a chat platform handles itself: its events, and pages that people open. */
import type { PlatformRoutes } from '../core/web/platform-routes.ts';
import { sendNotFound } from './not-found.ts';
import type { Routes } from './server.ts';

export function platformRoutes({ routes, handle }: PlatformRoutes): Routes {
  return (scope) => {
    // The platform reads the body itself.
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    for (const { method, path } of routes)
      scope.route({
        method,
        url: path,
        exposeHeadRoute: false,
        handler: (request, reply) => {
          // The platform's router matches exact paths only.
          if (request.url.split('?', 1)[0] !== path) return sendNotFound(reply);
          const { raw } = reply;
          for (const [name, value] of Object.entries(reply.getHeaders()))
            if (value !== undefined) raw.setHeader(name, value);
          handle(request.raw, raw);
          return reply.hijack();
        },
      });
  };
}
