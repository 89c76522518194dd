import { present } from '../../core/util/present.ts';
import { ROUTES, type RouteAt, type RouteName } from '../routes.ts';
import { GatewayError } from '../transport/errors.ts';
import { asText, fieldsOf, normalName, objectsIn } from '../transport/json.ts';
import type { GatewayOptions, Reply, Requester } from '../transport/request.ts';
import { DIALECTS, type Dialect, hintsOf, type ModelHints } from './hints.ts';
import type { PublicModel } from './public-models.ts';

/** Contract, "Model list item", with hints from the listing, because the contract doesn't show the purpose of a model. */
export interface Model extends ModelHints, Partial<Omit<PublicModel, 'id'>> {
  id: string;
  displayName?: string;
  /** The routes that list the model. A model that only `msg` lists is called there. */
  listedBy?: Dialect[];
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
  route: RouteName,
  log: GatewayOptions['log'],
): Promise<Model[]> {
  const models = new Map<string, Model>();
  const cursors = new Set<string>();
  let cursor: string | undefined;
  const at = requester.at(route);
  const dialect = DIALECTS.find((name) => name === ROUTES[route].family);
  for (let page = 0; page < MAX_PAGES && models.size < MAX_MODELS; page++) {
    let listing: Listing;
    try {
      const query = cursor === undefined ? {} : { query: { [at?.cursor ?? 'after_id']: cursor } };
      listing = readListing(await requester.call(route, query), dialect, at?.model);
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
function readListing(reply: Reply, dialect: Dialect | undefined, known: RouteAt['model']): Listing {
  const page = pageIn(reply.value);
  if (page === undefined) throw reply.unusable('the response is not a model list');
  const items = page.data.slice(0, MAX_MODELS).flatMap((item) => {
    const model = modelIn(item, dialect);
    return model === undefined ? [] : [{ item, model }];
  });
  if (items.length === 0 && page.data.length > 0) throw reply.unusable('no model in the list has an ID');
  const models = items.flatMap(({ item, model }): Model[] => {
    if (known === undefined) return [model];
    const more = known(model.id, item);
    return more === undefined ? [] : [{ ...model, ...present(more) }];
  });
  const { hasMore = false, lastId = items.at(-1)?.model.id, nextPageToken } = page;
  return { models, next: nextPageToken ?? (hasMore ? lastId : undefined) };
}

function modelIn(item: unknown, dialect: Dialect | undefined): Model | undefined {
  const fields = fieldsOf(typeof item === 'string' ? { id: item } : item);
  const id = asText(fields('id', 'model', 'name'), 256);
  if (id === undefined) return undefined;
  const displayName = asText(fields('displayName'), 256);
  return {
    ...present({ id, displayName }),
    ...hintsOf(item),
    ...(dialect && { listedBy: [dialect] }),
  };
}

const LIST_NAMES = new Set(['data', 'models', 'items', 'list']);

interface Page {
  data: readonly unknown[];
  hasMore?: boolean;
  lastId?: string | undefined;
  /** Google's: https://ai.google.dev/api/models#method:-models.list */
  nextPageToken?: string | undefined;
}

/** `{data: [...]}`, a bare list, or a list inside an envelope. */
function pageIn(value: unknown): Page | undefined {
  if (Array.isArray(value)) return { data: value };
  for (const { value: object, fields, inArray } of objectsIn(value).take(20)) {
    if (inArray) continue;
    for (const [name, data] of Object.entries(object)) {
      if (!Array.isArray(data) || !LIST_NAMES.has(normalName(name))) continue;
      return {
        data,
        hasMore: fields('hasMore') === true,
        lastId: asText(fields('lastId'), 512),
        nextPageToken: asText(fields('nextPageToken'), 4_096),
      };
    }
  }
  return undefined;
}
