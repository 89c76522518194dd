import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { RefusedRequest } from './requests.ts';

/** The routes of a model. */
export type ModelRoute =
  | 'chat'
  | 'msg'
  | 'image'
  | 'video'
  | `gen-${'text' | 'image' | 'tools' | 'thinking'}`;

export type EmulatedModel = ReturnType<typeof model>;

/** A model of the list and its maximum of output tokens. `routes` is an addition of the emulator. */
function model(id: string, display_name: string, day: string, routes: ModelRoute[], maxTokens = 8192) {
  return { id, display_name, type: 'model', created_at: `${day}T00:00:00Z`, routes, maxTokens } as const;
}

/** Every model of the emulator, newest first, as in the model list. */
const models: readonly EmulatedModel[] = [
  model('chat-large', 'Chat Large', '2026-08-20', ['chat', 'msg'], 32_768),
  model('chat-small', 'Chat Small', '2026-08-20', ['chat']),
  model('chat-mini', 'Chat Mini', '2026-05-11', ['chat'], 2048),
  model('scribe-large', 'Scribe Large', '2026-07-02', ['msg'], 32_768),
  model('scribe-small', 'Scribe Small', '2026-07-02', ['msg', 'chat']),
  model('facet-text', 'Facet Text', '2026-06-15', ['gen-text']),
  model('facet-text-lite', 'Facet Text Lite', '2026-06-15', ['gen-text', 'chat'], 4096),
  model('facet-picture', 'Facet Picture', '2026-06-30', ['gen-image']),
  model('facet-tools', 'Facet Tools', '2026-06-15', ['gen-tools']),
  model('facet-thinker-preview', 'Facet Thinker (preview)', '2026-09-01', ['gen-thinking']),
  model('canvas-plus', 'Canvas Plus', '2026-04-18', ['image']),
  model('qwen-image', 'Qwen Image', '2025-11-03', ['image']),
  model('reel-standard', 'Reel Standard', '2026-03-27', ['video']),
  model('reel-animate', 'Reel Animate (from an image)', '2026-03-27', ['video']),
];

/** The default models when the emulator is the gateway. An ask model may have a route before a colon. */
export const defaultModels = {
  ask: 'chat:chat-small',
  image: 'canvas-plus',
  video: 'reel-standard',
} as const;

/** Models of the emulator that do more than answer with text. */
export const specialModels = {
  visionModel: 'msg:scribe-large',
  toolModel: 'facet-tools',
  illustratingModels: ['facet-picture'],
  thinkingModels: ['facet-thinker-preview'],
} as const;

export function findModel(id: string, route: ModelRoute): EmulatedModel | undefined {
  return models.find((candidate) => candidate.id === id && candidate.routes.includes(route));
}

/** Returns the model with an ID. Throws RefusedRequest if the route doesn't support it. */
export function requireModel(id: string, route: ModelRoute): EmulatedModel {
  const known = findModel(id, route);
  if (known === undefined) throw new RefusedRequest('not found', explainUnknownModel(id, route));
  return known;
}

/** Explains why a route doesn't support a model: a display name, another route's model, or an unknown one. */
function explainUnknownModel(id: string, route: ModelRoute): string {
  const labelled = models.find((candidate) => candidate.display_name === id);
  if (labelled !== undefined) return `'${id}' is a display name; the model id is '${labelled.id}'`;
  const other = models.find((candidate) => candidate.id === id);
  if (other !== undefined)
    return `model '${id}' is not available on this route (${route}); it is available on ${other.routes.join(', ')}`;
  return `model '${id}' does not exist or is not available to this account`;
}

const listQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  after_id: z.string().optional(),
});

/** The model list on the chat and msg paths, with pages by `limit` and `after_id` (messages dialect). */
export function registerModelRoutes(server: FastifyInstance, modelsPerPage: number): void {
  for (const path of ['/chat/v1/models', '/msg/v1/models']) {
    server.get(path, async (request) => {
      const query = listQuery.safeParse(request.query);
      const issue = query.error?.issues[0];
      if (!query.success) throw new RefusedRequest('invalid', `${issue?.path.join('.')}: ${issue?.message}`);
      return listModels({ ...query.data, limit: query.data.limit ?? modelsPerPage });
    });
  }
}

function listModels(query: z.output<typeof listQuery> & { limit: number }): Record<string, unknown> {
  const { limit, after_id: after } = query;
  const start = after === undefined ? 0 : models.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && start === 0)
    throw new RefusedRequest('invalid', `after_id: no model '${after}'`);
  const left = models.slice(start);
  const page = left.slice(0, limit);
  return {
    data: page.map(({ maxTokens: _, ...listed }) => listed),
    has_more: page.length < left.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}
