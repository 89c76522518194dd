/** Contract, "Model list item". */
export interface Model {
  id: string;
  displayName?: string;
  type?: string;
  createdAt?: string;
}

export type ModelChoice =
  | { kind: 'id'; id: string }
  /** A display name was given; `id` is the model it belongs to. */
  | { kind: 'label'; id: string }
  | { kind: 'unknown'; nearest: string[] }
  /** No list is known yet, so nothing can be said about the name. */
  | { kind: 'unlisted' };

/** Contract, "Model listing": what this account may use. */
export interface Models {
  /** The cached list, fetched when there is none or it is old; throws GatewayError only when no good list is known. */
  list(): Promise<Model[]>;
  refresh(): Promise<Model[]>;
  /** Fetches again and again in the background until `stop`. */
  startRefreshing(): void;
  /** Resolves when the pass that is running has ended. */
  stop(): Promise<void>;
  /** The last good list, or an empty one; never waits. */
  cached(): Model[];
  /** Against the last good list; never waits. */
  resolve(idOrLabel: string): ModelChoice;
}
