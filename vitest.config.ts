import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that compute or wait longest. They begin first, so that none of them runs alone at the end. */
const LONGEST = ['/test/simulation/fresh', '/test/chaos/', '/test/end-to-end/', '/test/cli/'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.findIndex((folder) => moduleId.includes(folder));
      return index < 0 ? LONGEST.length : index;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  // Packages as the bot gets them: the development builds of the Markdown parser take half as long again, or more.
  ssr: { resolve: { conditions: ['node'] } },
  test: {
    include: ['test/**/*.test.ts'],
    // Guards against hanging only: a slow machine is no failure, and tests set no limits of their own. The dearest test
    // computes for 20 s, which a quarter of a core takes 80 s for. Hooks start and stop things, which takes seconds: one
    // that hangs after its test failed costs two minutes more, as long as a poll.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    // Modules have no state, so files share what they import.
    pool: 'threads',
    isolate: false,
    // A test waits more than it computes, and a small machine has two cores.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
  },
});
