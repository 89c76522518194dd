/** The routes on which a model can be used. */
export type ModelRoute =
  | 'chat'
  | 'msg'
  | 'gen-text'
  | 'gen-image'
  | 'gen-tools'
  | 'gen-thinking'
  | 'image'
  | 'video';

export interface Model {
  readonly id: string;
  readonly displayName: string;
  readonly createdAt: string;
  readonly routes: readonly ModelRoute[];
  /** Most output tokens. */
  readonly mostTokens: number;
}

const model = (
  id: string,
  displayName: string,
  createdAt: string,
  routes: ModelRoute[],
  mostTokens = 8192,
): Model => ({
  id,
  displayName,
  createdAt: `${createdAt}T00:00:00Z`,
  routes,
  mostTokens,
});

/** Every model of the emulator, newest first, as the model list gives them. */
export const models: readonly Model[] = [
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
  model('canvas-classic', 'Canvas Classic', '2025-11-03', ['image']),
  model('reel-standard', 'Reel Standard', '2026-03-27', ['video']),
  model('reel-animate', 'Reel Animate (from an image)', '2026-03-27', ['video']),
];

/** Models to begin with when the emulator is the gateway; an ask model may name its route before a colon. */
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

export function findModel(id: string, route: ModelRoute): Model | undefined {
  return models.find((candidate) => candidate.id === id && candidate.routes.includes(route));
}

/** A sentence for a model that a route does not take: a label instead of an id, another route's model, or none. */
export function explainUnknownModel(id: string, route: ModelRoute): string {
  const labelled = models.find((candidate) => candidate.displayName === id);
  if (labelled !== undefined) return `'${id}' is a display name; the model id is '${labelled.id}'`;
  const elsewhere = models.find((candidate) => candidate.id === id);
  if (elsewhere !== undefined)
    return `model '${id}' is not available on this route (it is for ${elsewhere.routes.join(', ')}; this is ${route})`;
  return `model '${id}' does not exist or this account may not use it`;
}
