/** A route family of the contract ("What the service does"); it decides the headers and the error dialect. */
export type GatewayFamily = 'music' | 'media' | 'chat' | 'msg' | 'gen';

/**
 * `submission`: the gateway may spend credits on it, so it is never sent twice on doubt.
 * `read`: looks something up; sending it again costs nothing.
 */
type RouteKind = 'submission' | 'read';

/** How long a route may take: `quick` looks up, `submit` hands work over, `answer` waits for the work itself. */
export type RoutePace = 'quick' | 'submit' | 'answer';

export interface Route {
  readonly family: GatewayFamily;
  readonly method: 'GET' | 'POST';
  /** Below the base URL. `{name}` is filled from the request's `path` values. */
  readonly path: string;
  readonly kind: RouteKind;
  readonly pace: RoutePace;
  /** The longest response body that is read, in bytes. */
  readonly maxBytes: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

const music = (path: string, pace: RoutePace = 'submit') =>
  ({ family: 'music', method: 'POST', path, kind: 'submission', pace, maxBytes: 4 * MIB }) as const;
const gen = (path: string, maxBytes = 8 * MIB) =>
  ({ family: 'gen', method: 'POST', path, kind: 'submission', pace: 'answer', maxBytes }) as const;
const videoTask = (path: string) =>
  ({ family: 'media', method: 'GET', path, kind: 'read', pace: 'quick', maxBytes: MIB }) as const;
const createVideo = (path: string) =>
  ({ family: 'media', method: 'POST', path, kind: 'submission', pace: 'submit', maxBytes: MIB }) as const;

/** Every route of the contract's section "Endpoints", under the name that errors and logs use. */
export const ROUTES = {
  'music/generate': music('/music/generate'),
  'music/extend': music('/music/extend'),
  'music/generate-lyrics': music('/music/generate-lyrics'),
  'music/timestamped-lyrics': music('/music/timestamped-lyrics', 'answer'),
  'music/style-generate': music('/music/style-generate', 'answer'),
  'music/generate-cover': music('/music/generate-cover'),
  'music/upload-cover': music('/music/upload-cover'),
  'music/upload-extend': music('/music/upload-extend'),
  'music/add-vocals': music('/music/add-vocals'),
  'music/add-instrumental': music('/music/add-instrumental'),
  'music/generate-persona': music('/music/generate-persona', 'answer'),
  'music/vocal-removal': music('/music/vocal-removal'),
  'music/wav-generate': music('/music/wav-generate'),
  'music/mp4-generate': music('/music/mp4-generate'),

  'media/image': {
    family: 'media',
    method: 'POST',
    path: '/v1/media/services/aigc/multimodal-generation/generation',
    kind: 'submission',
    pace: 'answer',
    maxBytes: 48 * MIB,
  },
  'media/video': createVideo('/v1/media/services/aigc/video-generation/video-synthesis'),
  'media/video-alternate': createVideo('/media/v1/services/aigc/video-generation/video-synthesis'),
  'media/task': videoTask('/v1/media/tasks/{taskId}'),
  'media/task-alternate': videoTask('/media/v1/tasks/{taskId}'),

  'chat/completions': {
    family: 'chat',
    method: 'POST',
    path: '/chat/v1/chat/completions',
    kind: 'submission',
    pace: 'answer',
    maxBytes: 8 * MIB,
  },
  'chat/models': {
    family: 'chat',
    method: 'GET',
    path: '/chat/v1/models',
    kind: 'read',
    pace: 'quick',
    maxBytes: 4 * MIB,
  },

  'msg/messages': {
    family: 'msg',
    method: 'POST',
    path: '/msg/v1/messages',
    kind: 'submission',
    pace: 'answer',
    maxBytes: 8 * MIB,
  },
  'msg/count-tokens': {
    family: 'msg',
    method: 'POST',
    path: '/msg/v1/messages/count_tokens',
    kind: 'read',
    pace: 'quick',
    maxBytes: 256 * KIB,
  },
  'msg/models': {
    family: 'msg',
    method: 'GET',
    path: '/msg/v1/models',
    kind: 'read',
    pace: 'quick',
    maxBytes: 4 * MIB,
  },

  'gen/generate': gen('/gen/v1beta/models/{model}:generateContent'),
  'gen/stream': gen('/gen/v1beta/models/{model}:streamGenerateContent?alt=sse'),
  'gen/image': gen('/gen/v1beta/models/{model}:generateContent', 48 * MIB),
  'gen/tools': gen('/v1beta/models/{model}:generateContent'),
  'gen/think': gen('/v1beta/models/{model}:generateContent'),
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;
