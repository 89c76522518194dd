import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { PROGRAM_ENVIRONMENT } from './test/servers/program.ts';

/**
 * The files that compute or wait longest, the longest first, so that none of them runs alone at the end. Vitest knows how long
 * files took only where they ran before.
 */
const LONGEST = [
  'simulation/fresh',
  'chaos/chaos',
  'platforms/slack/deliver/stream',
  'cli/demo',
  'emulator/songs',
  'end-to-end/restart',
  'example-command',
  'end-to-end/discord-hostile',
  'end-to-end/slack-hostile',
  'end-to-end/discord-large-files',
  'emulator/voices-and-uploads',
  'end-to-end/playground',
  'end-to-end/rights',
  'end-to-end/ask-streams',
  'end-to-end/traces',
  'end-to-end/backup',
  'end-to-end/party-restart',
  'end-to-end/huge-answers',
  'storage/redis/outages',
  'platforms/discord/render/render',
  'gateway/properties',
  'emulator/media',
  'gateway/routes',
  'platforms/discord/adapter',
  'platforms/discord/resilience',
  'storage/redis/replicas',
  'platforms/slack/deliver/show',
  'jobs/ask/streams',
  'http/pages/in-browser',
].map((name) => `/test/${name}.test.ts`);

// Threads and processes that tests start find there what Node has compiled for others.
process.env.NODE_COMPILE_CACHE = PROGRAM_ENVIRONMENT.NODE_COMPILE_CACHE;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.findIndex((path) => moduleId.endsWith(path));
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
    globalSetup: 'test/temporary-folder.ts',
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
