import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type EmulatorContext, readBody } from '../context.ts';
import { explainUnknownModel, findModel, type Model, type ModelRoute } from '../models.ts';
import { Refusal } from '../refusal.ts';
import { answer } from './answer.ts';
import { refuseMembers } from './chat.ts';
import { countTextTokens, countTokens, limitTokens, piecesOf, type Turn } from './conversation.ts';
import { type GenBody, genBody, readGenTurns } from './gen-body.ts';
import { answerWithTools } from './gen-tools.ts';
import { streamAnswer } from './stream.ts';

const foreignMembers = {
  messages: 'chat-style messages are not valid on gen routes; send contents[].parts[]',
  model: 'the model stands in the path of gen routes',
  input: 'media-style input is not valid on gen routes; send contents[].parts[]',
} as const;
const drawingSize = 768;

type GenRequest = FastifyRequest<{ Params: { call: string }; Querystring: { alt?: string } }>;

/**
 * The gen-style routes: text, streams and pictures under `/gen/v1beta`, function calling and thinking under `/v1beta`
 * without the namespace, each only where the contract has it.
 */
export function registerGenRoutes(server: FastifyInstance, context: EmulatorContext): void {
  server.post('/gen/v1beta/models/:call', async (request: GenRequest, reply) => {
    const { id, method } = readCall(request.params.call);
    switch (method) {
      case 'generateContent': {
        const picture = findModel(id, 'gen-image');
        if (picture !== undefined) return drawAnswer(context, readGenBody(request), picture);
        return answerWhole(context, readGenBody(request), requireModel(id, 'gen-text'));
      }
      case 'streamGenerateContent':
        return answerInStream(context, request, reply, requireModel(id, 'gen-text'));
      default:
        throw new Refusal('not found', `models have no method '${method}'`);
    }
  });

  server.post('/v1beta/models/:call', async (request: GenRequest) => {
    const { id, method } = readCall(request.params.call);
    if (method !== 'generateContent') throw new Refusal('not found', `this path has no method '${method}'`);
    const tool = findModel(id, 'gen-tools');
    if (tool !== undefined) return callFunctions(context, readGenBody(request), tool);
    return think(context, readGenBody(request), requireModel(id, 'gen-thinking'));
  });
}

function readCall(call: string): { id: string; method: string } {
  const colon = call.lastIndexOf(':');
  if (colon <= 0) throw new Refusal('not found', 'the path must end in <model>:<method>');
  return { id: call.slice(0, colon), method: call.slice(colon + 1) };
}

function requireModel(id: string, route: ModelRoute): Model {
  const model = findModel(id, route);
  if (model === undefined) throw new Refusal('not found', explainUnknownModel(id, route));
  return model;
}

function readGenBody(request: FastifyRequest): GenBody {
  refuseMembers(request.body, foreignMembers);
  return readBody(genBody, request);
}

/** Refuses what only other gen routes do. */
function requirePlainText(body: GenBody): void {
  if ((body.tools ?? []).length > 0) {
    throw new Refusal(
      'invalid',
      'tools: function calling is on /v1beta/models/<model>:generateContent, without gen',
    );
  }
  if (body.generationConfig?.responseModalities?.includes('IMAGE')) {
    throw new Refusal('invalid', 'generationConfig.responseModalities: this model gives no IMAGE');
  }
}

interface Answered {
  readonly parts: readonly Record<string, unknown>[];
  readonly finishReason: string;
  readonly tokens: number;
  readonly thoughtTokens?: number;
}

function response(
  context: EmulatorContext,
  model: Model,
  turns: readonly Turn[],
  answered: Answered,
): Record<string, unknown> {
  const prompted = countTokens(turns);
  const thoughts = answered.thoughtTokens ?? 0;
  return {
    candidates: [
      { content: { role: 'model', parts: answered.parts }, finishReason: answered.finishReason, index: 0 },
    ],
    usageMetadata: {
      promptTokenCount: prompted,
      candidatesTokenCount: answered.tokens,
      ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
      totalTokenCount: prompted + answered.tokens + thoughts,
    },
    modelVersion: model.id,
    responseId: context.randomId(),
  };
}

function writeText(
  body: GenBody,
  model: Model,
  turns: readonly Turn[],
): { text: string; finishReason: string } {
  const most = Math.min(body.generationConfig?.maxOutputTokens ?? model.mostTokens, model.mostTokens);
  const { text, cut } = limitTokens(answer(turns), most);
  return { text, finishReason: cut ? 'MAX_TOKENS' : 'STOP' };
}

async function answerWhole(
  context: EmulatorContext,
  body: GenBody,
  model: Model,
): Promise<Record<string, unknown>> {
  requirePlainText(body);
  const turns = readGenTurns(body);
  await context.pause(0.8);
  const { text, finishReason } = writeText(body, model, turns);
  return response(context, model, turns, { parts: [{ text }], finishReason, tokens: countTextTokens(text) });
}

function answerInStream(
  context: EmulatorContext,
  request: GenRequest,
  reply: FastifyReply,
  model: Model,
): FastifyReply {
  if (request.query.alt !== 'sse')
    throw new Refusal('invalid', 'the query alt=sse is required on streamGenerateContent');
  const body = readGenBody(request);
  requirePlainText(body);
  const turns = readGenTurns(body);
  const { text, finishReason } = writeText(body, model, turns);
  const responseId = context.randomId();
  const pieces = piecesOf(text);
  const last = pieces.at(-1) ?? '';
  const closing = response(context, model, turns, {
    parts: [{ text: last }],
    finishReason,
    tokens: countTextTokens(text),
  });
  return streamAnswer(context, request, reply, {
    opening: [],
    pieces: pieces.slice(0, -1),
    piece: (part) =>
      JSON.stringify({
        candidates: [{ content: { role: 'model', parts: [{ text: part }] }, index: 0 }],
        modelVersion: model.id,
        responseId,
      }),
    closing: [JSON.stringify({ ...closing, responseId })],
    error: JSON.stringify({
      error: { code: 503, message: 'injected fault: the model stopped', status: 'UNAVAILABLE' },
    }),
  });
}

async function drawAnswer(
  context: EmulatorContext,
  body: GenBody,
  model: Model,
): Promise<Record<string, unknown>> {
  const modalities = body.generationConfig?.responseModalities ?? [];
  if (!modalities.includes('TEXT') || !modalities.includes('IMAGE')) {
    throw new Refusal('invalid', 'generationConfig.responseModalities: must include both TEXT and IMAGE');
  }
  const turns = readGenTurns(body);
  const prompt = turns.findLast((turn) => turn.role === 'user')?.text ?? '';
  await context.pause(2);
  const [picture] = await context.studio.produce({
    kind: 'picture',
    prompt,
    avoid: '',
    width: drawingSize,
    height: drawingSize,
    watermark: false,
  });
  if (picture === undefined) throw new Error('the studio drew nothing');
  const text = `Here is how I see “${prompt.slice(0, 200)}”.`;
  const inlineData = { mimeType: picture.contentType, data: Buffer.from(picture.bytes).toString('base64') };
  const tokens = countTextTokens(text) + 1290;
  return response(context, model, turns, { parts: [{ text }, { inlineData }], finishReason: 'STOP', tokens });
}

async function callFunctions(
  context: EmulatorContext,
  body: GenBody,
  model: Model,
): Promise<Record<string, unknown>> {
  const turns = readGenTurns(body);
  await context.pause(0.8);
  const calls = answerWithTools(body, turns);
  if (calls !== null)
    return response(context, model, turns, { parts: calls, finishReason: 'STOP', tokens: 24 });
  const { text, finishReason } = writeText(body, model, turns);
  return response(context, model, turns, { parts: [{ text }], finishReason, tokens: countTextTokens(text) });
}

async function think(
  context: EmulatorContext,
  body: GenBody,
  model: Model,
): Promise<Record<string, unknown>> {
  const { thinkingBudget = -1, includeThoughts = false } = body.generationConfig?.thinkingConfig ?? {};
  const turns = readGenTurns(body);
  const asked = turns.findLast((turn) => turn.role === 'user')?.text ?? '';
  const thought = `The question is “${asked.slice(0, 120)}”. I look for what is asked, check it against what was said, and answer plainly.`;
  const thoughtTokens =
    thinkingBudget === 0
      ? 0
      : Math.min(countTextTokens(thought), thinkingBudget === -1 ? 512 : thinkingBudget);
  await context.pause(thoughtTokens === 0 ? 0.8 : 2);
  const { text, finishReason } = writeText(body, model, turns);
  const parts =
    includeThoughts && thoughtTokens > 0 ? [{ text: thought, thought: true }, { text }] : [{ text }];
  return response(context, model, turns, {
    parts,
    finishReason,
    tokens: countTextTokens(text),
    thoughtTokens,
  });
}
