/** URLs of song and album pages. */

import { type Address, LOCAL_PLATFORMS } from '../../core/invocation.ts';
import type { JobView } from '../../core/job.ts';
import type { PageKind } from '../../core/web/page-url.ts';
import { pagesInForce } from '../../settings/answers.ts';
import type { DecisionStore } from '../../settings/decisions.ts';
import { isThisMachine } from '../config/checks.ts';

export interface PagesOptions {
  readonly decisions: Pick<DecisionStore, 'read'>;
  /** The listener's public URL from the settings. */
  readonly publicUrl: string | undefined;
  /** Returns the signed URL of a page. */
  readonly signedUrl: (kind: PageKind, id: string) => string;
}

export type Pages = ReturnType<typeof createPages>;

export function createPages({ decisions, publicUrl, signedUrl }: PagesOptions) {
  const isPublic = publicUrl !== undefined && !isThisMachine(publicUrl);
  /** Returns undefined if people on the platform could not open the page. */
  const urlAt = (at: Pick<Address, 'platform'>, kind: PageKind, id: string): string | undefined =>
    isPublic || LOCAL_PLATFORMS.has(at.platform) ? signedUrl(kind, id) : undefined;

  return {
    urlAt,

    /** Returns undefined if people could not open the song's page, or moderators turned pages off. */
    async urlOf({ id, address }: Pick<JobView, 'id' | 'address'>): Promise<string | undefined> {
      const { on } = pagesInForce(await decisions.read(address), address);
      return on ? urlAt(address, 'songs', id) : undefined;
    },
  };
}
