/** The contract as a table, with a second column for the public service of each family. No other file knows which of them answers. */
import { systemInFirstContent, systemInFirstMessage, wanVideo, withOneImage } from './differences.ts';
import {
  chatModelOf,
  genModelOf,
  mediaModelOf,
  msgModelOf,
  type PublicModel,
} from './models/public-models.ts';

/** The route families of the contract ("What the service does"); each decides the headers and the error dialect. */
export const GATEWAY_FAMILIES = ['music', 'media', 'chat', 'msg', 'gen'] as const;
export type GatewayFamily = (typeof GATEWAY_FAMILIES)[number];

/** A request at one of the services. */
interface Shape {
  /** `{name}` is filled from the request's `path` values. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Changes the body that the client builds. */
  readonly body?: (body: object) => object;
  /** The query parameter for the next page of a list; `after_id` by default. */
  readonly cursor?: string;
  /** Adds known facts to a model of the list. Undefined for a model that this client cannot use. */
  readonly model?: (id: string, item: unknown) => PublicModel | undefined;
  /** Questions may contain images. */
  readonly readsImages?: true;
}

export interface GatewayRoute {
  readonly family: GatewayFamily;
  readonly method: 'GET' | 'POST';
  /** Below the base URL. Undefined if the contract has no such route. */
  readonly gateway?: Shape | undefined;
  /** Below the {@link PUBLIC_SERVICES}' version. Undefined if the public service has no such route. */
  readonly public?: Shape | undefined;
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
  (
    family: GatewayFamily,
    gateway: string | Shape | undefined,
    service: string | Shape | undefined,
    maxBytes = bound,
  ): GatewayRoute => ({
    family,
    method,
    gateway: shapeOf(gateway),
    public: shapeOf(service),
    kind,
    limit,
    maxBytes,
  });
const shapeOf = (given: string | Shape | undefined) => (typeof given === 'string' ? { path: given } : given);
const submitRoute = route('POST', 'submission', 'submit', 4 * MIB);
const answerRoute = route('POST', 'submission', 'answer', 8 * MIB);
const readRoute = route('GET', 'read', 'quick', 4 * MIB);

const rateAs429 = (one: GatewayRoute): GatewayRoute => ({ ...one, rateIs429: true });
const genRoute = (gateway: string, service: string, maxBytes?: number) =>
  answerRoute('gen', { path: gateway, body: systemInFirstContent }, service, maxBytes);

const GENERATE = '/models/{model}:generateContent';
const VIDEO = '/services/aigc/video-generation/video-synthesis';
const IMAGE = '/services/aigc/multimodal-generation/generation';

/**
 * The routes that the client calls, by their names in errors and logs. First column: the contract's section "Endpoints". Second
 * column: https://docs.sunoapi.org/suno-api/quickstart (the paths of kie.ai are the same),
 * https://www.alibabacloud.com/help/en/model-studio/qwen-image-api and …/text-to-video-api-reference,
 * https://platform.openai.com/docs/api-reference/chat, https://platform.claude.com/docs/en/api/messages and …/models-list,
 * https://ai.google.dev/api/generate-content and …/api/models.
 */
export const ROUTES = {
  'music/generate': submitRoute('music', '/music/generate', '/generate'),
  'music/extend': submitRoute('music', '/music/extend', '/generate/extend'),
  'music/generate-lyrics': submitRoute('music', '/music/generate-lyrics', '/lyrics'),
  'music/timestamped-lyrics': answerRoute(
    'music',
    '/music/timestamped-lyrics',
    '/generate/get-timestamped-lyrics',
  ),
  'music/style-generate': answerRoute('music', '/music/style-generate', '/style/generate'),
  'music/generate-cover': rateAs429(submitRoute('music', '/music/generate-cover', '/suno/cover/generate')),
  'music/upload-cover': submitRoute('music', '/music/upload-cover', '/generate/upload-cover'),
  'music/upload-extend': submitRoute('music', '/music/upload-extend', '/generate/upload-extend'),
  'music/add-vocals': rateAs429(submitRoute('music', '/music/add-vocals', '/generate/add-vocals')),
  'music/add-instrumental': rateAs429(
    submitRoute('music', '/music/add-instrumental', '/generate/add-instrumental'),
  ),
  'music/generate-persona': rateAs429(
    answerRoute('music', '/music/generate-persona', '/generate/generate-persona'),
  ),
  'music/vocal-removal': submitRoute('music', '/music/vocal-removal', '/vocal-removal/generate'),
  'music/wav-generate': submitRoute('music', '/music/wav-generate', '/wav/generate'),
  'music/mp4-generate': submitRoute('music', '/music/mp4-generate', '/mp4/generate'),
  /** https://docs.sunoapi.org/suno-api/get-remaining-credits: the only free request of a key. */
  'music/credits': readRoute('music', undefined, '/generate/credit'),

  'media/image': answerRoute('media', `/v1/media${IMAGE}`, { path: IMAGE, body: withOneImage }, 48 * MIB),
  'media/video': submitRoute('media', `/v1/media${VIDEO}`, {
    path: VIDEO,
    headers: { 'x-dashscope-async': 'enable' },
    body: wanVideo,
  }),
  'media/video-alternate': submitRoute('media', `/media/v1${VIDEO}`, undefined),
  'media/task': readRoute('media', '/v1/media/tasks/{taskId}', '/tasks/{taskId}'),
  'media/task-alternate': readRoute('media', '/media/v1/tasks/{taskId}', undefined),
  /** The gateway's list, if it provides neither chat nor msg. */
  'media/models': readRoute('media', '/chat/v1/models', undefined),

  'chat/completions': answerRoute('chat', '/chat/v1/chat/completions', {
    path: '/chat/completions',
    readsImages: true,
  }),
  'chat/models': readRoute('chat', '/chat/v1/models', { path: '/models', model: chatModelOf }),

  'msg/messages': answerRoute('msg', { path: '/msg/v1/messages', body: systemInFirstMessage }, '/messages'),
  'msg/models': readRoute('msg', '/msg/v1/models', { path: '/models?limit=1000', model: msgModelOf }),

  'gen/stream': genRoute(
    '/gen/v1beta/models/{model}:streamGenerateContent?alt=sse',
    '/models/{model}:streamGenerateContent?alt=sse',
  ),
  'gen/image': genRoute('/gen/v1beta/models/{model}:generateContent', GENERATE, 48 * MIB),
  'gen/tools': genRoute('/v1beta/models/{model}:generateContent', GENERATE),
  'gen/think': genRoute('/v1beta/models/{model}:generateContent', GENERATE),
  'gen/models': readRoute('gen', undefined, {
    path: '/models?pageSize=1000',
    cursor: 'pageToken',
    model: genModelOf,
  }),
} satisfies Record<string, GatewayRoute>;

export type RouteName = keyof typeof ROUTES;

interface PublicService {
  /** The service that is used if only a key is set. */
  readonly baseUrl: string;
  /** Comes before every path, unless the base URL has it. */
  readonly version: string;
  /** Recognises a base URL that has a version. */
  readonly hasVersion: RegExp;
  readonly headers: (apiKey: string) => Record<string, string>;
  /** The models of a service that lists none, best first. */
  readonly models?: readonly string[];
}

const bearer = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` });

/** Base URLs are those of the services' own SDKs. */
export const PUBLIC_SERVICES = {
  music: {
    baseUrl: 'https://api.sunoapi.org',
    version: '/api/v1',
    hasVersion: /\/api\/v1$/,
    headers: bearer,
  },
  media: {
    baseUrl: 'https://dashscope-intl.aliyuncs.com/api/v1',
    version: '/api/v1',
    hasVersion: /\/api\/v1$/,
    headers: bearer,
    /** https://www.alibabacloud.com/help/en/model-studio/models */
    models: [
      'qwen-image-plus',
      'qwen-image',
      'wan2.6-t2i',
      'wan2.6-t2v',
      'wan2.6-i2v',
      'wan2.7-t2v',
      'wan2.7-i2v',
    ],
  },
  chat: {
    baseUrl: 'https://api.openai.com/v1',
    version: '/v1',
    // Versions differ: /openai/v1, /api/paas/v4, /v1beta/openai. Any path is the whole one.
    hasVersion: /^https?:\/\/[^/]+\/./,
    headers: bearer,
  },
  msg: {
    baseUrl: 'https://api.anthropic.com',
    version: '/v1',
    hasVersion: /\/v1$/,
    /** https://platform.claude.com/docs/en/api/versioning */
    headers: (apiKey) => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),
  },
  gen: {
    baseUrl: 'https://generativelanguage.googleapis.com',
    version: '/v1beta',
    hasVersion: /\/v1(?:alpha|beta)?$/,
    /** https://ai.google.dev/gemini-api/docs/api-key */
    headers: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  },
} as const satisfies Record<GatewayFamily, PublicService>;

/** A service that answers a family. */
export interface ServiceAccount {
  readonly service: 'gateway' | 'public';
  /** With or without a trailing slash. May contain a path. */
  readonly baseUrl: string;
  /** Undefined for a local service without keys. */
  readonly apiKey?: string | undefined;
  /** Replaces the known models of a service that lists none. */
  readonly models?: readonly string[] | undefined;
}

export type Accounts = Readonly<Partial<Record<GatewayFamily, ServiceAccount>>>;

/** The same gateway for every family. */
export function gatewayAccounts(
  account: Omit<ServiceAccount, 'service'>,
  families: readonly GatewayFamily[] = GATEWAY_FAMILIES,
): Accounts {
  const all = families.map((family) => [family, { ...account, service: 'gateway' as const }] as const);
  return Object.fromEntries(all);
}

const JSON_BODY = { 'content-type': 'application/json' } as const;

/** Contract, "Authentication". Depends only on the family, so that no route can get another's headers. */
function gatewayHeaders(family: GatewayFamily, apiKey: string): Record<string, string> {
  switch (family) {
    case 'music':
    case 'media':
    case 'chat':
    case 'gen':
      return bearer(apiKey);
    case 'msg':
      return { 'x-api-key': apiKey, 'vendor-version': '2023-06-01', ...JSON_BODY };
    default:
      return family satisfies never;
  }
}

/** A request as the account's service expects it. */
export interface RouteAt extends Pick<Shape, 'cursor' | 'model' | 'readsImages'> {
  /** Base URL and path, with `{names}`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: (body: object) => object;
}

const unchanged = (body: object): object => body;

/** Undefined if the account's service has no such route. */
export function routeAt(
  name: RouteName,
  { service, baseUrl, apiKey = '' }: ServiceAccount,
): RouteAt | undefined {
  const { family, method, ...columns }: GatewayRoute = ROUTES[name];
  const { version, hasVersion, headers }: PublicService = PUBLIC_SERVICES[family];
  const shape = columns[service];
  if (shape === undefined) return undefined;
  const base = baseUrl.trim().replace(/(?<!\/)\/+$/, '');
  const isGateway = service === 'gateway';
  const prefix = isGateway || hasVersion.test(base) ? '' : version;
  const account = isGateway ? gatewayHeaders(family, apiKey) : apiKey === '' ? {} : headers(apiKey);
  return {
    ...shape,
    url: `${base}${prefix}${shape.path}`,
    headers: { ...account, ...shape.headers, ...(method === 'POST' ? JSON_BODY : {}) },
    body: shape.body ?? unchanged,
  };
}

/** The routes that list the models of all accounts, each model once. */
export function listingRoutes(accounts: Accounts): RouteName[] {
  const { chat, msg, media, gen } = accounts;
  const isListed = [chat, msg].some((account) => account?.service === 'gateway');
  const isNeeded = !isListed && [media, gen].some((account) => account?.service === 'gateway');
  const routes: RouteName[] = ['chat/models', 'msg/models', 'gen/models'];
  return isNeeded ? [...routes, 'media/models'] : routes;
}

/** The models of services that list none. */
export function fixedModels({ media }: Accounts): readonly PublicModel[] {
  if (media?.service !== 'public') return [];
  return (media.models ?? PUBLIC_SERVICES.media.models).map(mediaModelOf);
}
