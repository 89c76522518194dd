/** A route family of the contract ("What the service does"); it decides the headers and the error dialect. */
export type GatewayFamily = 'music' | 'media' | 'chat' | 'msg' | 'gen';

export interface GatewayRoute {
  readonly family: GatewayFamily;
  readonly method: 'GET' | 'POST';
  /** Below the base URL. `{name}` is filled from the request's `path` values. */
  readonly path: string;
  /**
   * `submission`: may spend credits, so it is not repeated if the first request may have been accepted.
   * `read`: safe to repeat.
   */
  readonly kind: 'submission' | 'read';
  /** The timeout: `quick` for reads, `submit` for work that runs later, `answer` for responses that contain the work. */
  readonly limit: 'quick' | 'submit' | 'answer';
  /** Maximum size of a response in bytes. Event streams have a separate limit. */
  readonly maxBytes: number;
  /** 429 means a rate limit, because 402 is for credits (docs.sunoapi.org/suno-api/cover-suno, docs.kie.ai/suno-api). */
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
const submitRoute = route('POST', 'submission', 'submit', 4 * MIB);
const answerRoute = route('POST', 'submission', 'answer', 8 * MIB);
const readRoute = route('GET', 'read', 'quick', 4 * MIB);

/** The routes of the contract's section "Endpoints" that the client calls, by their names in errors and logs. */
export const ROUTES = {
  'music/generate': submitRoute('music', '/music/generate'),
  'music/extend': submitRoute('music', '/music/extend'),
  'music/generate-lyrics': submitRoute('music', '/music/generate-lyrics'),
  'music/timestamped-lyrics': answerRoute('music', '/music/timestamped-lyrics'),
  'music/style-generate': answerRoute('music', '/music/style-generate'),
  'music/generate-cover': { ...submitRoute('music', '/music/generate-cover'), rateIs429: true },
  'music/upload-cover': submitRoute('music', '/music/upload-cover'),
  'music/upload-extend': submitRoute('music', '/music/upload-extend'),
  'music/add-vocals': { ...submitRoute('music', '/music/add-vocals'), rateIs429: true },
  'music/add-instrumental': { ...submitRoute('music', '/music/add-instrumental'), rateIs429: true },
  'music/generate-persona': { ...answerRoute('music', '/music/generate-persona'), rateIs429: true },
  'music/vocal-removal': submitRoute('music', '/music/vocal-removal'),
  'music/wav-generate': submitRoute('music', '/music/wav-generate'),
  'music/mp4-generate': submitRoute('music', '/music/mp4-generate'),

  'media/image': answerRoute('media', '/v1/media/services/aigc/multimodal-generation/generation', 48 * MIB),
  'media/video': submitRoute('media', '/v1/media/services/aigc/video-generation/video-synthesis'),
  'media/video-alternate': submitRoute('media', '/media/v1/services/aigc/video-generation/video-synthesis'),
  'media/task': readRoute('media', '/v1/media/tasks/{taskId}'),
  'media/task-alternate': readRoute('media', '/media/v1/tasks/{taskId}'),

  'chat/completions': answerRoute('chat', '/chat/v1/chat/completions'),
  'chat/models': readRoute('chat', '/chat/v1/models'),

  'msg/messages': answerRoute('msg', '/msg/v1/messages'),
  'msg/models': readRoute('msg', '/msg/v1/models'),

  'gen/stream': answerRoute('gen', '/gen/v1beta/models/{model}:streamGenerateContent?alt=sse'),
  'gen/image': answerRoute('gen', '/gen/v1beta/models/{model}:generateContent', 48 * MIB),
  'gen/tools': answerRoute('gen', '/v1beta/models/{model}:generateContent'),
  'gen/think': answerRoute('gen', '/v1beta/models/{model}:generateContent'),
} satisfies Record<string, GatewayRoute>;

export type RouteName = keyof typeof ROUTES;
