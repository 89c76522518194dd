import type { ModelChoice, Models } from '../../src/gateway/models/catalog.ts';
import type { Model } from '../../src/gateway/models/listing.ts';

/** A fake of the gateway's list. */
export class ModelList implements Pick<Models, 'cached' | 'resolve' | 'find' | 'preferred' | 'ready'> {
  /** Undefined if the list cannot be loaded. */
  offered: readonly Model[] | undefined;
  /** Called when the list is reloaded. */
  refresh = async (): Promise<void> => undefined;

  constructor(ids: readonly string[]) {
    this.offer(ids);
  }

  /** Sets the models by id; `Name=id` adds a display name. */
  offer(ids: readonly string[]): void {
    this.offered = ids.map((text) => {
      const [left = '', right] = text.split('=');
      return right === undefined ? { id: left } : { id: right, displayName: left };
    });
  }

  preferred = (): Model | undefined => undefined;

  ready = async (): Promise<void> => undefined;

  cached = (): readonly Model[] => this.offered ?? [];

  find = async (name: string): Promise<ModelChoice> => {
    const known = this.resolve(name);
    if (known.kind === 'id' || known.kind === 'label') return known;
    await this.refresh();
    return this.resolve(name);
  };

  resolve = (name: string): ModelChoice => {
    if (this.offered === undefined) return { kind: 'unlisted' };
    const exact = this.offered.find(({ id }) => id === name);
    if (exact) return { kind: 'id', model: exact };
    const label = this.offered.find(({ displayName }) => displayName?.toLowerCase() === name.toLowerCase());
    if (label) return { kind: 'label', model: label };
    return {
      kind: 'unknown',
      nearest: this.offered.map(({ id }) => id).filter((id) => id.startsWith(name.slice(0, 4))),
    };
  };
}
