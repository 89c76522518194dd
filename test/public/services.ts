/** The services behind a bot: one gateway, or a public service for each family. The same suite runs over both. */
import { z } from 'zod';
import { startEmulator } from '../../src/emulator/server.ts';
import type { GatewayFamily } from '../../src/gateway/routes.ts';
import type { StartOptions } from '../end-to-end/minstrel.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { startUpstream } from '../jobs/ask/upstream.ts';
import { startAnthropic } from '../servers/public/anthropic.ts';
import { startDashScope } from '../servers/public/dashscope.ts';
import { MUSIC_PATHS } from '../servers/public/facade.ts';
import { startGoogle } from '../servers/public/google.ts';
import { startOpenAi } from '../servers/public/openai.ts';
import { type Double, reply, SERVICE_KEY, type ServiceAnswer } from '../servers/public/service.ts';
import { callBack, type Suno, type SunoFailure, startSuno, sunoAnswer } from '../servers/public/suno.ts';

/** The services that a test of the suite scripts and reads. */
export interface Services extends AsyncDisposable {
  readonly settings: Readonly<Record<string, string>>;
  readonly options: StartOptions;
  readonly models: {
    readonly chat: string;
    readonly msg: string;
    readonly gen: string;
    /** A gen model that creates images. */
    readonly drawing: string;
    /** A media model that creates images. */
    readonly painting: string;
    readonly thinking: string;
  };
  /** Part of every answer to “What is 6 times 7?”. */
  readonly answer: string;
  /** Replaces the answer to the next request of a family whose path contains this. */
  script(family: GatewayFamily, path: string, answer: ServiceAnswer): void;
  /** The next song is accepted, and fails with this. */
  failNextSong(failure: SunoFailure): void;
  /** The bodies of a family's requests, oldest first. */
  sent(family: GatewayFamily): readonly unknown[];
  /** The contract's names of the music routes that were called. */
  musicRoutes(): readonly string[];
  /** True if people see the stages of a song, because the service pauses between them. */
  readonly hasStages: boolean;
  /** Requests that break a documented rule. */
  refused(): readonly unknown[];
}

const songRequest = z.object({ callBackUrl: z.string() });

/** The emulator, behind a proxy for scripted answers. */
export async function openGateway(): Promise<Services> {
  await using opened = new AsyncDisposableStack();
  const emulator = await startEmulator({ speed: 0.15, songSeconds: 10, studio: createSampleStudio() });
  opened.defer(() => emulator.close());
  const upstream = opened.use(await startUpstream());
  upstream.gateway = emulator.url;
  const resources = opened.move();
  const isOf = (family: GatewayFamily, url: string) =>
    family === 'gen' ? url.includes('/v1beta/') : url.includes(`/${family}/`);
  return {
    settings: {
      GATEWAY_BASE_URL: upstream.url,
      GATEWAY_API_KEY: emulator.apiKey,
      ASK_MODEL: 'chat:chat-small',
      IMAGE_MODEL: 'gen:facet-picture',
      VIDEO_MODEL: 'reel-standard',
      VISION_MODEL: 'msg:scribe-large',
      TOOL_MODEL: 'facet-tools',
      THINKING_MODELS: 'facet-thinker-preview',
    },
    options: { emulator },
    models: {
      chat: 'chat:chat-large',
      msg: 'msg:scribe-large',
      gen: 'gen:facet-text',
      drawing: 'gen:facet-picture',
      painting: 'canvas-plus',
      thinking: 'gen:facet-thinker-preview',
    },
    answer: '42',
    script: (_, path, answer) => upstream.next(path, (response) => reply(response, answer)),
    failNextSong(failure) {
      upstream.next('/music/generate', async (response) => {
        await reply(response, sunoAnswer(200, 'success', { taskId: 'failing' }));
        const { callBackUrl } = songRequest.parse(upstream.requests.at(-1)?.body);
        const data = { callbackType: 'error', task_id: 'failing', data: null };
        await callBack(fetch, callBackUrl, { ...failure, data });
      });
    },
    sent: (family) =>
      [...emulator.requests.map(({ url, body }) => ({ path: url, body })), ...upstream.requests]
        .filter(({ path }) => isOf(family, path))
        .map(({ body }) => body),
    musicRoutes: () => emulator.requests.map(({ url }) => url.replace('/music/', '')),
    hasStages: true,
    refused: () => [],
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** The doubles of five public services, with only their addresses and keys as settings. */
export async function openPublicServices(): Promise<Services> {
  await using opened = new AsyncDisposableStack();
  const use = async <Kind extends Double>(starting: Promise<Kind>): Promise<Kind> =>
    opened.use(await starting);
  const chat = await use(startOpenAi());
  const msg = await use(startAnthropic());
  const gen = await use(startGoogle());
  const media = await use(startDashScope({ fetch, runningQueries: 0 }));
  const music: Double<Suno> = await use(startSuno({ fetch }));
  const resources = opened.move();
  const doubles = { chat, msg, gen, media, music };
  return {
    settings: {
      ...Object.fromEntries(
        Object.entries(doubles).flatMap(([family, { url }]) => [
          [`${family.toUpperCase()}_BASE_URL`, url],
          [`${family.toUpperCase()}_API_KEY`, SERVICE_KEY],
        ]),
      ),
      MEDIA_ALLOWED_HOSTS: [media, music].map(({ origin }) => new URL(origin).host).join(','),
      TOOL_MODEL: 'gemini-3-pro',
      THINKING_MODELS: 'gemini-2.5-pro',
    },
    options: { gateway: false },
    models: {
      chat: 'chat:gpt-4o',
      msg: 'msg:claude-sonnet-5',
      gen: 'gen:gemini-2.0-flash',
      drawing: 'gen:gemini-3-pro-image',
      painting: 'qwen-image',
      thinking: 'gen:gemini-2.5-pro',
    },
    answer: 'Answer 1 to “What is 6 times 7?”',
    script: (family, path, answer) => doubles[family].next(path, answer),
    failNextSong: (failure) => music.failNext(failure),
    sent: (family) => doubles[family].accepted.map(({ body }) => body),
    musicRoutes: () =>
      Object.keys(MUSIC_PATHS).filter((name) =>
        music.accepted.some(({ path }) => path === `/api/v1/${MUSIC_PATHS[name]}`),
      ),
    hasStages: false,
    refused: () => Object.values(doubles).flatMap(({ refused }) => refused),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
