import { distance } from 'fastest-levenshtein';
import { jitter } from '../../core/util/backoff.ts';
import type { GatewayOptions, Requester } from '../transport/request.ts';
import { listModels, type Model } from './listing.ts';

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
}

/** The background interval. The contract says "re-sync regularly". */
const EVERY_MS = 15 * 60_000;
const AFTER_FAILURE_MS = 60_000;
const LISTINGS = ['chat/models', 'msg/models'] as const;

export function createModels(
  requester: Requester,
  { random, sleep, log }: Pick<GatewayOptions, 'random' | 'sleep' | 'log'>,
): Models {
  /** The last list of each route, so that an outage of one doesn't remove the other's models. */
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

  const resolve = (idOrLabel: string): ModelChoice =>
    merged === undefined ? { kind: 'unlisted' } : choose(merged, idOrLabel);

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
