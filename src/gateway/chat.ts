import { type AnswerPiece, usageFrom } from './answer-collector.ts';
import type {
  Answer,
  AnswerEvent,
  AnswerPart,
  CallOptions,
  Finish,
  Part,
  Question,
  Usage,
} from './answers.ts';
import { asCount, asList, asNumber, asText, type Fields, fieldsOf, isObject, parseJson } from './json.ts';
import { checkedTurns, refuseTools } from './questions.ts';
import type { Requester } from './request.ts';
import { type PieceReader, readAnswer, streamAnswer } from './stream.ts';

/** Contract, "Chat style". Every method throws GatewayError only. */
export interface Chat {
  complete(question: Question, options?: CallOptions): Promise<Answer>;
  /** Text as it comes; a stream that does not finish throws with what had come in `partial`. */
  stream(question: Question, options?: CallOptions): AsyncIterable<AnswerEvent>;
}

const ROUTE = 'chat/completions';

export function createChat(requester: Requester): Chat {
  return {
    async complete(question, { signal } = {}) {
      const body = { ...requestBody(question), stream: false };
      return readAnswer(await requester.call(ROUTE, { body, signal }), createChatReader());
    },
    stream(question, { signal } = {}) {
      // `stream_options` is a standard field (contract: such "may be sent"); without it no usage comes.
      const body = () => ({
        ...requestBody(question),
        stream: true,
        stream_options: { include_usage: true },
      });
      return streamAnswer(requester, ROUTE, () => ({ body: body(), signal }), createChatReader);
    },
  };
}

/** Contract, "Chat-style request". `max_tokens` and `temperature` are standard fields, sent only when asked for. */
function requestBody(question: Question): object {
  refuseTools(ROUTE, question);
  const turns = checkedTurns(ROUTE, question);
  const system = question.system?.trim() ? [{ role: 'system', content: question.system }] : [];
  return {
    model: question.model.trim(),
    messages: [...system, ...turns.map(({ role, parts }) => ({ role, content: contentOf(role, parts) }))],
    ...(question.maxTokens === undefined ? {} : { max_tokens: question.maxTokens }),
    ...(question.temperature === undefined ? {} : { temperature: question.temperature }),
  };
}

/** Plain text wherever it can be; a list of parts only where a user shows a picture. */
function contentOf(role: 'user' | 'assistant', parts: readonly Part[]): string | object[] {
  const pictures = role === 'user' && parts.some(({ type }) => type === 'image');
  if (!pictures)
    return parts.flatMap((part) => (part.type === 'text' ? part.text : '(a picture)')).join('\n\n');
  return parts.flatMap((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    if (part.type !== 'image') return [];
    return { type: 'image_url', image_url: { url: `data:${part.mimeType};base64,${part.data}` } };
  });
}

const FINISH_REASONS: Readonly<Record<string, Finish['reason']>> = {
  stop: 'stop',
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'blocked',
};

interface ToolCallSoFar {
  id?: string;
  name: string;
  arguments: string[];
}

/** Reads chunks (`delta`) and whole answers (`message`) alike; openai-node src/resources/chat/completions. */
function createChatReader(): PieceReader {
  const toolCalls = new Map<number, ToolCallSoFar>();
  let refusing = false;

  const readMessage = (message: Fields): AnswerPart[] => {
    const refusal = asRawText(message('refusal'));
    if (refusal !== undefined) refusing = true;
    for (const [index, call] of asList(message('toolCalls')).slice(0, 100).entries()) collect(call, index);
    const thought = asRawText(message('reasoningContent', 'reasoning'));
    return [
      ...(thought === undefined ? [] : [{ type: 'thought' as const, text: thought }]),
      ...textsOf(message('content')).map((text) => ({ type: 'text' as const, text })),
      ...(refusal === undefined ? [] : [{ type: 'text' as const, text: refusal }]),
    ];
  };

  const collect = (call: unknown, position: number) => {
    const fields = fieldsOf(call);
    const named = fieldsOf(fields('function'));
    const index = asNumber(fields('index')) ?? position;
    const known = toolCalls.get(index) ?? { name: '', arguments: [] };
    known.name ||= asText(named('name'), 200) ?? '';
    const id = asText(fields('id'), 512);
    if (id !== undefined) known.id ??= id;
    const fragment = named('arguments');
    if (typeof fragment === 'string') known.arguments.push(fragment);
    toolCalls.set(index, known);
  };

  return {
    isEnd: (data) => data.trimStart().startsWith('[DONE]'),
    read(value): AnswerPiece {
      const outer = fieldsOf(value);
      const root =
        outer('choices') === undefined ? fieldsOf(outer('data', 'response', 'result') ?? value) : outer;
      const choices = asList(root('choices'));
      const choice = fieldsOf(
        choices.find((each) => asNumber(fieldsOf(each)('index')) === 0) ??
          choices.find((each) => fieldsOf(each)('index') === undefined),
      );
      const message = choice('delta', 'message');
      const parts = isObject(message)
        ? readMessage(fieldsOf(message))
        : textsOf(choice('text')).map(asTextPart);
      const said = asText(choice('finishReason'), 100);
      const known =
        said !== undefined && Object.hasOwn(FINISH_REASONS, said) ? FINISH_REASONS[said] : undefined;
      const reason = refusing && known === 'stop' ? 'refused' : (known ?? 'other');
      return {
        parts,
        finish: said === undefined ? undefined : { reason, detail: said },
        usage: usageOf(fieldsOf(root('usage'))),
        model: asText(root('model'), 512),
      };
    },
    end: () =>
      [...toolCalls.values()].flatMap(({ id, name, arguments: fragments }) =>
        name === '' ? [] : [{ type: 'tool-call' as const, name, arguments: argumentsOf(fragments), id }],
      ),
  };
}

function argumentsOf(fragments: readonly string[]): Record<string, unknown> {
  const parsed = parseJson(fragments.join(''));
  return parsed.ok && isObject(parsed.value) ? { ...parsed.value } : {};
}

/** Content is text, or a list of parts with text. Not trimmed: fragments begin and end with spaces. */
function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content];
  return asList(content).flatMap((part) =>
    typeof part === 'string' ? part : (asRawText(fieldsOf(part)('text')) ?? []),
  );
}

function asTextPart(text: string): AnswerPart {
  return { type: 'text', text };
}

function asRawText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function usageOf(usage: Fields): Usage | undefined {
  return usageFrom(
    asCount(usage('promptTokens', 'inputTokens')),
    asCount(usage('completionTokens', 'outputTokens')),
  );
}
