/**
 * Anthropic's messages, token counting and models, as documented: https://platform.claude.com/docs/en/api/messages,
 * …/messages-streaming, …/messages-count-tokens, …/models-list, …/errors and …/versioning.
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

/** More models than fit on a page of the list. */
const MODELS = [
  { id: 'claude-sonnet-5', display_name: 'Claude Sonnet 5', day: '2026-09-01', max_tokens: 128_000 },
  { id: 'claude-haiku-4-5', display_name: 'Claude Haiku 4.5', day: '2025-10-01', max_tokens: 64_000 },
  ...Array.from({ length: 22 }, (_, index) => ({
    id: `claude-3-haiku-202403${String(28 - index).padStart(2, '0')}`,
    display_name: `Claude Haiku 3 (${28 - index} March)`,
    day: `2024-03-${String(28 - index).padStart(2, '0')}`,
    max_tokens: 4_096,
  })),
];
const CONTEXT = 200_000;

/** The version of the documentation, and the one that the SDK sends. */
const VERSIONS = ['2023-06-01', '2026-10-21'];

/** “Responses include a request-id header”, and errors have it in their body too. */
const REQUEST_ID = 'req_018EeWyXxfu5pfWkrYcMdjWG';
const HEADERS = { 'request-id': REQUEST_ID };

/** `{"type": "error", "error": {type, message}, "request_id"}`. */
export function anthropicError(
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ServiceAnswer {
  const body = { type: 'error', error: { type, message }, request_id: REQUEST_ID };
  return { status, headers: { ...HEADERS, ...headers }, body };
}

const refuse = (status: number, type: string, message: string) =>
  new Refusal(anthropicError(status, type, message));
const invalid = (message: string) => refuse(400, 'invalid_request_error', message);

/** “text content blocks must be non-empty.” */
const textBlock = z.strictObject({
  type: z.literal('text'),
  text: z.string().refine((text) => text.trim() !== '', 'text content blocks must be non-empty'),
});
/** “The maximum size of an image is 5 MB”: https://platform.claude.com/docs/en/build-with-claude/vision. */
const imageBlock = z.strictObject({
  type: z.literal('image'),
  source: z.strictObject({
    type: z.literal('base64'),
    media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
    data: z
      .base64()
      .refine((data) => Buffer.byteLength(data, 'base64') <= 5 * 1024 * 1024, 'image exceeds 5 MB maximum'),
  }),
});
const nonEmpty = z.string().min(1, 'messages: all messages must have non-empty content');

/** There is no role for the system prompt: “use the top-level system parameter”. Only the user shows images. */
const turn = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: nonEmpty.or(z.array(z.discriminatedUnion('type', [textBlock, imageBlock])).min(1)),
  }),
  z.strictObject({ role: z.literal('assistant'), content: nonEmpty.or(z.array(textBlock).min(1)) }),
]);

const counting = z.strictObject({
  model: z.string(),
  messages: z.array(turn).min(1, 'messages: at least one message is required'),
  system: z.string().or(z.array(textBlock)).optional(),
});
/** `max_tokens` is required. */
const messages = counting.extend({
  max_tokens: z.int().min(1),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  stop_sequences: z.array(z.string()).optional(),
});
type Messages = z.infer<typeof messages>;

export async function startAnthropic(): Promise<Double> {
  return startDouble(createAnthropic());
}

export function createAnthropic(): Service {
  return createService({
    check(request) {
      checkHeaders(request);
      const { method, path } = request;
      if (method === 'GET' && /^\/v1\/models(?:\/[^/]+)?$/.test(path)) return undefined;
      if (method === 'POST' && path === '/v1/messages') return checkMessages(request);
      if (method === 'POST' && path === '/v1/messages/count_tokens') return checkBody(counting, request);
      throw refuse(404, 'not_found_error', 'Not Found');
    },
    respond({ path, query }, body) {
      if (body === undefined) return models(path, query);
      if (path.endsWith('/count_tokens')) return { headers: HEADERS, body: { input_tokens: tokensOf(body) } };
      // Sound: `check` returns this.
      return complete(body as Messages);
    },
  });
}

function checkHeaders({ method, headers }: ServiceRequest): void {
  // curl's examples send `x-api-key`, and @anthropic-ai/sdk sends `Authorization` since 1.0.
  const key = headers['x-api-key'] ?? headers.authorization?.replace(/^Bearer /, '');
  if (key === undefined) throw refuse(401, 'authentication_error', 'x-api-key header is required');
  if (key !== SERVICE_KEY) throw refuse(401, 'authentication_error', 'invalid x-api-key');
  const version = headers['anthropic-version'];
  if (version === undefined) throw invalid('anthropic-version: header is required');
  if (typeof version !== 'string' || !VERSIONS.includes(version))
    throw invalid(`anthropic-version: "${version}" is not a valid version`);
  if (method === 'POST' && !headers['content-type']?.startsWith('application/json'))
    throw invalid('content-type: must be application/json');
}

function checkBody<Body extends z.infer<typeof counting>>(
  schema: z.ZodType<Body>,
  request: ServiceRequest,
): Body {
  const parsed = schema.safeParse(parsedBody(request, () => invalid('The request body is not valid JSON.')));
  if (!parsed.success) throw refusedField(parsed.error);
  const { data } = parsed;
  const { messages: turns, model } = data;
  if (turns[0]?.role !== 'user') throw invalid('messages: first message must use the "user" role');
  if (!MODELS.some(({ id }) => id === model)) throw refuse(404, 'not_found_error', `model: ${model}`);
  const tokens = tokensOf(turns.map(({ content }) => (typeof content === 'string' ? content : '')));
  if (tokens > CONTEXT) throw invalid(`prompt is too long: ${tokens} tokens > ${CONTEXT} maximum`);
  return data;
}

function refusedField({ issues: [issue] }: z.ZodError): Refusal {
  const path = issue?.path.join('.') ?? '';
  if (issue?.code === 'unrecognized_keys')
    return invalid(`${[path, ...issue.keys].filter(Boolean).join('.')}: Extra inputs are not permitted`);
  if (/^messages\.\d+\.role$/.test(path))
    return invalid(
      'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
    );
  const isMissing = issue?.code === 'invalid_type' && issue.message.endsWith('undefined');
  return invalid(`${path}: ${isMissing ? 'Field required' : issue?.message}`);
}

function checkMessages(request: ServiceRequest): Messages {
  const sent = checkBody(messages, request);
  const most = MODELS.find(({ id }) => id === sent.model)?.max_tokens ?? 0;
  if (sent.max_tokens > most)
    throw invalid(
      `max_tokens: ${sent.max_tokens} > ${most}, which is the maximum allowed number of output tokens for ${sent.model}`,
    );
  if (sent.messages.at(-1)?.role === 'assistant')
    throw invalid(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    );
  return sent;
}

const questionsIn = ({ messages: turns }: Messages): string[] =>
  turns.flatMap(({ role, content }) =>
    role !== 'user'
      ? []
      : typeof content === 'string'
        ? content
        : content.map((block) => (block.type === 'text' ? block.text : 'an image')).join(' '),
  );

function complete(sent: Messages): ServiceAnswer {
  const answer = answerTo(questionsIn(sent));
  const usage = { input_tokens: tokensOf(sent.messages), output_tokens: tokensOf(answer) };
  const whole = anthropicMessage([{ type: 'text', text: answer }], { model: sent.model, usage });
  if (!sent.stream) return { headers: HEADERS, body: whole };
  return { headers: HEADERS, chunks: streamOf(piecesOf(answer), whole, usage.output_tokens) };
}

export function anthropicMessage(
  content: readonly object[],
  { model = 'claude-sonnet-5', stop_reason = 'end_turn', usage = { input_tokens: 7, output_tokens: 9 } } = {},
) {
  return {
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason,
    stop_sequence: null,
    usage: { ...usage, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, service_tier: 'standard' },
  };
}

/** Named events, with a `ping` between them: https://platform.claude.com/docs/en/api/messages-streaming. */
function streamOf(pieces: readonly string[], whole: object, output_tokens: number): string[] {
  const named = (type: string, fields: object = {}) => event({ type, ...fields }, type);
  return [
    named('message_start', { message: { ...whole, content: [], stop_reason: null } }),
    named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    named('ping'),
    ...pieces.map((text) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
    named('content_block_stop', { index: 0 }),
    named('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens },
    }),
    named('message_stop'),
  ];
}

const paging = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(20),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
});

/** “Number of items to return per page. Defaults to 20. Ranges from 1 to 1000.” Newest first. */
function models(path: string, query: URLSearchParams): ServiceAnswer {
  const listed = MODELS.map(({ id, display_name, day, max_tokens }) => ({
    type: 'model',
    id,
    display_name,
    created_at: `${day}T00:00:00Z`,
    max_input_tokens: CONTEXT,
    max_tokens,
  }));
  if (path !== '/v1/models') {
    const id = decodeURIComponent(path.slice('/v1/models/'.length));
    const model = listed.find((each) => each.id === id);
    return model ? { headers: HEADERS, body: model } : anthropicError(404, 'not_found_error', `model: ${id}`);
  }
  const { data, error } = paging.safeParse(Object.fromEntries(query));
  if (data === undefined) throw refusedField(error);
  const after = listed.findIndex(({ id }) => id === data.after_id);
  if (data.after_id !== undefined && after < 0) throw invalid(`after_id: ${data.after_id} was not found`);
  const rest = listed.slice(after + 1);
  const page = rest.slice(0, data.limit);
  return {
    headers: HEADERS,
    body: {
      data: page,
      has_more: page.length < rest.length,
      first_id: page[0]?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
    },
  };
}
