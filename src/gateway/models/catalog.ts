import { distance } from 'fastest-levenshtein';
import { jitter } from '../../core/util/backoff.ts';
import { fixedModels, listingRoutes, type RouteName } from '../routes.ts';
import type { GatewayOptions, Requester } from '../transport/request.ts';
import { DIALECTS, type Dialect, type ModelUse } from './hints.ts';
import { listModels, type Model } from './listing.ts';
import { preferred } from './public-models.ts';

/** @public */
export type ModelChoice =
  | { kind: 'id'; model: Model }
  /** The name is a display name. */
  | { kind: 'label'; model: Model }
  /** `nearest`: up to three similar IDs, the most similar first. */
  | { kind: 'unknown'; nearest: string[] }
  /** No model list has been loaded yet. */
  | { kind: 'unlisted' };

/** The models that this account may use: contract, "Model listing". */
export interface Models {
  /** Fetches the lists. If both routes fail, throws GatewayError and keeps the last list. */
  refresh(): Promise<readonly Model[]>;
  /** Refreshes the list in the background until `stop` is called. */
  startRefreshing(): void;
  /** Resolves when the current refresh has ended. */
  stop(): Promise<void>;
  /** Returns the last list, or an empty one, without a request. */
  cached(): readonly Model[];
  /** Looks a name up in the last list, without a request. */
  resolve(idOrLabel: string): ModelChoice;
  /** Looks a name up, and refreshes the list if the name is missing. Never throws. */
  find(idOrLabel: string): Promise<ModelChoice>;
  /** The model to use before anybody has chosen one. Undefined at a gateway, where the operator chooses. */
  preferred(use: ModelUse): Model | undefined;
  /** Resolves once `preferred` has its lists, or soon if they are late. Never rejects. */
  ready(): Promise<void>;
  /** True if questions to this chat model may contain images. */
  readsImages(id: string): boolean;
  /** The dialects that have a service, the default first. */
  readonly dialects: readonly Dialect[];
}

/** The background interval. The contract says "re-sync regularly". */
const EVERY_MS = 15 * 60_000;
const AFTER_FAILURE_MS = 60_000;
/** People wait for this, and chats accept an answer for three seconds. */
const READY_MS = 1_500;

export function createModels(
  requester: Requester,
  { accounts, random, sleep, log }: Pick<GatewayOptions, 'accounts' | 'random' | 'sleep' | 'log'>,
): Models {
  const listings = listingRoutes(accounts).filter((route) => requester.at(route) !== undefined);
  const fixed: readonly Model[] = fixedModels(accounts);
  const hasOwn = fixed.length > 0 || listings.some((route) => requester.at(route)?.model !== undefined);
  /** The last list of each route, so that an outage of one doesn't remove the other's models. */
  const lastGood = new Map<RouteName, Model[]>();
  let merged: readonly Model[] | undefined;
  let running: Promise<readonly Model[]> | undefined;
  let background: { stop: AbortController; ended: Promise<void> } | undefined;

  async function fetchAll(): Promise<readonly Model[]> {
    const problems: unknown[] = [];
    const requests = listings.map(async (route) => {
      try {
        lastGood.set(route, await listModels(requester, route, log));
      } catch (error) {
        problems.push(error);
        log?.warn({ route, err: error }, 'Could not fetch a model list');
      }
    });
    await Promise.all(requests);
    if (problems.length > 0 && problems.length === listings.length) throw problems[0];
    merged = mergeById([...listings.flatMap((route) => lastGood.get(route) ?? []), ...fixed]);
    return merged;
  }

  const refresh = (): Promise<readonly Model[]> => {
    running ??= fetchAll().finally(() => {
      running = undefined;
    });
    return running;
  };

  async function refreshInBackground(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const succeeded = await refresh().then(
        () => true,
        () => false,
      );
      const wait = jitter(succeeded ? EVERY_MS : AFTER_FAILURE_MS, random);
      if (!signal.aborted) await sleep(wait, signal);
    }
  }

  /** True if the list of a public service never arrived. It may have any model. */
  const isMissing = (route: RouteName) => !lastGood.has(route) && requester.at(route)?.model !== undefined;

  const resolve = (idOrLabel: string): ModelChoice => {
    if (merged === undefined) return { kind: 'unlisted' };
    const choice = choose(merged, idOrLabel);
    return choice.kind === 'unknown' && listings.some(isMissing) ? { kind: 'unlisted' } : choice;
  };

  return {
    refresh,
    startRefreshing() {
      if (background !== undefined) return;
      const stop = new AbortController();
      background = { stop, ended: refreshInBackground(stop.signal) };
    },
    async stop() {
      const current = background;
      background = undefined;
      current?.stop.abort();
      await current?.ended;
    },
    cached: () => merged ?? fixed,
    resolve,
    async find(idOrLabel) {
      const known = resolve(idOrLabel);
      if (known.kind === 'id' || known.kind === 'label') return known;
      await refresh().catch(() => undefined);
      return resolve(idOrLabel);
    },
    preferred(use) {
      const own = (merged ?? fixed).filter(({ isOwn, uses }) => isOwn && uses?.includes(use));
      const unrouted = own.find(({ routes }) => routes === undefined);
      const dialect = DIALECTS.find((name) => own.some(({ routes }) => routes?.includes(name)));
      return unrouted ?? preferred(own.filter(({ routes }) => routes?.some((name) => name === dialect)));
    },
    async ready() {
      if (!hasOwn || merged !== undefined) return;
      const listed = new AbortController();
      const loading = refresh().catch(() => undefined);
      await Promise.race([loading, sleep(READY_MS, listed.signal)]);
      listed.abort();
    },
    readsImages: (id) =>
      requester.at('chat/completions')?.readsImages === true &&
      (merged?.find((model) => model.id === id)?.readsImages ?? true),
    dialects: DIALECTS.filter((name) => accounts[name] !== undefined),
  };
}

/** Merges models by ID. The first listing wins; the second adds missing fields. */
function mergeById(models: readonly Model[]): Model[] {
  const byId = new Map<string, Model>();
  for (const model of models) {
    const known = byId.get(model.id);
    const listedBy = [...new Set([...(known?.listedBy ?? []), ...(model.listedBy ?? [])])];
    byId.set(model.id, { ...model, ...known, listedBy });
  }
  return [...byId.values()];
}

const LONGEST_NAME = 256;
const MAX_NEAREST = 3;

function choose(models: readonly Model[], idOrLabel: string): ModelChoice {
  const name = idOrLabel.trim().slice(0, LONGEST_NAME);
  const lower = name.toLowerCase();
  const exact =
    models.find(({ id }) => id === name) ?? singleOf(models.filter(({ id }) => id.toLowerCase() === lower));
  if (exact !== undefined) return { kind: 'id', model: exact };

  const labelled = models.filter(({ displayName }) => displayName?.toLowerCase() === lower);
  const label = labelled.find(({ displayName }) => displayName === name) ?? singleOf(labelled);
  if (label !== undefined) return { kind: 'label', model: label };

  const candidates = labelled.length > 0 ? labelled : models;
  return { kind: 'unknown', nearest: nearestIds(candidates, lower) };
}

function singleOf<T>(items: readonly T[]): T | undefined {
  return items.length === 1 ? items[0] : undefined;
}

function nearestIds(models: readonly Model[], lower: string): string[] {
  const editsTo = (text: string) => {
    const candidate = text.toLowerCase();
    // A substring ranks above any misspelling.
    return lower !== '' && candidate.includes(lower) ? 0 : distance(lower, candidate.slice(0, LONGEST_NAME));
  };
  return models
    .map(({ id, displayName }) => ({
      id,
      edits: Math.min(editsTo(id), displayName === undefined ? Infinity : editsTo(displayName)),
    }))
    .filter(({ id, edits }) => edits <= Math.max(3, Math.ceil(Math.max(lower.length, id.length) / 2)))
    .sort((a, b) => a.edits - b.edits)
    .slice(0, MAX_NEAREST)
    .map(({ id }) => id);
}
