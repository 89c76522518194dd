import { type AnswerPiece, usageFrom } from './answer-collector.ts';
import type { Answer, AnswerPart, CallOptions, Finish, Part, Question } from './answers.ts';
import { asCount, asList, asText, fieldsOf, isObject } from './json.ts';
import { checkedTurns, refuseTools, withSystemFirst } from './questions.ts';
import type { Requester } from './request.ts';
import { type PieceReader, readAnswer } from './stream.ts';

/** Contract, "Messages style": JSON only, never streamed. Every method throws GatewayError only. */
export interface Msg {
  complete(question: Question, options?: CallOptions): Promise<Answer>;
  /** Input tokens of the question. */
  countTokens(question: Question, options?: CallOptions): Promise<number>;
}

/** `max_tokens` is required; its ceiling is the model's own, and every model of this dialect allows this many. */
const DEFAULT_MAX_TOKENS = 4_096;

export function createMsg(requester: Requester): Msg {
  return {
    async complete(question, { signal } = {}) {
      const body = {
        model: question.model.trim(),
        max_tokens: question.maxTokens ?? DEFAULT_MAX_TOKENS,
        messages: messagesOf('msg/messages', question),
        // Not in the contract; the dialect's own name, sent only when asked for.
        ...(question.temperature === undefined ? {} : { temperature: question.temperature }),
      };
      return readAnswer(await requester.call('msg/messages', { body, signal }), createMsgReader());
    },
    async countTokens(question, { signal } = {}) {
      const route = 'msg/count-tokens';
      const body = { model: question.model.trim(), messages: messagesOf(route, question) };
      const reply = await requester.call(route, { body, signal });
      const root = fieldsOf(reply.value);
      const names = ['inputTokens', 'tokenCount', 'totalTokens', 'count', 'tokens'];
      const count =
        asCount(root(...names)) ??
        asCount(fieldsOf(root('data', 'result', 'usage'))(...names)) ??
        asCount(reply.value);
      if (count === undefined) throw reply.unusable('no token count');
      return count;
    },
  };
}

/** Contract, "Messages-style request": alternating turns, content as a string or as blocks. */
function messagesOf(route: 'msg/messages' | 'msg/count-tokens', question: Question): object[] {
  refuseTools(route, question);
  const turns = withSystemFirst(checkedTurns(route, question), question.system);
  return turns.map(({ role, parts }) => ({ role, content: contentOf(role, parts) }));
}

function contentOf(role: 'user' | 'assistant', parts: readonly Part[]): string | object[] {
  const [only, ...others] = parts;
  if (only?.type === 'text' && others.length === 0) return only.text;
  return parts.flatMap((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    if (part.type !== 'image') return [];
    // Pictures are a user's blocks; the assistant's own are only told of.
    if (role === 'assistant') return { type: 'text', text: '(a picture)' };
    return { type: 'image', source: { type: 'base64', media_type: part.mimeType, data: part.data } };
  });
}

/** https://platform.claude.com/docs/en/api/messages, `stop_reason`. */
const STOP_REASONS: Readonly<Record<string, Finish['reason']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'refused',
};

/** Reads a whole message; blocks of unknown types are left out. */
function createMsgReader(): PieceReader {
  return {
    isEnd: () => false,
    read(value): AnswerPiece {
      const outer = fieldsOf(value);
      const root = outer('content') === undefined ? fieldsOf(outer('data', 'message', 'result')) : outer;
      const content = root('content');
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content);
      const said = asText(root('stopReason'), 100);
      const known = said !== undefined && Object.hasOwn(STOP_REASONS, said) ? STOP_REASONS[said] : undefined;
      const usage = fieldsOf(root('usage'));
      return {
        parts: blocks.flatMap(partsOf),
        finish: said === undefined ? undefined : { reason: known ?? 'other', detail: said },
        usage: usageFrom(asCount(usage('inputTokens')), asCount(usage('outputTokens'))),
        model: asText(root('model'), 512),
      };
    },
    end: () => [],
  };
}

function partsOf(block: unknown): AnswerPart[] {
  const fields = fieldsOf(block);
  const text = fields('text');
  const thought = fields('thinking');
  const name = asText(fields('name'), 200);
  switch (fields('type')) {
    case 'text':
    case undefined:
      return typeof text === 'string' ? [{ type: 'text', text }] : [];
    case 'thinking':
      return typeof thought === 'string' ? [{ type: 'thought', text: thought }] : [];
    case 'tool_use': {
      const input = fields('input');
      if (name === undefined) return [];
      const id = asText(fields('id'), 512);
      return [{ type: 'tool-call', name, arguments: isObject(input) ? { ...input } : {}, id }];
    }
    default:
      return [];
  }
}
