/** Fills the gaps in the model lists of public services, by names and documented members. */
import { asCount, asList, asText, fieldsOf, kindOf, normalName } from '../transport/json.ts';
import { hintsOf, type ModelHints, USES } from './hints.ts';

export interface PublicModel extends ModelHints {
  readonly id: string;
  /** It may be used before anybody has chosen a model. */
  readonly isOwn: true;
  /** Seconds or milliseconds since the epoch, the same in one list. */
  readonly created?: number | undefined;
  readonly readsImages?: boolean;
}

/** Models of OpenAI and others that don't answer questions: https://platform.openai.com/docs/models. */
const NO_CHAT =
  /(?:^|[^a-z])(?:embed|embedding|embeddings|whisper|tts|dall-e|image|moderation|guard|realtime|audio|transcribe|sora|davinci|babbage|rerank|reranker|search|deep-research|codex|ocr)(?:[^a-z]|$)|^gpt-3\.5-turbo-instruct/i;

/**
 * Vision is listed by OpenRouter (`architecture.input_modalities`) and Mistral (`capabilities.vision`). Others don't list it,
 * and refuse images that the model can't read.
 */
export function chatModelOf(id: string, item: unknown): PublicModel {
  const fields = fieldsOf(item);
  const { uses } = hintsOf(item);
  const modalities = fieldsOf(fields('architecture'))('inputModalities');
  const vision = fieldsOf(fields('capabilities'))('vision');
  const answers = uses === undefined ? !NO_CHAT.test(id) : uses.includes('answers');
  return {
    id,
    isOwn: true,
    uses: answers ? ['answers'] : [],
    routes: ['chat'],
    created: asCount(fields('created')),
    readsImages: Array.isArray(modalities) ? modalities.includes('image') : vision !== false,
  };
}

export function msgModelOf(id: string): PublicModel {
  return { id, isOwn: true, uses: ['answers'], routes: ['msg'], readsImages: true };
}

/** Models that speak, embed or stream live: https://ai.google.dev/gemini-api/docs/models. */
const NO_TEXT = /embedding|tts|native-audio|live|aqa|robotics|computer-use/;

/** `supportedGenerationMethods` has `predict` for Imagen and `embedContent` for embeddings. Only the name shows that a model creates images. */
export function genModelOf(name: string, item: unknown): PublicModel | undefined {
  const id = name.replace(/^models\//, '');
  const methods = asList(fieldsOf(item)('supportedGenerationMethods')).map((method) => asText(method));
  if (!methods.includes('generateContent')) return undefined;
  const uses = NO_TEXT.test(id)
    ? []
    : /image/.test(id)
      ? (['pictures', 'answers'] as const)
      : (['answers'] as const);
  return { id, isOwn: true, uses, routes: ['gen'], readsImages: true };
}

export function mediaModelOf(id: string): PublicModel {
  const use = kindOf(USES, normalName(id));
  return { id, isOwn: true, ...(use && { uses: [use] }) };
}

/** Names of models that are good and cheap enough to be used unasked. */
const SMALL = /(?:^|[^a-z])(?:mini|small|flash|haiku)(?:[^a-z]|$)/;
const UNUSUAL = /preview|exp|lite|beta/;

/** The model to use before anybody has chosen one: the newest small one, else the first. */
export function preferred<M extends Pick<PublicModel, 'id' | 'created'>>(
  models: readonly M[],
): M | undefined {
  const newest = models.toSorted((a, b) => (b.created ?? 0) - (a.created ?? 0));
  const small = newest.filter(({ id }) => SMALL.test(id));
  return small.find(({ id }) => !UNUSUAL.test(id)) ?? small[0] ?? newest[0];
}
