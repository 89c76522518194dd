/** A route family of the contract ("What the service does"); it decides the headers and the error dialect. */
export type GatewayFamily = 'music' | 'media' | 'chat' | 'msg' | 'gen';

export interface GatewayRoute {
  readonly family: GatewayFamily;
  readonly method: 'GET' | 'POST';
  /** Below the base URL. `{name}` is filled from the request's `path` values. */
  readonly path: string;
  /**
   * `submission`: the gateway may spend credits on it, so it is never sent twice on doubt.
   * `read`: only reads; sending it again costs nothing.
   */
  readonly kind: 'submission' | 'read';
  /** How long a route may take: `quick` reads, `submit` hands work over, `answer` waits for the work itself. */
  readonly limit: 'quick' | 'submit' | 'answer';
  /** The longest response body that is read, in bytes; streams of events have a bound of their own. */
  readonly maxBytes: number;
  /** Here 429 is about the rate: 402 is for credits (docs.sunoapi.org/suno-api/cover-suno, docs.kie.ai/suno-api). */
  readonly rateIs429?: true;
}

const MIB = 1024 * 1024;

const route =
  (method: GatewayRoute['method'], kind: GatewayRoute['kind'], limit: GatewayRoute['limit'], bound: number) =>
  (family: GatewayFamily, path: string, maxBytes = bound): GatewayRoute => ({
    family,
    method,
    path,
    kind,
    limit,
    maxBytes,
  });
const submits = route('POST', 'submission', 'submit', 4 * MIB);
const answers = route('POST', 'submission', 'answer', 8 * MIB);
const reads = route('GET', 'read', 'quick', 4 * MIB);

/** Every route of the contract's section "Endpoints" that is called, under the name that errors and logs use. */
export const ROUTES = {
  'music/generate': submits('music', '/music/generate'),
  'music/extend': submits('music', '/music/extend'),
  'music/generate-lyrics': submits('music', '/music/generate-lyrics'),
  'music/timestamped-lyrics': answers('music', '/music/timestamped-lyrics'),
  'music/style-generate': answers('music', '/music/style-generate'),
  'music/generate-cover': { ...submits('music', '/music/generate-cover'), rateIs429: true },
  'music/upload-cover': submits('music', '/music/upload-cover'),
  'music/upload-extend': submits('music', '/music/upload-extend'),
  'music/add-vocals': { ...submits('music', '/music/add-vocals'), rateIs429: true },
  'music/add-instrumental': { ...submits('music', '/music/add-instrumental'), rateIs429: true },
  'music/generate-persona': { ...answers('music', '/music/generate-persona'), rateIs429: true },
  'music/vocal-removal': submits('music', '/music/vocal-removal'),
  'music/wav-generate': submits('music', '/music/wav-generate'),
  'music/mp4-generate': submits('music', '/music/mp4-generate'),

  'media/image': answers('media', '/v1/media/services/aigc/multimodal-generation/generation', 48 * MIB),
  'media/video': submits('media', '/v1/media/services/aigc/video-generation/video-synthesis'),
  'media/video-alternate': submits('media', '/media/v1/services/aigc/video-generation/video-synthesis'),
  'media/task': reads('media', '/v1/media/tasks/{taskId}'),
  'media/task-alternate': reads('media', '/media/v1/tasks/{taskId}'),

  'chat/completions': answers('chat', '/chat/v1/chat/completions'),
  'chat/models': reads('chat', '/chat/v1/models'),

  'msg/messages': answers('msg', '/msg/v1/messages'),
  'msg/models': reads('msg', '/msg/v1/models'),

  'gen/stream': answers('gen', '/gen/v1beta/models/{model}:streamGenerateContent?alt=sse'),
  'gen/image': answers('gen', '/gen/v1beta/models/{model}:generateContent', 48 * MIB),
  'gen/tools': answers('gen', '/v1beta/models/{model}:generateContent'),
  'gen/think': answers('gen', '/v1beta/models/{model}:generateContent'),
} satisfies Record<string, GatewayRoute>;

export type RouteName = keyof typeof ROUTES;
