/**
 * The Gemini API of Google AI Studio, as documented: https://ai.google.dev/api/generate-content, …/api/models,
 * https://ai.google.dev/gemini-api/docs/troubleshooting, …/function-calling, …/image-generation, …/thinking and …/thought-signatures.
 */
import { z } from 'zod';
import { pngFile } from './files.ts';
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

interface GoogleModel {
  readonly id: string;
  readonly displayName: string;
  /** `supportedGenerationMethods` of the listing. */
  readonly methods: readonly string[];
  readonly draws?: true;
  readonly thinks?: true;
  /** Function calls must come back with their `thoughtSignature`. */
  readonly signs?: true;
}

const ANSWERS = ['generateContent', 'countTokens', 'createCachedContent', 'batchGenerateContent'];

const USED_MODELS: readonly GoogleModel[] = [
  { id: 'gemini-2.5-flash', displayName: 'Gemini 2.5 Flash', methods: ANSWERS, thinks: true },
  { id: 'gemini-2.5-pro', displayName: 'Gemini 2.5 Pro', methods: ANSWERS, thinks: true },
  { id: 'gemini-2.0-flash', displayName: 'Gemini 2.0 Flash', methods: ANSWERS },
  { id: 'gemini-3-pro', displayName: 'Gemini 3 Pro', methods: ANSWERS, thinks: true, signs: true },
  { id: 'gemini-2.5-flash-image', displayName: 'Nano Banana', methods: ANSWERS, draws: true },
  { id: 'gemini-3-pro-image', displayName: 'Nano Banana Pro', methods: ANSWERS, draws: true, thinks: true },
  { id: 'gemini-embedding-001', displayName: 'Gemini Embedding 001', methods: ['embedContent'] },
  { id: 'imagen-4.0-generate-001', displayName: 'Imagen 4', methods: ['predict'] },
  { id: 'veo-3.0-generate-001', displayName: 'Veo 3', methods: ['predictLongRunning'] },
];
/** “If unspecified, 50 models will be returned per page”: more models than that. */
const MODELS: readonly GoogleModel[] = [
  ...Array.from({ length: 45 }, (_, index) => ({
    id: `gemini-1.5-flash-${String(index).padStart(3, '0')}`,
    displayName: `Gemini 1.5 Flash ${index}`,
    methods: ANSWERS,
  })),
  ...USED_MODELS,
];

/** `{"error": {code, message, status, details}}`: https://ai.google.dev/gemini-api/docs/generate-content/api-errors. */
export function googleError(
  code: number,
  status: string,
  message: string,
  details?: readonly object[],
): ServiceAnswer {
  return { status: code, body: { error: { code, message, status, ...(details && { details }) } } };
}

const refuse = (code: number, status: string, message: string, details?: readonly object[]) =>
  new Refusal(googleError(code, status, message, details));
const invalid = (message: string) => refuse(400, 'INVALID_ARGUMENT', message);

const inlineData = z.strictObject({ mimeType: z.string().regex(/^[\w.+-]+\/[\w.+-]+$/), data: z.base64() });
/** “Required oneof field 'data' must have one initialized field.” */
const part = z
  .strictObject({
    text: z.string().optional(),
    inlineData: inlineData.optional(),
    functionCall: z
      .strictObject({ name: z.string(), args: z.looseObject({}).optional(), id: z.string().optional() })
      .optional(),
    functionResponse: z
      .strictObject({ name: z.string(), response: z.looseObject({}), id: z.string().optional() })
      .optional(),
    thought: z.boolean().optional(),
    thoughtSignature: z.string().optional(),
  })
  .refine(
    ({ text, ...data }) =>
      text !== undefined || data.inlineData || data.functionCall || data.functionResponse,
    "required oneof field 'data' must have one initialized field",
  );
type Part = z.infer<typeof part>;

/** “Must be either 'user' or 'model'.” Content without parts is refused. */
const content = z.strictObject({
  role: z.enum(['user', 'model']).optional(),
  parts: z.array(part).min(1, 'contents.parts must not be empty.'),
});

interface Schema {
  readonly type: string;
  readonly [member: string]: unknown;
}
const parameters: z.ZodType<Schema> = z.looseObject({
  type: z.string().regex(/^(?:string|number|integer|boolean|array|object)$/i),
});
const generation = z.strictObject({
  responseModalities: z.array(z.enum(['TEXT', 'IMAGE'])).optional(),
  maxOutputTokens: z.int().positive().optional(),
  temperature: z.number().min(0).max(2).optional(),
  /** “You cannot use both thinking_level and thinking_budget.” */
  thinkingConfig: z
    .strictObject({
      thinkingBudget: z.int().min(-1).max(32_768).optional(),
      thinkingLevel: z.enum(['minimal', 'low', 'medium', 'high']).optional(),
      includeThoughts: z.boolean().optional(),
    })
    .optional(),
});
const generate = z.strictObject({
  contents: z.array(content).min(1, 'contents is not specified'),
  systemInstruction: z.strictObject({ role: z.string().optional(), parts: z.array(part).min(1) }).optional(),
  tools: z
    .array(
      z.strictObject({
        functionDeclarations: z.array(
          z.strictObject({
            /** “a-z, A-Z, 0-9, or contain underscores, colons, dots, and dashes, with a maximum length of 128.” */
            name: z.string().regex(/^[a-zA-Z_][\w.:-]{0,127}$/),
            description: z.string(),
            parameters: parameters.optional(),
          }),
        ),
      }),
    )
    .optional(),
  toolConfig: z.looseObject({}).optional(),
  generationConfig: generation.optional(),
});
type Generate = z.infer<typeof generate>;

export async function startGoogle(): Promise<Double> {
  return startDouble(createGoogle());
}

/** Both are documented: https://ai.google.dev/gemini-api/docs/api-versions. */
const CALL = /^\/v1(?:beta)?\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

export function createGoogle(): Service {
  return createService({
    check(request) {
      const { method, path } = request;
      const [, id, verb] = CALL.exec(path) ?? [];
      const isList = method === 'GET' && /^\/v1(?:beta)?\/models(?:\/[^/]+)?$/.test(path);
      if (!isList && (method !== 'POST' || id === undefined)) throw new Refusal(missingPage(path));
      checkKey(request);
      return id === undefined ? undefined : checkGenerate(request, decodeURIComponent(id), verb ?? '');
    },
    respond({ path, query }, body) {
      const [, id = '', verb] = CALL.exec(path) ?? [];
      if (body === undefined) return models(path, query);
      // Sound: `check` returns this.
      const chunks = responsesTo(body as Generate, modelOf(decodeURIComponent(id)));
      if (verb === 'generateContent') return { body: wholeOf(chunks) };
      // Without `alt=sse`, the stream is a JSON list.
      return query.get('alt') === 'sse' ? { chunks: chunks.map((each) => event(each)) } : { body: chunks };
    },
  });
}

/** Google answers an unknown path with a web page. */
const missingPage = (path: string): ServiceAnswer => ({
  status: 404,
  headers: { 'content-type': 'text/html; charset=UTF-8' },
  body: `<!DOCTYPE html>\n<html lang=en><title>Error 404 (Not Found)!!1</title><p>The requested URL <code>${path}</code> was not found on this server.</html>\n`,
});

/** `Authorization` is for OAuth tokens. An API key there is refused. */
function checkKey({ headers, query }: ServiceRequest): void {
  if (headers.authorization !== undefined)
    throw refuse(
      401,
      'UNAUTHENTICATED',
      'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.',
    );
  const key = headers['x-goog-api-key'] ?? query.get('key') ?? undefined;
  if (key === undefined)
    throw refuse(
      403,
      'PERMISSION_DENIED',
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
    );
  if (key !== SERVICE_KEY)
    throw refuse(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'API_KEY_INVALID',
        domain: 'googleapis.com',
        metadata: { service: 'generativelanguage.googleapis.com' },
      },
    ]);
}

const modelOf = (id: string): GoogleModel | undefined => MODELS.find((model) => model.id === id);

function checkGenerate(request: ServiceRequest, id: string, verb: string): Generate {
  const { data, error } = generate.safeParse(
    parsedBody(request, (message) => invalid(`Invalid JSON payload received. ${message}`)),
  );
  if (data === undefined) throw refusedField(error);
  const model = modelOf(id);
  if (!model?.methods.includes('generateContent'))
    throw refuse(
      404,
      'NOT_FOUND',
      `models/${id} is not found for API version v1beta, or is not supported for ${verb}. Call ListModels to see the list of available models and their supported methods.`,
    );
  checkConfig(data, model);
  checkFunctionTurns(data, model);
  return data;
}

function refusedField({ issues: [issue] }: z.ZodError): Refusal {
  const path = issue?.path.join('.') ?? '';
  if (issue?.code === 'unrecognized_keys')
    return invalid(
      `Invalid JSON payload received. Unknown name "${issue.keys[0]}"${path && ` at '${path}'`}: Cannot find field.`,
    );
  if (path.endsWith('.role')) return invalid('Please use a valid role: user, model.');
  return invalid(`* GenerateContentRequest.${path}: ${issue?.message}\n`);
}

function checkConfig({ generationConfig = {}, tools }: Generate, { id, draws, thinks }: GoogleModel): void {
  const { responseModalities = [], thinkingConfig } = generationConfig;
  if (responseModalities.includes('IMAGE') && !draws)
    throw invalid(
      `The requested combination of response modalities (${responseModalities.join(', ')}) is not supported by the model. models/${id} accepts the following combination of response modalities:\n* TEXT\n`,
    );
  if (thinkingConfig && !thinks) throw invalid('Thinking is not enabled for this model');
  if (thinkingConfig?.thinkingBudget !== undefined && thinkingConfig.thinkingLevel !== undefined)
    throw invalid('You can only set only one of thinking budget and thinking level.');
  if (tools && draws) throw invalid(`Function calling is not enabled for models/${id}`);
}

const callsIn = (parts: readonly Part[]) => parts.flatMap(({ functionCall }) => functionCall ?? []);

/** The results of function calls follow them, one for each: https://ai.google.dev/gemini-api/docs/function-calling. */
function checkFunctionTurns({ contents }: Generate, { signs }: GoogleModel): void {
  for (const [index, { role, parts }] of contents.entries()) {
    const calls = callsIn(parts);
    if (calls.length > 0 && role !== 'model')
      throw invalid(
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      );
    if (
      calls.length > 0 &&
      signs &&
      parts.find(({ functionCall }) => functionCall)?.thoughtSignature === undefined
    )
      throw invalid(
        `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Function call \`default_api:${calls[0]?.name}\`, position ${index + 1}.`,
      );
    const answered = parts.filter(({ functionResponse }) => functionResponse).length;
    const expected = callsIn(contents[index - 1]?.parts ?? []).length;
    if (answered !== expected)
      throw invalid(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      );
  }
}

/** A response of the model: https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse. */
export function googleResponse(
  parts: readonly object[],
  { finishReason, model = 'gemini-2.5-flash', usage }: GoogleResponseFields = {},
) {
  return {
    candidates: [{ content: { role: 'model', parts }, ...(finishReason && { finishReason }), index: 0 }],
    usageMetadata: usage ?? { promptTokenCount: 7, candidatesTokenCount: 9, totalTokenCount: 16 },
    modelVersion: model,
    responseId: 'mAitaLmkHPPlz7IPvtfUqQ4',
  };
}

interface GoogleResponseFields {
  readonly finishReason?: string;
  readonly model?: string;
  readonly usage?: object;
}

function responsesTo({ contents, tools, generationConfig }: Generate, model?: GoogleModel) {
  const { thinkingConfig } = generationConfig ?? {};
  const questions = contents.flatMap(({ role, parts }) => {
    const texts = parts.flatMap(({ text, inlineData: data }) => text ?? (data ? 'an image' : []));
    return role === 'model' || texts.length === 0 ? [] : texts.join(' ');
  });
  const thoughtsTokenCount = thinkingConfig ? 12 : undefined;
  const answer = answerTo(questions);
  const counts = { promptTokenCount: tokensOf(contents), candidatesTokenCount: tokensOf(answer) };
  const usage = {
    ...counts,
    thoughtsTokenCount,
    totalTokenCount: counts.promptTokenCount + counts.candidatesTokenCount,
  };
  const response = (parts: readonly object[], finishReason?: string) =>
    googleResponse(parts, {
      usage,
      ...(model && { model: model.id }),
      ...(finishReason && { finishReason }),
    });
  const call = functionCallFor(questions.at(-1) ?? '', { contents, tools }, model);
  if (call) return [response([call], 'STOP')];
  if (model?.draws) return [response(imageParts(answer, model), 'STOP')];
  return [...piecesOf(answer).map((text) => response([{ text }])), response([{ text: '' }], 'STOP')];
}

/** Gemini 3 thinks in images first: “interim thought images”. */
function imageParts(answer: string, { thinks }: GoogleModel): object[] {
  const image = (name: string) => ({ mimeType: 'image/png', data: pngFile(name).toString('base64') });
  const drafts = thinks
    ? [
        { thought: true, text: 'A draft.' },
        { thought: true, inlineData: image('draft') },
      ]
    : [];
  return [...drafts, { text: answer }, { inlineData: image(answer) }];
}

/** Calls a function whose name is in the question, unless its result is already there. */
function functionCallFor(
  question: string,
  { contents, tools = [] }: Pick<Generate, 'contents' | 'tools'>,
  model?: GoogleModel,
): object | undefined {
  if (contents.at(-1)?.parts.some(({ functionResponse }) => functionResponse)) return undefined;
  const declared = tools.flatMap(({ functionDeclarations }) => functionDeclarations);
  const chosen = declared.find(({ name }) => new RegExp(`\\b${name}\\b`, 'i').test(question));
  if (chosen === undefined) return undefined;
  const required = z.array(z.string()).safeParse(chosen.parameters?.required).data ?? [];
  const args = Object.fromEntries(required.map((name) => [name, question]));
  const signature = model?.signs ? { thoughtSignature: 'CiQB0e2Kb7' } : {};
  return { functionCall: { name: chosen.name, args }, ...signature };
}

/** `generateContent` answers with the parts of all chunks. */
function wholeOf(chunks: readonly ReturnType<typeof googleResponse>[]) {
  const [first] = chunks;
  const texts = chunks.flatMap(({ candidates }) => candidates.flatMap(({ content: { parts } }) => parts));
  const isText = texts.every((each) => Object.keys(each).join() === 'text');
  const parts = isText ? [{ text: texts.map((each) => ('text' in each ? each.text : '')).join('') }] : texts;
  return { ...first, candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }] };
}

const paging = z.strictObject({
  key: z.string().optional(),
  /** “This method returns at most 1000 models per page.” */
  pageSize: z.coerce.number().int().min(0).default(50),
  pageToken: z.string().default(''),
});

/** https://ai.google.dev/api/models#method:-models.list. The last page has no `nextPageToken`. */
function models(path: string, query: URLSearchParams): ServiceAnswer {
  const listed = MODELS.map(({ id, displayName, methods, thinks }) => ({
    name: `models/${id}`,
    version: '001',
    displayName,
    description: displayName,
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: methods,
    temperature: 1,
    topP: 0.95,
    topK: 64,
    ...(thinks && { thinking: true }),
  }));
  const [, wanted] = /\/models\/([^/]+)$/.exec(path) ?? [];
  if (wanted !== undefined) {
    const model = listed.find(({ name }) => name === `models/${wanted}`);
    return model ? { body: model } : googleError(404, 'NOT_FOUND', `Model is not found: models/${wanted}`);
  }
  const { data, error } = paging.safeParse(Object.fromEntries(query));
  if (data === undefined) throw refusedField(error);
  const from = data.pageToken === '' ? 0 : Number(Buffer.from(data.pageToken, 'base64').toString());
  if (!Number.isInteger(from)) throw invalid('The page token is invalid.');
  const to = from + Math.min(data.pageSize || 50, 1000);
  const nextPageToken = to < listed.length ? Buffer.from(String(to)).toString('base64') : undefined;
  return { body: { models: listed.slice(from, to), nextPageToken } };
}
