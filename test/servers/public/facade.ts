/**
 * The contract's gateway in front of the public services: its paths and headers lead to theirs. Answers, errors and streams are
 * those of the services.
 */
import { createAnthropic } from './anthropic.ts';
import { createDashScope } from './dashscope.ts';
import { createGoogle } from './google.ts';
import { createOpenAi } from './openai.ts';
import { listenOn, type Service, type ServiceAnswer, type ServiceRequest } from './service.ts';
import { createSuno, type Suno, type SunoOptions } from './suno.ts';

export interface Facade extends AsyncDisposable {
  readonly url: string;
  readonly chat: Service;
  readonly msg: Service;
  readonly gen: Service;
  readonly media: Service;
  readonly music: Suno;
}

/** Contract, “Music”, and the paths of https://docs.sunoapi.org. */
export const MUSIC_PATHS: Readonly<Record<string, string>> = {
  generate: 'generate',
  extend: 'generate/extend',
  'generate-lyrics': 'lyrics',
  'timestamped-lyrics': 'generate/get-timestamped-lyrics',
  'style-generate': 'style/generate',
  'generate-cover': 'suno/cover/generate',
  'upload-cover': 'generate/upload-cover',
  'upload-extend': 'generate/upload-extend',
  'add-vocals': 'generate/add-vocals',
  'add-instrumental': 'generate/add-instrumental',
  'generate-persona': 'generate/generate-persona',
  'vocal-removal': 'vocal-removal/generate',
  'wav-generate': 'wav/generate',
  'mp4-generate': 'mp4/generate',
};

const NOT_FOUND: ServiceAnswer = { status: 404, body: { error: { message: 'no such route' } } };

export async function startFacade(options: SunoOptions = {}): Promise<Facade> {
  const services = {
    chat: createOpenAi(),
    msg: createAnthropic(),
    gen: createGoogle(),
    media: createDashScope(options),
    music: createSuno(options),
  };
  const { chat, msg, gen, media, music } = services;

  function route(request: ServiceRequest): ServiceAnswer | Promise<ServiceAnswer> {
    const { path, headers } = request;
    const at = (to: string, more: Readonly<Record<string, string | undefined>> = {}) => ({
      ...request,
      path: to,
      headers: { ...headers, ...more },
    });
    if (path.startsWith('/files/')) return media.answer(request);
    if (path.startsWith('/chat/')) return chat.answer(at(path.slice('/chat'.length)));
    if (path.startsWith('/msg/'))
      return msg.answer(at(path.slice('/msg'.length), { 'anthropic-version': versionOf(request) }));
    if (path.startsWith('/gen/') || path.startsWith('/v1beta/')) {
      const key = headers.authorization?.replace(/^Bearer /, '');
      return gen.answer(at(path.replace(/^\/gen/, ''), { authorization: undefined, 'x-goog-api-key': key }));
    }
    const [, ofMedia] = /^\/(?:v1\/media|media\/v1)(\/.*)$/.exec(path) ?? [];
    if (ofMedia !== undefined) {
      const isVideo = ofMedia.includes('/video-synthesis');
      return media.answer(at(`/api/v1${ofMedia}`, isVideo ? { 'x-dashscope-async': 'enable' } : {}));
    }
    const [, ofMusic = ''] = /^\/music\/(.+)$/.exec(path) ?? [];
    const name = MUSIC_PATHS[ofMusic];
    return name === undefined ? NOT_FOUND : music.answer(at(`/api/v1/${name}`));
  }

  const listening = await listenOn(route);
  for (const service of [media, music]) service.origin = listening.origin;
  return {
    url: listening.origin,
    ...services,
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]();
      for (const service of Object.values(services)) await service[Symbol.asyncDispose]();
    },
  };
}

/** Contract, “Authentication”: the gateway's header for it is `vendor-version`. */
function versionOf({ headers }: ServiceRequest): string | undefined {
  const version = headers['vendor-version'];
  return typeof version === 'string' ? version : undefined;
}
