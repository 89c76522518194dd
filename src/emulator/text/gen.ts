import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type EmulatorContext, produceOne, readBody } from '../context.ts';
import { type EmulatedModel, findModel, requireModel } from '../models.ts';
import { RefusedRequest } from '../requests.ts';
import { type Commission, type Piece, UnusableInputError } from '../studio/studio.ts';
import { writeAnswer } from './answers.ts';
import {
  type ConversationMessage,
  countTextTokens,
  countTokens,
  piecesOf,
  sendEvents,
} from './conversation.ts';
import { type GenBody, genBody, readContents } from './gen-body.ts';
import { answerWithTools } from './gen-tools.ts';

const foreignMembers = {
  messages: 'chat-style messages are not valid on gen routes; send contents[].parts[]',
  model: 'the model is part of the path of gen routes',
  input: 'media-style input is not valid on gen routes; send contents[].parts[]',
} as const;
const drawingSize = 768;
/** Tokens counted for an image. */
const pictureTokens = 1290;

type Json = Record<string, unknown>;

type GenRequest = FastifyRequest<{ Params: { call: string }; Querystring: { alt?: string } }>;

/**
 * The gen-style routes: text, streams and images under `/gen/v1beta`, function calling and thinking under `/v1beta` without
 * the namespace, as in the contract.
 */
export function registerGenRoutes(server: FastifyInstance, context: EmulatorContext): void {
  server.post('/gen/v1beta/models/:call', async (request: GenRequest, reply) => {
    const { id, method } = readCall(request.params.call);
    const isStreamed = method === 'streamGenerateContent';
    if (!isStreamed && method !== 'generateContent')
      throw new RefusedRequest('not found', `models have no method '${method}'`);
    const painter = isStreamed ? undefined : findModel(id, 'gen-image');
    if (painter !== undefined) return drawAnswer(context, readGenBody(request), painter);
    const model = requireModel(id, 'gen-text');
    if (isStreamed && request.query.alt !== 'sse')
      throw new RefusedRequest('invalid', 'streamGenerateContent requires the query alt=sse');
    const body = readGenBody(request);
    requirePlainText(body);
    if (!isStreamed) return answerOrCall(context, body, model);
    return answerInStream(context, request, reply, { body, model });
  });

  server.post('/v1beta/models/:call', async (request: GenRequest) => {
    const { id, method } = readCall(request.params.call);
    if (method !== 'generateContent')
      throw new RefusedRequest('not found', `this path has no method '${method}'`);
    const tool = findModel(id, 'gen-tools');
    if (tool !== undefined) return answerOrCall(context, readGenBody(request), tool);
    return think(context, readGenBody(request), requireModel(id, 'gen-thinking'));
  });
}

function readCall(call: string): { id: string; method: string } {
  const colon = call.lastIndexOf(':');
  if (colon <= 0) throw new RefusedRequest('not found', 'the path must end in <model>:<method>');
  return { id: call.slice(0, colon), method: call.slice(colon + 1) };
}

function readGenBody(request: FastifyRequest): GenBody {
  return readBody(genBody, request, foreignMembers);
}

/** Throws RefusedRequest for features of other gen routes. */
function requirePlainText(body: GenBody): void {
  if ((body.tools ?? []).length > 0) {
    throw new RefusedRequest(
      'invalid',
      'tools: for function calling, use /v1beta/models/<model>:generateContent, without /gen',
    );
  }
  if (body.generationConfig?.responseModalities?.includes('IMAGE')) {
    throw new RefusedRequest(
      'invalid',
      'generationConfig.responseModalities: this model cannot create an IMAGE',
    );
  }
}

/** A model's output. `response` formats it. */
interface ModelOutput {
  readonly parts: readonly Json[];
  readonly finishReason?: string;
  readonly tokens: number;
  readonly thoughtTokens?: number;
}

function response(
  context: EmulatorContext,
  model: EmulatedModel,
  messages: readonly ConversationMessage[],
  { parts, finishReason = 'STOP', tokens, thoughtTokens = 0 }: ModelOutput,
): Json {
  const promptTokenCount = countTokens(messages);
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
    usageMetadata: {
      promptTokenCount,
      candidatesTokenCount: tokens,
      ...(thoughtTokens > 0 ? { thoughtsTokenCount: thoughtTokens } : {}),
      totalTokenCount: promptTokenCount + tokens + thoughtTokens,
    },
    modelVersion: model.id,
    responseId: context.randomId(),
  };
}

async function writeText(body: GenBody, model: EmulatedModel, messages: readonly ConversationMessage[]) {
  const limit = Math.min(body.generationConfig?.maxOutputTokens ?? model.maxTokens, model.maxTokens);
  const { text, cut, written } = await writeAnswer(messages, limit);
  return { text, parts: [{ text }], tokens: written, finishReason: cut ? 'MAX_TOKENS' : 'STOP' };
}

type Answerer = (context: EmulatorContext, body: GenBody, model: EmulatedModel) => Promise<Json>;

/** Answers, or calls a declared function. */
const answerOrCall: Answerer = async (context, body, model) => {
  const messages = readContents(body);
  await context.pause(0.8);
  const calls = answerWithTools(body, lastQuestion(messages));
  const output = calls === null ? await writeText(body, model, messages) : { parts: calls, tokens: 24 };
  return response(context, model, messages, output);
};

async function answerInStream(
  context: EmulatorContext,
  request: GenRequest,
  reply: FastifyReply,
  { body, model }: { body: GenBody; model: EmulatedModel },
): Promise<FastifyReply> {
  const messages = readContents(body);
  const { text, ...written } = await writeText(body, model, messages);
  const pieces = piecesOf(text);
  const parts = [{ text: pieces.at(-1) ?? '' }];
  const closing = response(context, model, messages, { ...written, parts });
  const { modelVersion, responseId } = closing;
  return sendEvents(context, request, reply, {
    opening: [],
    pieces: pieces.slice(0, -1),
    piece(part) {
      const candidates = [{ content: { role: 'model', parts: [{ text: part }] }, index: 0 }];
      return JSON.stringify({ candidates, modelVersion, responseId });
    },
    closing: [JSON.stringify(closing)],
    error: JSON.stringify({
      error: { code: 503, message: 'injected fault: the model stopped', status: 'UNAVAILABLE' },
    }),
  });
}

const drawAnswer: Answerer = async (context, body, model) => {
  const modalities = body.generationConfig?.responseModalities ?? [];
  if (!modalities.includes('TEXT') || !modalities.includes('IMAGE'))
    throw new RefusedRequest(
      'invalid',
      'generationConfig.responseModalities: must include both TEXT and IMAGE',
    );
  const messages = readContents(body);
  const prompt = lastQuestion(messages);
  const [photo, ...rest] = photosOf(messages);
  await context.pause(2);
  const size = { width: drawingSize, height: drawingSize };
  const picture = await drawOrRefuse(
    context,
    photo
      ? { kind: 'changed-picture', prompt, photos: [photo, ...rest] }
      : { kind: 'picture', prompt, ...size },
  );
  const words = prompt.slice(0, 200);
  const text = photo ? `I changed the image: “${words}”.` : `Here is how I see “${words}”.`;
  const inlineData = { mimeType: picture.contentType, data: Buffer.from(picture.bytes).toString('base64') };
  const tokens = countTextTokens(text) + pictureTokens;
  return response(context, model, messages, { parts: [{ text }, { inlineData }], tokens });
};

/** The images of the last question. */
function photosOf(messages: readonly ConversationMessage[]): Uint8Array[] {
  const { pictures = [] } = messages.findLast(({ role }) => role === 'user') ?? {};
  return pictures.flatMap((picture) => (picture.kind === 'bytes' ? [picture.bytes] : []));
}

/** Throws RefusedRequest for an image that cannot be used. */
async function drawOrRefuse(context: EmulatorContext, commission: Commission): Promise<Piece> {
  try {
    return await produceOne(context, commission);
  } catch (error) {
    if (!(error instanceof UnusableInputError)) throw error;
    throw new RefusedRequest('invalid', `inlineData: ${error.message}`);
  }
}

const think: Answerer = async (context, body, model) => {
  const { thinkingBudget = -1, includeThoughts = false } = body.generationConfig?.thinkingConfig ?? {};
  const messages = readContents(body);
  const question = lastQuestion(messages).slice(0, 120);
  const thought = `The question is “${question}”. I look at the earlier messages, then write a short answer.`;
  const budget = thinkingBudget === -1 ? 512 : thinkingBudget;
  const thoughtTokens = Math.min(countTextTokens(thought), budget);
  await context.pause(thoughtTokens === 0 ? 0.8 : 2);
  const written = await writeText(body, model, messages);
  const thoughts = includeThoughts && thoughtTokens > 0 ? [{ text: thought, thought: true }] : [];
  return response(context, model, messages, {
    ...written,
    parts: [...thoughts, ...written.parts],
    thoughtTokens,
  });
};

function lastQuestion(messages: readonly ConversationMessage[]): string {
  return messages.findLast(({ role }) => role === 'user')?.text ?? '';
}
