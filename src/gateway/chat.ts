import { own } from '../core/util/own.ts';
import { type Adaptation, createAdaptations } from './adaptation.ts';
import {
  type AnswerEvent,
  type AnswerPart,
  type CallOptions,
  type Finish,
  type TextPart,
  type ThoughtPart,
  usageOf,
} from './answers.ts';
import { createImageSplitter, imageInDataUrl } from './images.ts';
import { checkedTurns, type Question, type TurnPart } from './questions.ts';
import { createThoughtSplitter } from './thoughts.ts';
import * as json from './transport/json.ts';
import type { Requester } from './transport/request.ts';
import { type AnswerPiece, type AnswerReader, streamAnswer } from './transport/stream.ts';

const ROUTE = 'chat/completions';

/** Contract, "Chat style". */
export function createChat(requester: Requester) {
  const adaptations = createAdaptations();
  return {
    /** Streams the text. Throws GatewayError, even if the stream only ends early. */
    stream: (question: Question, { signal }: CallOptions = {}): AsyncIterable<AnswerEvent> =>
      adaptations.stream(question, (prepared, adaptation) =>
        streamAnswer(
          requester,
          ROUTE,
          () => ({ body: chatRequest(prepared, adaptation), signal }),
          createChatReader,
        ),
      ),
  };
}

/**
 * `POST /chat/v1/chat/completions`: contract, "Chat-style request (`chat`)". `max_tokens` and `stream_options` are standard
 * fields, which "may be sent". Streams contain usage only with `stream_options`. Throws GatewayError `invalid`.
 */
function chatRequest(question: Question, adaptation: Adaptation): object {
  const turns = checkedTurns(ROUTE, question).map(({ role, parts }) => ({
    role,
    content: contentOf(role, parts),
  }));
  const system = question.system?.trim() ? [{ role: 'system', content: question.system }] : [];
  return {
    model: question.model.trim(),
    stream: true,
    messages: [...system, ...turns],
    [adaptation.usesCompletionTokens ? 'max_completion_tokens' : 'max_tokens']: question.maxTokens,
    stream_options: adaptation.omitsStreamOptions ? undefined : { include_usage: true },
  };
}

/** Returns plain text, or a list of parts if a user turn contains an image. */
function contentOf(role: 'user' | 'assistant', parts: readonly TurnPart[]): string | object[] {
  const hasImages = role === 'user' && parts.some(({ type }) => type === 'image');
  if (!hasImages)
    return parts.flatMap((part) => (part.type === 'text' ? part.text : '(an image)')).join('\n\n');
  return parts.flatMap((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    if (part.type !== 'image') return [];
    return { type: 'image_url', image_url: { url: `data:${part.mimeType};base64,${part.data}` } };
  });
}

/** In lower case. Gateways forward the values of other vendors: Anthropic, Google and local servers. */
const FINISH_REASONS: Readonly<Record<string, Finish['reason']>> = {
  stop: 'stop',
  end: 'stop',
  eos: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'blocked',
  safety: 'blocked',
  sensitive: 'blocked',
  refusal: 'refused',
};

/**
 * Reads the responses of `POST /chat/v1/chat/completions`: contract, "Chat style". Stream chunks have their text in
 * `choices[0].delta.content`. Whole bodies are the public API's, with `message` instead of `delta`
 * (openai-node src/resources/chat/completions).
 */
export function createChatReader(): AnswerReader {
  let isRefused = false;
  const splitter = createThoughtSplitter();
  // Chats do not show data URLs.
  const pictures = createImageSplitter();

  const separated = (found: ReturnType<typeof pictures.add>): AnswerPart[] =>
    found.map((each) => ('text' in each ? { type: 'text', text: each.text } : imageAt(each.address)));
  const withImages = (parts: readonly (TextPart | ThoughtPart)[]): AnswerPart[] =>
    parts.flatMap((part) => (part.type === 'text' ? separated(pictures.add(part.text)) : [part]));
  const end = () => [...withImages(splitter.flush()), ...separated(pictures.end())];

  const partsOf = (message: json.JsonObject): AnswerPart[] => {
    const parts: AnswerPart[] = [];
    const { content, refusal, reasoning, reasoning_content, images } = message;
    const thought = reasoning_content ?? reasoning;
    if (isText(thought)) parts.push({ type: 'thought', text: thought });
    for (const text of textsOf(content)) parts.push(...withImages(splitter.add(text)));
    for (const image of json.asList(images)) parts.push(imageAt(urlOf(image)));
    if (isText(refusal)) {
      isRefused = true;
      parts.push({ type: 'text', text: refusal });
    }
    return parts;
  };

  return {
    read(value): AnswerPiece {
      const { choices, usage } = json.unwrapped(value, ['choices'], ['data', 'response', 'result']);
      // Each choice is a separate answer, so only the first is read.
      const { delta, message, finish_reason } = firstOf(json.asList(choices));
      const read = partsOf(json.objectOf(delta ?? message));
      const finish = finishOf(json.asText(finish_reason, 100), isRefused);
      const parts = [...read, ...(finish || message ? end() : [])];
      const counts = json.objectOf(usage);
      return {
        parts,
        finish,
        usage: usageOf(counts.prompt_tokens, counts.completion_tokens),
      };
    },
    end,
  };
}

function firstOf(choices: readonly unknown[]): json.JsonObject {
  const at = (index: number | undefined) =>
    choices.find((choice) => (json.objectOf(choice).index ?? undefined) === index);
  return json.objectOf(at(0) ?? at(undefined));
}

/** https://openrouter.ai/docs/features/multimodal/image-generation */
const urlOf = (image: unknown): unknown => json.objectOf(json.objectOf(image).image_url).url;

/** Returns the image of a data URL, a link for other URLs, or a note. */
function imageAt(url: unknown): AnswerPart {
  const image = imageInDataUrl(url);
  if (image) return { type: 'image', ...image };
  const address = json.asHttpUrl(url);
  const text = address === undefined ? "(an image that I can't show)" : `[image](${address})`;
  return { type: 'text', text: `\n\n${text}\n\n` };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Texts are not trimmed: fragments begin and end with spaces. */
function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content];
  return json
    .asList(content)
    .map((part) => (typeof part === 'string' ? part : json.objectOf(part).text))
    .filter(isText);
}

function finishOf(word: string | undefined, isRefused: boolean): Finish | undefined {
  if (word === undefined) return undefined;
  const known = own(FINISH_REASONS, word.toLowerCase());
  return { reason: isRefused && known === 'stop' ? 'refused' : (known ?? 'other'), detail: word };
}
