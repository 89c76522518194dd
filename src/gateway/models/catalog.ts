import { distance } from 'fastest-levenshtein';
import { jitter } from '../../core/util/backoff.ts';
import type { GatewayOptions, Requester } from '../transport/request.ts';
import { listModels, type Model } from './listing.ts';

/** @public */
export type ModelChoice =
  | { kind: 'id'; model: Model }
  /** A display name was given. */
  | { kind: 'label'; model: Model }
  /** `nearest`: ids that were perhaps meant, the likeliest first; at most three. */
  | { kind: 'unknown'; nearest: string[] }
  /** No list is known yet, so nothing can be said about the name. */
  | { kind: 'unlisted' };

/** Contract, "Model listing": what this account may use. */
export interface Models {
  /** Fetches now; throws GatewayError when both listing routes fail, and the last good list stays. */
  refresh(): Promise<readonly Model[]>;
  /** Fetches again and again in the background until `stop`. */
  startRefreshing(): void;
  /** Resolves when the pass that is running has ended. */
  stop(): Promise<void>;
  /** The last good list, or an empty one; never waits. */
  cached(): readonly Model[];
  /** By the last good list; never waits. */
  resolve(idOrLabel: string): ModelChoice;
  /** The same, after a new list where the last one does not have the name. Never throws. */
  find(idOrLabel: string): Promise<ModelChoice>;
}

/** In the background. The contract says "re-sync regularly". */
const EVERY_MS = 15 * 60_000;
const AFTER_FAILURE_MS = 60_000;
const LISTINGS = ['chat/models', 'msg/models'] as const;

export function createModels(
  requester: Requester,
  { random, sleep, log }: Pick<GatewayOptions, 'random' | 'sleep' | 'log'>,
): Models {
  /** The last good list of each route: one route's outage must not take the other's models away. */
  const lastGood = new Map<(typeof LISTINGS)[number], Model[]>();
  let merged: readonly Model[] | undefined;
  let running: Promise<readonly Model[]> | undefined;
  let background: { stop: AbortController; ended: Promise<void> } | undefined;

  async function fetchAll(): Promise<readonly Model[]> {
    const problems: unknown[] = [];
    const listings = LISTINGS.map(async (route) => {
      try {
        lastGood.set(route, await listModels(requester, route, log));
      } catch (error) {
        problems.push(error);
        log?.warn({ route, err: error }, 'Could not fetch a model list');
      }
    });
    await Promise.all(listings);
    if (problems.length === LISTINGS.length) throw problems[0];
    merged = mergeById(LISTINGS.flatMap((route) => lastGood.get(route) ?? []));
    return merged;
  }

  const refresh = (): Promise<readonly Model[]> => {
    running ??= fetchAll().finally(() => {
      running = undefined;
    });
    return running;
  };

  async function keepRefreshing(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const succeeded = await refresh().then(
        () => true,
        () => false,
      );
      const wait = jitter(succeeded ? EVERY_MS : AFTER_FAILURE_MS, random);
      if (!signal.aborted) await sleep(wait, signal);
    }
  }

  const resolve = (idOrLabel: string): ModelChoice =>
    merged === undefined ? { kind: 'unlisted' } : choose(merged, idOrLabel);

  return {
    refresh,
    startRefreshing() {
      if (background !== undefined) return;
      const stop = new AbortController();
      background = { stop, ended: keepRefreshing(stop.signal) };
    },
    async stop() {
      const stopping = background;
      background = undefined;
      stopping?.stop.abort();
      await stopping?.ended;
    },
    cached: () => merged ?? [],
    resolve,
    async find(idOrLabel) {
      const known = resolve(idOrLabel);
      if (known.kind === 'id' || known.kind === 'label') return known;
      await refresh().catch(() => undefined);
      return resolve(idOrLabel);
    },
  };
}

/** One entry an id; the first listing wins, the other fills in what it left out. */
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
const MOST_NEAREST = 3;

function choose(models: readonly Model[], idOrLabel: string): ModelChoice {
  const name = idOrLabel.trim().slice(0, LONGEST_NAME);
  const lower = name.toLowerCase();
  const exact =
    models.find(({ id }) => id === name) ?? only(models.filter(({ id }) => id.toLowerCase() === lower));
  if (exact !== undefined) return { kind: 'id', model: exact };

  const labelled = models.filter(({ displayName }) => displayName?.toLowerCase() === lower);
  const label = labelled.find(({ displayName }) => displayName === name) ?? only(labelled);
  if (label !== undefined) return { kind: 'label', model: label };

  const candidates = labelled.length > 0 ? labelled : models;
  return { kind: 'unknown', nearest: nearestIds(candidates, lower) };
}

function only<T>(items: readonly T[]): T | undefined {
  return items.length === 1 ? items[0] : undefined;
}

function nearestIds(models: readonly Model[], lower: string): string[] {
  const far = (text: string) => {
    const other = text.toLowerCase();
    // Part of a name is nearer than any misspelling of it.
    return lower !== '' && other.includes(lower) ? 0 : distance(lower, other.slice(0, LONGEST_NAME));
  };
  return models
    .map(({ id, displayName }) => ({
      id,
      far: Math.min(far(id), displayName === undefined ? Infinity : far(displayName)),
    }))
    .filter(({ id, far: edits }) => edits <= Math.max(3, Math.ceil(Math.max(lower.length, id.length) / 2)))
    .sort((one, other) => one.far - other.far)
    .slice(0, MOST_NEAREST)
    .map(({ id }) => id);
}
