/** The routes of pages. */
import { pageUrl } from '../../core/http.ts';
import type { JobView } from '../../core/job.ts';
import type { Log } from '../../core/telemetry/log.ts';
import { assetRoutes, loadAssets } from '../../http/assets.ts';
import { PAGE_ASSETS, songRoutes } from '../../http/pages/routes.ts';
import type { Routes } from '../../http/server.ts';
import type { DecisionStore } from '../../settings/decisions.ts';
import type { Services } from '../services.ts';
import { createPageSource } from './page-source.ts';

export function songPageRoutes(
  { storage, media, publicUrl, secrets }: Services,
  decisions: DecisionStore,
  { log, elapsed }: { readonly log: Log; readonly elapsed: () => number },
): Routes[] {
  const [secret] = secrets;
  const root = publicUrl.length + 1;
  const pathOf = ({ id }: Pick<JobView, 'id'>) => pageUrl(publicUrl, 'songs', id, secret).slice(root);
  const assets = once(() => loadAssets(PAGE_ASSETS));
  return [
    assetRoutes(PAGE_ASSETS.path, assets),
    songRoutes({
      source: createPageSource({ storage, media, decisions, publicUrl, pathOf }),
      assets,
      secrets,
      publicUrl,
      log,
      elapsed,
    }),
  ];
}

/** Makes it at the first call, and again only after a failure. */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
