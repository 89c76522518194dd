/** What an item of the model list tells besides the contract's fields: what the model makes, and which dialects ask it. */
import { asText, fieldsOf, isObject, kindOf, normalName } from '../transport/json.ts';

/** What a model makes. */
export type ModelUse = 'answers' | 'pictures' | 'videos';
type Dialect = 'chat' | 'msg' | 'gen';

export interface ModelHints {
  readonly uses?: readonly ModelUse[];
  readonly routes?: readonly Dialect[];
}

/** Where listings say it; of modalities, only those that come out. */
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

/** The first that matches: “text-to-image” makes pictures, “image-to-video” videos. */
const USES: Readonly<Record<ModelUse, RegExp>> = {
  videos: /video|[ti]2v/,
  pictures: /image|picture|t2i/,
  answers: /chat|text|messages|completion|language|llm|^(?:msg|openai|anthropic|gemini|gen.*)$/,
};
const DIALECTS: Readonly<Record<Dialect, RegExp>> = {
  chat: /^(?:chat.*|openai|completions?)$/,
  msg: /^(?:msg|messages|anthropic)$/,
  gen: /^(?:gen(?!er).*|gemini)$/,
};

/** Total: an item that hints at nothing has neither member. */
export function hintsOf(item: unknown): ModelHints {
  const fields = fieldsOf(item);
  const words = [fields, fieldsOf(fields('architecture'))]
    .flatMap((named) => HINT_FIELDS.map((name) => named(name)))
    .flatMap(wordsOf);
  const uses = new Set(words.map((word) => kindOf(USES, word)).filter((use) => use !== undefined));
  const routes = new Set(words.map((word) => kindOf(DIALECTS, word)).filter((route) => route !== undefined));
  // What gen models paint comes with text.
  if (words.some((word) => DIALECTS.gen.test(word) && USES.pictures.test(word))) uses.add('answers');
  return {
    ...(uses.size === 0 ? {} : { uses: [...uses] }),
    ...(routes.size === 0 ? {} : { routes: [...routes] }),
  };
}

function wordsOf(hint: unknown): string[] {
  const said = Array.isArray(hint)
    ? hint.slice(0, 50)
    : isObject(hint)
      ? Object.keys(hint).filter((key) => hint[key] === true)
      : [hint];
  // “text+image->text” is what goes in, and what comes out.
  return said.flatMap((word) => normalName((asText(word, 100) ?? '').split('->').at(-1) ?? ''));
}
