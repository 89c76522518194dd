/** A storage whose operations on jobs are timed, for operators. */
import type { Measure } from '../core/series.ts';
import { type Storage, StorageError } from './storage.ts';

/** @param elapsed milliseconds of a clock that is never set */
export function measuredStorage(storage: Storage, measure: Measure, elapsed: () => number): Storage {
  async function timed<Value>(operation: string, run: () => Promise<Value>): Promise<Value> {
    const began = elapsed();
    const report = (outcome: string) =>
      measure('minstrel_storage_seconds', { operation, outcome }, (elapsed() - began) / 1000);
    try {
      const value = await run();
      report('ok');
      return value;
    } catch (error) {
      report(error instanceof StorageError ? error.code : 'error');
      throw error;
    }
  }
  return {
    ...storage,
    accept: (acceptance) => timed('accept', () => storage.accept(acceptance)),
    receive: (callback) => timed('receive', () => storage.receive(callback)),
    check: () => timed('check', () => storage.check()),
    jobs: {
      ...storage.jobs,
      read: (id) => timed('read', () => storage.jobs.read(id)),
      replace: (job) => timed('replace', () => storage.jobs.replace(job)),
    },
    schedule: {
      ...storage.schedule,
      wake: (job, at) => timed('wake', () => storage.schedule.wake(job, at)),
    },
  };
}
