/** Who listens for which job's notices in this process. */
export interface Hearers {
  tell(job: string): void;
  /** Returns what ends the listening. */
  add(job: string, heard: () => void): () => void;
}

export function createHearers(): Hearers {
  const byJob = new Map<string, Set<() => void>>();
  return {
    tell(job) {
      for (const heard of [...(byJob.get(job) ?? [])]) heard();
    },
    add(job, heard) {
      const hearers = byJob.get(job) ?? new Set();
      byJob.set(job, hearers);
      hearers.add(heard);
      return () => {
        hearers.delete(heard);
        if (hearers.size === 0 && byJob.get(job) === hearers) byJob.delete(job);
      };
    },
  };
}
