import PQueue from 'p-queue';

/** Runs work of a person once it is their turn. */
export type FairQueue = <Result>(person: string, work: () => Promise<Result>) => Promise<Result>;

/** A queue where people take turns, so that one person's work does not delay everybody's. */
export function createFairQueue(concurrency: number): FairQueue {
  const turns = new PQueue({ concurrency });
  /** Each person has at most one piece of work in the common queue. */
  const people = new Map<string, PQueue>();
  return (person, work) => {
    const own = people.get(person) ?? new PQueue({ concurrency: 1 });
    people.set(person, own);
    const result = own.add(() => turns.add(work));
    void own.onIdle().then(() => {
      if (own.size + own.pending === 0) people.delete(person);
    });
    return result;
  };
}
