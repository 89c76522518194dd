import type { ModelChoice, Models } from '../../src/gateway/models/catalog.ts';
import type { Model } from '../../src/gateway/models/listing.ts';

/** The gateway's list, as a test wants it. */
export class ModelList implements Pick<Models, 'list' | 'refresh' | 'cached' | 'resolve'> {
  /** Undefined while no list can be had. */
  offered: readonly Model[] | undefined;
  refreshes = 0;

  constructor(ids: readonly string[]) {
    this.offer(ids);
  }

  /** By id; `Name=id` has a display name. */
  offer(ids: readonly string[]): void {
    this.offered = ids.map((text) => {
      const [left = '', right] = text.split('=');
      return right === undefined ? { id: left } : { id: right, displayName: left };
    });
  }

  list = async (): Promise<Model[]> => [...(this.offered ?? [])];

  refresh = async (): Promise<Model[]> => {
    this.refreshes += 1;
    return this.list();
  };

  cached = (): Model[] => [...(this.offered ?? [])];

  resolve = (name: string): ModelChoice => {
    if (this.offered === undefined) return { kind: 'unlisted' };
    const exact = this.offered.find(({ id }) => id === name);
    if (exact) return { kind: 'id', id: exact.id };
    const label = this.offered.find(({ displayName }) => displayName?.toLowerCase() === name.toLowerCase());
    if (label) return { kind: 'label', id: label.id };
    return {
      kind: 'unknown',
      nearest: this.offered.map(({ id }) => id).filter((id) => id.startsWith(name.slice(0, 4))),
    };
  };
}
