import { present } from '../../core/util/present.ts';
import { GatewayError } from '../transport/errors.ts';
import { asText, fieldsOf, isObject, kindOf, normalName, objectsIn } from '../transport/json.ts';
import type { GatewayOptions, Reply, Requester } from '../transport/request.ts';

/** Contract, "Model list item", with hints from the listing, because the contract doesn't show the purpose of a model. */
export interface Model extends ModelHints {
  id: string;
  displayName?: string;
  /** The routes that list the model. A model that only `msg` lists is called there. */
  listedBy?: ('chat' | 'msg')[];
}

const MAX_PAGES = 50;
const MAX_MODELS = 10_000;

/**
 * Fetches all pages of a listing route. The contract doesn't show the pagination parameters; `after_id` is the messages
 * dialect's (https://platform.claude.com/docs/en/api/models-list). Stops at a repeated cursor, at a page without new
 * models, and after fifty pages. If a later page fails, returns the models of the earlier ones.
 */
export async function listModels(
  requester: Requester,
  route: 'chat/models' | 'msg/models',
  log: GatewayOptions['log'],
): Promise<Model[]> {
  const models = new Map<string, Model>();
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && models.size < MAX_MODELS; page++) {
    let listing: Listing;
    try {
      const query = cursor === undefined ? {} : { query: { after_id: cursor } };
      listing = readListing(await requester.call(route, query), route === 'chat/models' ? 'chat' : 'msg');
    } catch (error) {
      if (page === 0 || !(error instanceof GatewayError)) throw error;
      log?.warn({ route, page, err: error }, 'Could not fetch a later page of the model list');
      break;
    }
    const before = models.size;
    for (const model of listing.models) if (!models.has(model.id)) models.set(model.id, model);
    cursor = listing.next;
    if (cursor === undefined || cursors.has(cursor) || models.size === before) break;
    cursors.add(cursor);
  }
  return [...models.values()];
}

interface Listing {
  models: Model[];
  /** The cursor of the next page, if any. */
  next: string | undefined;
}

/** Reads one page of a listing route: contract, "Model listing" and the last rows of "Model list item". */
function readListing(reply: Reply, listedBy: 'chat' | 'msg'): Listing {
  const page = pageIn(reply.value);
  if (page === undefined) throw reply.unusable('the response is not a model list');
  const models = page.data.slice(0, MAX_MODELS).flatMap((item) => modelIn(item, listedBy));
  if (models.length === 0 && page.data.length > 0) throw reply.unusable('no model in the list has an ID');
  const { hasMore = false, lastId = models.at(-1)?.id } = page;
  return { models, next: hasMore ? lastId : undefined };
}

function modelIn(item: unknown, listedBy: 'chat' | 'msg'): Model[] {
  const fields = fieldsOf(typeof item === 'string' ? { id: item } : item);
  const id = asText(fields('id', 'model', 'name'), 256);
  if (id === undefined) return [];
  const displayName = asText(fields('displayName'), 256);
  return [{ ...present({ id, displayName }), ...hintsOf(item), listedBy: [listedBy] }];
}

const LIST_NAMES = new Set(['data', 'models', 'items', 'list']);

/** `{data: [...]}`, a bare list, or a list inside an envelope. */
function pageIn(
  value: unknown,
): { data: readonly unknown[]; hasMore?: boolean; lastId?: string | undefined } | undefined {
  if (Array.isArray(value)) return { data: value };
  for (const { value: object, fields, inArray } of objectsIn(value).take(20)) {
    if (inArray) continue;
    for (const [name, data] of Object.entries(object)) {
      if (!Array.isArray(data) || !LIST_NAMES.has(normalName(name))) continue;
      return { data, hasMore: fields('hasMore') === true, lastId: asText(fields('lastId'), 512) };
    }
  }
  return undefined;
}

/** The output of a model. */
export type ModelUse = 'answers' | 'pictures' | 'videos';
type Dialect = 'chat' | 'msg' | 'gen';

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

/** Never throws. Returns an empty object for an item without hints. */
export function hintsOf(item: unknown): ModelHints {
  const fields = fieldsOf(item);
  const words = [fields, fieldsOf(fields('architecture'))]
    .flatMap((named) => HINT_FIELDS.map((name) => named(name)))
    .flatMap(wordsOf);
  const uses = new Set(words.map((word) => kindOf(USES, word)).filter((use) => use !== undefined));
  const routes = new Set(words.map((word) => kindOf(DIALECTS, word)).filter((route) => route !== undefined));
  // Gen models that create images return text too.
  if (words.some((word) => DIALECTS.gen.test(word) && USES.pictures.test(word))) uses.add('answers');
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
