/** The port for leases: what one replica has alone, for some time. */
export interface Leases {
  /** Whether the holder has the lease for so many milliseconds from now on: it is taken where it is free, and extended where it is theirs. */
  take(name: string, holder: string, milliseconds: number): Promise<boolean>;
  /** Frees it where it is this holder's. */
  release(name: string, holder: string): Promise<void>;
}

/** For a storage that one process has alone. */
export function localLeases(elapsed: () => number): Leases {
  const leases = new Map<string, { readonly holder: string; readonly until: number }>();
  return {
    async take(name, holder, milliseconds) {
      const lease = leases.get(name);
      if (lease && lease.holder !== holder && lease.until > elapsed()) return false;
      leases.set(name, { holder, until: elapsed() + milliseconds });
      return true;
    },
    async release(name, holder) {
      if (leases.get(name)?.holder === holder) leases.delete(name);
    },
  };
}
