import type { Routes } from './server.ts';

export interface MetricsRouteOptions {
  readonly contentType: string;
  readonly render: () => Promise<string>;
}

/** `GET /metrics`, for Prometheus. Only for a listener of its own, never for the public one. */
export function metricsRoutes({ contentType, render }: MetricsRouteOptions): Routes {
  return (scope) => {
    scope.get('/metrics', async (_request, reply) =>
      reply
        .header('cache-control', 'no-store')
        .type(contentType)
        .send(await render()),
    );
  };
}
