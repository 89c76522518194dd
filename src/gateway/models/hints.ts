/** Hints of a model list about the purpose of its models, which the contract doesn't show. */
import { asText, fieldsOf, isObject, kindOf, normalName } from '../transport/json.ts';

/** The output of a model. */
export type ModelUse = 'answers' | 'pictures' | 'videos';
/** The families that answer questions, the default first. */
export const DIALECTS = ['chat', 'msg', 'gen'] as const;
export type Dialect = (typeof DIALECTS)[number];

export interface ModelHints {
  readonly uses?: readonly ModelUse[];
  readonly routes?: readonly Dialect[];
}

/** Fields that may contain hints. Only output modalities count. */
const HINT_FIELDS = [
  'routes',
  'supportedEndpointTypes',
  'outputModalities',
  'capabilities',
  'tasks',
  'task',
  'modality',
  'type',
];

/** The first match wins, so that “image-to-video” counts as video. */
export const USES: Readonly<Record<ModelUse, RegExp>> = {
  videos: /video|[ti]2v/,
  pictures: /image|picture|t2i/,
  answers: /chat|text|messages|completion|language|llm|^(?:msg|openai|anthropic|gemini|gen.*)$/,
};
const DIALECT_WORDS: Readonly<Record<Dialect, RegExp>> = {
  chat: /^(?:chat.*|openai|completions?)$/,
  msg: /^(?:msg|messages|anthropic)$/,
  gen: /^(?:gen(?!er).*|gemini)$/,
};

/** Never throws. Returns an empty object for an item without hints. */
export function hintsOf(item: unknown): ModelHints {
  const fields = fieldsOf(item);
  const words = [fields, fieldsOf(fields('architecture'))]
    .flatMap((named) => HINT_FIELDS.map((name) => named(name)))
    .flatMap(wordsOf);
  const uses = new Set(words.map((word) => kindOf(USES, word)).filter((use) => use !== undefined));
  const routes = new Set(
    words.map((word) => kindOf(DIALECT_WORDS, word)).filter((route) => route !== undefined),
  );
  // Gen models that create images return text too.
  if (words.some((word) => DIALECT_WORDS.gen.test(word) && USES.pictures.test(word))) uses.add('answers');
  return {
    ...(uses.size === 0 ? {} : { uses: [...uses] }),
    ...(routes.size === 0 ? {} : { routes: [...routes] }),
  };
}

function wordsOf(hint: unknown): string[] {
  const hints = Array.isArray(hint)
    ? hint.slice(0, 50)
    : isObject(hint)
      ? Object.keys(hint).filter((key) => hint[key] === true)
      : [hint];
  // “text+image->text” names the input and the output.
  return hints.flatMap((word) => normalName((asText(word, 100) ?? '').split('->').at(-1) ?? ''));
}
