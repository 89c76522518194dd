/** The port for what the replicas of one bot share. Every method rejects with StorageError when storage fails. */
export interface Replicas {
  /** Of this process; no other has the same. */
  readonly name: string;
  /** A replica counts as dead when it was not renewed for so many milliseconds. */
  readonly leaseMs: number;
  /**
   * Says that this replica lives, and leases parts of a task to it, such as shards: each part to one replica, each living
   * replica its share. What a dead replica held is free. Safe to repeat.
   */
  renew(task: string, renewal: Renewal): Promise<PartLeases>;
  /** Resolves to 0 for one caller in `everyMs` of all replicas, and to the milliseconds after which to ask again for the others. */
  pass(gate: string, everyMs: number): Promise<number>;
  /** Takes a part of what all replicas together may do in the present second. */
  take(budget: string, request: { readonly perSecond: number; readonly wanted: number }): Promise<Grant>;
  /** No replica is granted anything of this budget for so long. */
  block(budget: string, milliseconds: number): Promise<void>;
}

export interface Renewal {
  /** The name of the replica. */
  readonly replica: string;
  /** How many parts there are, if no living replica holds one; else it stays as it is. */
  readonly parts: number;
  /** It wants no part any more. */
  readonly leaving?: boolean;
  /** Parts that it gives up, each free for others from now on. */
  readonly released: readonly number[];
  /** What the next holder of a part is to know of it. Written for parts that this replica holds alone. */
  readonly notes: ReadonlyMap<number, string>;
}

export interface PartLeases {
  readonly parts: number;
  /** How many replicas live. */
  readonly replicas: number;
  /** The parts that this replica holds now, each with its last note. */
  readonly held: ReadonlyMap<number, string | undefined>;
  /** Those of them that are more than its share: to be given up. */
  readonly excess: readonly number[];
}

export interface Grant {
  readonly granted: number;
  /** How long it holds; when nothing was granted, after which time to ask again. */
  readonly milliseconds: number;
}
