import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type Model, models } from '../models.ts';
import { Refusal } from '../refusal.ts';

const listQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
});

/** The model list on the chat and msg paths; `limit`, `after_id` and `before_id` page it (messages dialect). */
export function registerModelRoutes(server: FastifyInstance, modelsPerPage: number): void {
  for (const path of ['/chat/v1/models', '/msg/v1/models']) {
    server.get(path, async (request) => {
      const query = listQuery.safeParse(request.query);
      if (!query.success)
        throw new Refusal(
          'invalid',
          `${query.error.issues[0]?.path.join('.')}: ${query.error.issues[0]?.message}`,
        );
      return listModels({ ...query.data, limit: query.data.limit ?? modelsPerPage });
    });
  }
}

function listModels(query: z.output<typeof listQuery> & { limit: number }): Record<string, unknown> {
  const { limit, after_id: after, before_id: before } = query;
  if (after !== undefined && before !== undefined)
    throw new Refusal('invalid', 'send after_id or before_id, not both');
  const place = (id: string): number => {
    const index = models.findIndex((model) => model.id === id);
    if (index === -1) throw new Refusal('invalid', `no model '${id}' to page from`);
    return index;
  };
  const end = before === undefined ? models.length : place(before);
  const start = before !== undefined ? Math.max(0, end - limit) : after === undefined ? 0 : place(after) + 1;
  const page = models.slice(start, Math.min(end, start + limit));
  return {
    data: page.map(listItem),
    has_more: before === undefined ? start + page.length < models.length : start > 0,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

/** `routes` is the emulator's own addition: the contract says nothing of which route takes a model. */
function listItem(model: Model): Record<string, unknown> {
  return {
    id: model.id,
    display_name: model.displayName,
    type: 'model',
    created_at: model.createdAt,
    routes: model.routes,
  };
}
