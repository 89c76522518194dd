import { GatewayError } from './errors.ts';
import { asNumber, asText, fieldsOf, normalName, objectsIn } from './json.ts';
import type { GatewayOptions } from './options.ts';
import type { Reply, Requester } from './request.ts';

/** Contract, "Model list item". */
export interface Model {
  id: string;
  displayName?: string;
  type?: string;
  /** As the gateway writes it, or in ISO 8601 where it sends a number of seconds. */
  createdAt?: string;
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

function readListing(reply: Reply, listedBy: 'chat' | 'msg'): Listing {
  const holder = listHolder(reply.value);
  if (holder === undefined) throw reply.unusable('no model list');
  const models = holder.list.slice(0, MOST_MODELS).flatMap((item) => readModel(item, listedBy) ?? []);
  if (models.length === 0 && holder.list.length > 0) throw reply.unusable('no model in the list has an id');
  const more = holder.fields('hasMore');
  const last = asText(holder.fields('lastId', 'nextCursor'), 512) ?? models.at(-1)?.id;
  return (more === true || more === 'true') && last !== undefined ? { models, next: last } : { models };
}

const LIST_NAMES = new Set(['data', 'models', 'items', 'list']);

/** `{data: [...]}`, a bare list, or a list inside an envelope. */
function listHolder(value: unknown) {
  if (Array.isArray(value)) return { list: value as unknown[], fields: fieldsOf(undefined) };
  for (const { value: place, fields, inArray } of objectsIn(value).take(20)) {
    if (inArray) continue;
    for (const [name, list] of Object.entries(place)) {
      if (Array.isArray(list) && LIST_NAMES.has(normalName(name))) return { list: list as unknown[], fields };
    }
  }
  return undefined;
}

function readModel(item: unknown, listedBy: 'chat' | 'msg'): Model | undefined {
  const fields = fieldsOf(item);
  const id = asText(typeof item === 'string' ? item : fields('id', 'model', 'modelId', 'name'), 256);
  if (id === undefined) return undefined;
  const displayName = asText(fields('displayName', 'label', 'title'), 256);
  const type = asText(fields('type', 'object'), 100);
  const createdAt = readTime(fields('createdAt', 'created'));
  return {
    id,
    ...(displayName === undefined ? {} : { displayName }),
    ...(type === undefined ? {} : { type }),
    ...(createdAt === undefined ? {} : { createdAt }),
    listedBy: [listedBy],
  };
}

function readTime(value: unknown): string | undefined {
  const seconds = asNumber(value);
  if (seconds === undefined) return asText(value, 100);
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
