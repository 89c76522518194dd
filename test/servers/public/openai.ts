/**
 * OpenAI's chat completions and models, as documented: https://platform.openai.com/docs/api-reference/chat/create,
 * …/chat-streaming, …/models/list and https://platform.openai.com/docs/guides/error-codes.
 */
import { z } from 'zod';
import {
  answerTo,
  createService,
  type Double,
  event,
  parsedBody,
  piecesOf,
  Refusal,
  SERVICE_KEY,
  type Service,
  type ServiceAnswer,
  type ServiceRequest,
  startDouble,
  tokensOf,
} from './service.ts';

interface OpenAiModel {
  readonly id: string;
  readonly owned_by: string;
  /** The largest answer in tokens. Absent for a model that is not a chat model. */
  readonly answers?: number;
  readonly context?: number;
  readonly sees?: true;
  /** “max_tokens … is not compatible with o-series models”; GPT-5 refuses it too. Neither takes another temperature than 1. */
  readonly reasons?: true;
}

const MODELS: readonly OpenAiModel[] = [
  { id: 'gpt-4o', owned_by: 'system', answers: 16_384, context: 128_000, sees: true },
  { id: 'gpt-4o-mini', owned_by: 'system', answers: 16_384, context: 128_000, sees: true },
  { id: 'gpt-5-mini', owned_by: 'system', answers: 128_000, context: 400_000, sees: true, reasons: true },
  { id: 'gpt-3.5-turbo', owned_by: 'openai', answers: 4_096, context: 16_385 },
  // The listing has every model, whatever it is for.
  { id: 'text-embedding-3-small', owned_by: 'system' },
  { id: 'whisper-1', owned_by: 'openai-internal' },
  { id: 'tts-1', owned_by: 'openai-internal' },
  { id: 'dall-e-3', owned_by: 'system' },
];

export interface OpenAiOptions {
  /** A server on the same machine, such as Ollama, needs no key: https://docs.ollama.com/openai. */
  readonly keyless?: boolean;
}

/** `{"error": {message, type, param, code}}`. */
export function openAiError(
  status: number,
  message: string,
  { type = 'invalid_request_error', param = null, code = null }: ErrorFields = {},
): ServiceAnswer {
  return { status, headers: REQUEST_ID, body: { error: { message, type, param, code } } };
}

interface ErrorFields {
  readonly type?: string;
  readonly param?: string | null;
  readonly code?: string | null;
}

/** “Every API response has an x-request-id header.” */
const REQUEST_ID = { 'x-request-id': 'req_0123456789abcdef' };

const refuse = (status: number, message: string, fields?: ErrorFields) =>
  new Refusal(openAiError(status, message, fields));

const textPart = z.strictObject({ type: z.literal('text'), text: z.string() });
const imagePart = z.strictObject({
  type: z.literal('image_url'),
  image_url: z.strictObject({
    /** “Either a URL of the image or the base64 encoded image data.” */
    url: z.string().regex(/^(?:https?:\/\/|data:image\/(?:png|jpe?g|gif|webp);base64,)/),
    detail: z.enum(['auto', 'low', 'high']).optional(),
  }),
});

/** Only messages of the user have images. */
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.enum(['system', 'developer']), content: z.string().or(z.array(textPart)) }),
  z.strictObject({
    role: z.literal('user'),
    content: z.string().or(z.array(z.discriminatedUnion('type', [textPart, imagePart])).min(1)),
    name: z.string().optional(),
  }),
  z.strictObject({ role: z.literal('assistant'), content: z.string().or(z.array(textPart)) }),
]);

/** The fields that the bot and the SDK's examples use. Others are refused as unrecognized. */
const completion = z.strictObject({
  model: z.string(),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  /** “Only set this when you set stream: true.” */
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .nullish(),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
});
type Completion = z.infer<typeof completion>;

export async function startOpenAi(options: OpenAiOptions = {}): Promise<Double> {
  return startDouble(createOpenAi(options), '/v1');
}

export function createOpenAi({ keyless = false }: OpenAiOptions = {}): Service {
  return createService({
    check(request) {
      if (!keyless) checkKey(request);
      const { method, path } = request;
      if (method === 'GET' && path.startsWith('/v1/models')) return undefined;
      if (method === 'POST' && path === '/v1/chat/completions') return checkCompletion(request);
      throw refuse(404, `Invalid URL (${method} ${path})`);
    },
    respond({ path }, body) {
      if (body === undefined) return models(path);
      // Sound: `check` returns this.
      return complete(body as Completion);
    },
  });
}

/** https://platform.openai.com/docs/api-reference/authentication */
function checkKey({ headers: { authorization } }: ServiceRequest): void {
  if (authorization === undefined)
    throw refuse(
      401,
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
    );
  if (authorization !== `Bearer ${SERVICE_KEY}`)
    throw refuse(
      401,
      'Incorrect API key provided: sk-wr***ong. You can find your API key at https://platform.openai.com/account/api-keys.',
      { code: 'invalid_api_key' },
    );
}

function checkCompletion(request: ServiceRequest): Completion {
  const sent = parsedBody(request, () =>
    refuse(
      400,
      'We could not parse the JSON body of your request. (HINT: This likely means you aren’t using your HTTP library correctly.)',
    ),
  );
  const { data, error } = completion.safeParse(sent);
  if (data === undefined) throw refusedField(error);
  const { model, stream, stream_options } = data;
  if (stream_options && !stream)
    throw refuse(400, "The 'stream_options' parameter is only allowed when 'stream' is enabled.", {
      param: 'stream_options',
    });
  const known = MODELS.find(({ id }) => id === model);
  if (known === undefined)
    throw refuse(404, `The model \`${model}\` does not exist or you do not have access to it.`, {
      code: 'model_not_found',
    });
  checkModel(data, known);
  return data;
}

function refusedField({ issues: [issue] }: z.ZodError): Refusal {
  const param = issue?.path.join('.') ?? '';
  if (issue?.code === 'unrecognized_keys' && param === '')
    return refuse(400, `Unrecognized request argument supplied: ${issue.keys.join(', ')}`);
  if (param === 'model')
    return refuse(400, 'you must provide a model parameter', { code: 'missing_required_parameter' });
  return refuse(400, `Invalid value for '${param}': ${issue?.message}`, { param, code: 'invalid_value' });
}

function checkModel(sent: Completion, { answers, context = 0, sees, reasons }: OpenAiModel): void {
  if (answers === undefined)
    throw refuse(
      404,
      'This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/completions?',
      { param: 'model' },
    );
  if (reasons && typeof sent.max_tokens === 'number')
    throw refuse(
      400,
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      { param: 'max_tokens', code: 'unsupported_parameter' },
    );
  if (reasons && typeof sent.temperature === 'number' && sent.temperature !== 1)
    throw refuse(
      400,
      `Unsupported value: 'temperature' does not support ${sent.temperature} with this model. Only the default (1) value is supported.`,
      { param: 'temperature', code: 'unsupported_value' },
    );
  for (const param of ['max_tokens', 'max_completion_tokens'] as const) {
    const limit = sent[param] ?? 0;
    if (limit > answers)
      throw refuse(
        400,
        `${param} is too large: ${limit}. This model supports at most ${answers} completion tokens, whereas you provided ${limit}.`,
        { param, code: 'invalid_value' },
      );
  }
  const hasImages = sent.messages.some(
    ({ content }) => Array.isArray(content) && content.some(({ type }) => type === 'image_url'),
  );
  if (hasImages && !sees)
    throw refuse(400, 'Invalid content type. image_url is only supported by certain models.', {
      param: 'messages.[0].content.[1].type',
    });
  const tokens = hasImages ? 0 : tokensOf(sent.messages);
  if (tokens > context)
    throw refuse(
      400,
      `This model's maximum context length is ${context} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
      { param: 'messages', code: 'context_length_exceeded' },
    );
}

const questionsIn = ({ messages }: Completion): string[] =>
  messages.flatMap(({ role, content }) =>
    role !== 'user'
      ? []
      : typeof content === 'string'
        ? content
        : content.map((part) => (part.type === 'text' ? part.text : 'an image')).join(' '),
  );

function complete(sent: Completion): ServiceAnswer {
  const answer = answerTo(questionsIn(sent));
  const usage = {
    prompt_tokens: tokensOf(sent.messages),
    completion_tokens: tokensOf(answer),
    total_tokens: tokensOf(sent.messages) + tokensOf(answer),
  };
  if (sent.stream)
    return {
      headers: REQUEST_ID,
      chunks: openAiStream(piecesOf(answer), {
        model: sent.model,
        usage: sent.stream_options?.include_usage ? usage : undefined,
      }),
    };
  const choice = {
    index: 0,
    message: { role: 'assistant', content: answer, refusal: null, annotations: [] },
    logprobs: null,
    finish_reason: 'stop',
  };
  return {
    headers: REQUEST_ID,
    body: { ...envelope(sent.model, 'chat.completion'), choices: [choice], usage },
  };
}

const envelope = (model: string, object: string) => ({
  id: 'chatcmpl-0123456789',
  object,
  created: 1_767_225_600,
  model,
  service_tier: 'default',
  system_fingerprint: 'fp_0123456789',
});

interface StreamFields {
  readonly model?: string;
  /** Sent in one more chunk without choices, with `stream_options.include_usage`. */
  readonly usage?: object | undefined;
  readonly finish?: string;
}

/** Events of a stream: the role, the text, the finish reason, the usage, and `[DONE]`. */
export function openAiStream(
  pieces: readonly string[],
  { model = 'gpt-4o', usage, finish = 'stop' }: StreamFields = {},
): string[] {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    event({
      ...envelope(model, 'chat.completion.chunk'),
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...(usage && { usage: null }),
      obfuscation: 'mJ3vHn',
    });
  return [
    chunk({ role: 'assistant', content: '', refusal: null }),
    ...pieces.map((content) => chunk({ content })),
    chunk({}, finish),
    ...(usage ? [event({ ...envelope(model, 'chat.completion.chunk'), choices: [], usage })] : []),
    event('[DONE]'),
  ];
}

/** The list is whole, without pages. */
function models(path: string): ServiceAnswer {
  const listed = MODELS.map(({ id, owned_by }) => ({
    id,
    object: 'model',
    created: 1_767_225_600,
    owned_by,
  }));
  if (path === '/v1/models') return { headers: REQUEST_ID, body: { object: 'list', data: listed } };
  const id = decodeURIComponent(path.slice('/v1/models/'.length));
  const model = listed.find((each) => each.id === id);
  if (model) return { headers: REQUEST_ID, body: model };
  return openAiError(404, `The model '${id}' does not exist`, { param: 'model', code: 'model_not_found' });
}
