/** Calls of the gateway as spans, by the conventions for generative models. */
import type { Tracer } from '../../../core/telemetry/trace.ts';
import type { Answer, AnswerEvent, CallOptions } from '../../../gateway/answers.ts';
import type { Gateway } from '../../../gateway/client.ts';
import { MUSIC_MODELS } from '../../../gateway/music/requests.ts';
import type { RouteName } from '../../../gateway/routes.ts';

/** Whose model answers is the gateway's own affair; a name of a provider would also claim that provider's attributes. */
const PROVIDER = 'gateway';

/** `gen_ai.output.type` has no word for sound but speech, and none for films: other words are allowed. */
const OUTPUTS = {
  'chat/completions': 'text',
  'msg/messages': 'text',
  'gen/stream': 'text',
  'gen/image': 'image',
  'gen/tools': 'text',
  'gen/think': 'text',
  'media/image': 'image',
  'media/video': 'video',
  'music/generate': 'audio',
  'music/extend': 'audio',
  'music/generate-lyrics': 'text',
  'music/timestamped-lyrics': 'text',
  'music/style-generate': 'text',
  'music/generate-cover': 'image',
  'music/upload-cover': 'audio',
  'music/upload-extend': 'audio',
  'music/add-vocals': 'audio',
  'music/add-instrumental': 'audio',
  'music/generate-persona': undefined,
  'music/vocal-removal': 'audio',
  'music/wav-generate': 'audio',
  'music/mp4-generate': 'video',
} as const satisfies Partial<Record<RouteName, 'text' | 'image' | 'audio' | 'video' | undefined>>;

type MakingRoute = keyof typeof OUTPUTS;

/** What a request may say of the model that it asks; music routes say less. */
interface Asked {
  readonly model?: string | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
}

export function tracedGateway(gateway: Gateway, baseUrl: string, tracer: Tracer): Gateway {
  const { hostname, port, protocol } = new URL(baseUrl);
  const server = {
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  };

  /** People type names of models, so a name is told only if the gateway lists it. */
  const listed = (model: string | undefined) => {
    const isListed =
      MUSIC_MODELS.some((known) => known === model) || gateway.models.cached().some(({ id }) => id === model);
    return isListed ? model : undefined;
  };

  const making = (route: MakingRoute, { model, maxTokens, temperature }: Asked, isStream = false) => ({
    span: 'inference' as const,
    attributes: {
      'gen_ai.operation.name': /^(chat|msg)\//.test(route) ? 'chat' : 'generate_content',
      'gen_ai.provider.name': PROVIDER,
      'gen_ai.request.model': listed(model?.trim()),
      'gen_ai.request.max_tokens': maxTokens,
      'gen_ai.request.temperature': temperature,
      'gen_ai.request.stream': isStream || undefined,
      'gen_ai.output.type': OUTPUTS[route],
      'minstrel.gateway.route': route,
      ...server,
    },
  });

  const told = ({ finish, usage, model }: Omit<Answer, 'parts'>) => ({
    'gen_ai.response.model': listed(model),
    'gen_ai.response.finish_reasons': [finish.reason],
    'gen_ai.usage.input_tokens': usage?.inputTokens,
    'gen_ai.usage.output_tokens': usage?.outputTokens,
  });

  const makes =
    <Request extends object, Result>(
      route: MakingRoute,
      call: (request: Request & Asked, options?: CallOptions) => Promise<Result>,
    ) =>
    (request: Request & Asked, options?: CallOptions): Promise<Result> =>
      tracer.run(making(route, request), () => call(request, options));

  const answers =
    <Request extends Asked>(
      route: MakingRoute,
      call: (request: Request, options?: CallOptions) => Promise<Answer>,
    ) =>
    (request: Request, options?: CallOptions): Promise<Answer> =>
      tracer.run(making(route, request), async (span) => {
        const answer = await call(request, options);
        span.set(told(answer));
        return answer;
      });

  const reads =
    <Input, Result>(route: RouteName, call: (input: Input, options?: CallOptions) => Promise<Result>) =>
    (input: Input, options?: CallOptions): Promise<Result> =>
      tracer.run({ span: 'read', attributes: { 'minstrel.gateway.route': route, ...server } }, () =>
        call(input, options),
      );

  async function* streams(
    route: MakingRoute,
    asked: Asked,
    events: AsyncIterable<AnswerEvent>,
  ): AsyncGenerator<AnswerEvent, void, undefined> {
    const span = tracer.begin(making(route, asked, true));
    const iterator = events[Symbol.asyncIterator]();
    let hasBegun = false;
    try {
      for (;;) {
        const { done, value } = await span.within(() => iterator.next());
        if (done) break;
        if (!hasBegun) span.set({ 'gen_ai.response.time_to_first_chunk': span.seconds() });
        hasBegun = true;
        if (value.type === 'finish') span.set(told(value));
        yield value;
      }
    } catch (error) {
      span.end(error);
      throw error;
    } finally {
      await iterator.return?.();
      span.end();
    }
  }

  const { music, media, chat, msg, gen } = gateway;
  return {
    models: gateway.models,
    chat: {
      stream: (question, options) => streams('chat/completions', question, chat.stream(question, options)),
    },
    msg: {
      complete: answers('msg/messages', msg.complete),
      countTokens: reads('msg/count-tokens', msg.countTokens),
    },
    gen: {
      stream: (question, options) => streams('gen/stream', question, gen.stream(question, options)),
      generateImage: answers('gen/image', gen.generateImage),
      callTools: answers('gen/tools', gen.callTools),
      think: answers('gen/think', gen.think),
    },
    media: {
      createImage: makes('media/image', media.createImage),
      createVideo: makes('media/video', media.createVideo),
      queryVideo: reads('media/task', media.queryVideo),
    },
    music: {
      generate: makes('music/generate', music.generate),
      extend: makes('music/extend', music.extend),
      generateLyrics: makes('music/generate-lyrics', music.generateLyrics),
      timestampedLyrics: makes('music/timestamped-lyrics', music.timestampedLyrics),
      styleGenerate: makes('music/style-generate', music.styleGenerate),
      generateCover: makes('music/generate-cover', music.generateCover),
      uploadCover: makes('music/upload-cover', music.uploadCover),
      uploadExtend: makes('music/upload-extend', music.uploadExtend),
      addVocals: makes('music/add-vocals', music.addVocals),
      addInstrumental: makes('music/add-instrumental', music.addInstrumental),
      generatePersona: makes('music/generate-persona', music.generatePersona),
      vocalRemoval: makes('music/vocal-removal', music.vocalRemoval),
      wavGenerate: makes('music/wav-generate', music.wavGenerate),
      mp4Generate: makes('music/mp4-generate', music.mp4Generate),
    },
  };
}
