/** Where pages are. */

import { type Address, LOCAL_PLATFORMS } from '../../core/invocation.ts';
import type { JobView } from '../../core/job.ts';
import type { PageKind } from '../../core/web/page-url.ts';
import { pagesInForce } from '../../settings/answers.ts';
import type { DecisionStore } from '../../settings/decisions.ts';
import { isThisMachine } from '../config/checks.ts';

export interface PagesOptions {
  readonly decisions: Pick<DecisionStore, 'read'>;
  /** Where people reach the listener, as the operator set it. */
  readonly publicUrl: string | undefined;
  /** The signed address of a page. */
  readonly signedUrl: (kind: PageKind, id: string) => string;
}

export type Pages = ReturnType<typeof createPages>;

export function createPages({ decisions, publicUrl, signedUrl }: PagesOptions) {
  const isPublic = publicUrl !== undefined && !isThisMachine(publicUrl);
  /** Undefined where people of the platform could not open it. */
  const urlAt = (at: Pick<Address, 'platform'>, kind: PageKind, id: string): string | undefined =>
    isPublic || LOCAL_PLATFORMS.has(at.platform) ? signedUrl(kind, id) : undefined;

  return {
    urlAt,

    /** Where people open the page of a song; undefined where they could not, or moderators switched pages off. */
    async urlOf({ id, address }: Pick<JobView, 'id' | 'address'>): Promise<string | undefined> {
      const { on } = pagesInForce(await decisions.read(address), address);
      return on ? urlAt(address, 'songs', id) : undefined;
    },
  };
}
