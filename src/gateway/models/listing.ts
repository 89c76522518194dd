import { z } from 'zod';
import { GatewayError } from '../transport/errors.ts';
import {
  asNumber,
  fieldsOf,
  listOf,
  maybe,
  members,
  normalName,
  objectsIn,
  text,
  usable,
} from '../transport/json.ts';
import type { GatewayOptions } from '../transport/options.ts';
import type { Reply, Requester } from '../transport/request.ts';
import { hintsOf, type ModelHints } from './hints.ts';

/** Contract, "Model list item". */
const modelListItem = z.preprocess(
  (item) => (typeof item === 'string' ? { id: item } : item),
  members(
    {
      id: text(256),
      displayName: maybe(text(256)),
      type: maybe(text(100)),
      /** As the gateway writes it, or in ISO 8601 where it sends a number of seconds. */
      createdAt: maybe(z.preprocess(asTime, text(100))),
    },
    {
      id: ['id', 'model', 'modelId', 'name'],
      displayName: ['displayName', 'label', 'title'],
      type: ['type', 'object'],
      createdAt: ['createdAt', 'created'],
    },
  ),
);

/** With hints as far as the listing has any: the contract says nothing of what a model is for. */
export interface Model extends z.infer<typeof modelListItem>, ModelHints {
  /** The listing routes that named it: a model that only `msg` lists is asked there. */
  listedBy?: ('chat' | 'msg')[];
}

const MOST_PAGES = 50;
const MOST_MODELS = 10_000;

/**
 * Every page of one listing route. The contract does not show the pagination parameters; `after_id` is the messages
 * dialect's (https://platform.claude.com/docs/en/api/models-list). Ends on a cursor seen before, on a page without
 * news, and after fifty pages; what an unreadable later page leaves is kept.
 */
export async function listModels(
  requester: Requester,
  route: 'chat/models' | 'msg/models',
  log: GatewayOptions['log'],
): Promise<Model[]> {
  const models = new Map<string, Model>();
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES && models.size < MOST_MODELS; page++) {
    let listing: Listing;
    try {
      listing = readListing(
        await requester.call(route, cursor === undefined ? {} : { query: { after_id: cursor } }),
        route === 'chat/models' ? 'chat' : 'msg',
      );
    } catch (error) {
      if (page === 0 || !(error instanceof GatewayError)) throw error;
      log?.warn({ route, page, err: error }, 'a later page of the model list failed');
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
  /** The cursor of the next page, when there is one. */
  next?: string;
}

/** One page of a listing route: contract, "Model listing" and the last rows of "Model list item". */
const modelListPage = members({
  data: listOf(modelListItem, MOST_MODELS),
  hasMore: z.preprocess((value) => value === true || value === 'true', z.boolean()),
  lastId: maybe(text(512)),
});

function readListing(reply: Reply, listedBy: 'chat' | 'msg'): Listing {
  const found = pageIn(reply.value);
  if (found === undefined) throw reply.unusable('no model list');
  const { data, hasMore, lastId } = usable(reply, modelListPage, found);
  if (data.length === 0 && found.data.length > 0) throw reply.unusable('no model in the list has an id');
  const hints = new Map(found.data.map((item) => [fieldsOf(item)('id', 'model', 'modelId', 'name'), item]));
  const models = data.map(
    (model): Model => ({ ...model, ...hintsOf(hints.get(model.id)), listedBy: [listedBy] }),
  );
  const next = lastId ?? models.at(-1)?.id;
  return hasMore && next !== undefined ? { models, next } : { models };
}

const LIST_NAMES = new Set(['data', 'models', 'items', 'list']);

/** `{data: [...]}`, a bare list, or a list inside an envelope. */
function pageIn(value: unknown): { data: unknown[]; hasMore?: unknown; lastId?: unknown } | undefined {
  if (Array.isArray(value)) return { data: value };
  for (const { value: object, fields, inArray } of objectsIn(value).take(20)) {
    if (inArray) continue;
    for (const [name, data] of Object.entries(object)) {
      if (!Array.isArray(data) || !LIST_NAMES.has(normalName(name))) continue;
      return { data, hasMore: fields('hasMore'), lastId: fields('lastId', 'nextCursor') };
    }
  }
  return undefined;
}

function asTime(value: unknown): unknown {
  const seconds = asNumber(value);
  if (seconds === undefined) return value;
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
