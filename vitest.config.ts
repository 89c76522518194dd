import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { measurePatience } from './test/patience.ts';
import { PROGRAM_ENVIRONMENT } from './test/servers/program.ts';

/**
 * The files that compute or wait longest, the longest first, so that none of them runs alone at the end; those that wait lie
 * between those that compute, so that there is always something to compute. Vitest knows how long files took only where they ran before.
 */
const LONGEST = [
  'http/pages/in-browser',
  'chaos/chaos',
  'storage/redis/outages',
  'end-to-end/slack-hostile',
  'cli/demo',
  'platforms/discord/connection/shards/leased-shards',
  'end-to-end/restart',
  'emulator/songs',
  'end-to-end/discord-replicas',
  'media/fetch/large-files',
  'platforms/shared/text-parts',
  'platforms/discord/voice/session',
  'platforms/slack/deliver/stream',
  'gateway/properties',
  'platforms/discord/resilience',
  'platforms/shared/render-thread',
  'jobs/duplicates',
  'storage/redis/password',
  'jobs/crashes',
  'jobs/ask/streams',
  'end-to-end/party-restart',
  'simulation/simulation',
  'commands/random-chains',
  'storage/redis/replicas',
  'end-to-end/discord-hostile',
  'end-to-end/playground',
  'app/doctor/doctor',
  'platforms/discord/render/render',
  'emulator/voices-and-uploads',
  'storage/redis/redis',
  'platforms/slack/receive/interactions',
  'platforms/slack/render/render',
  'platforms/discord/adapter',
  'end-to-end/ask-streams',
  'end-to-end/studio-discord',
  'end-to-end/studio-slack',
  'end-to-end/discord-large-files',
  'emulator/media',
  'gateway/routes',
  'end-to-end/huge-answers',
  'end-to-end/rights',
  'end-to-end/traces',
  'example-command',
  'end-to-end/backup',
  'storage/redis/shared',
].map((name) => `/test/${name}.test.ts`);

// Threads and processes that tests start find there what Node has compiled for others.
process.env.NODE_COMPILE_CACHE = PROGRAM_ENVIRONMENT.NODE_COMPILE_CACHE;

const patience = measurePatience();

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
  plugins: [
    {
      // Not the development builds of the Markdown parser, which are slower. A setting would only be added to the default.
      name: 'packages-as-the-bot-gets-them',
      configResolved({ environments, ssr: { resolve: ofThreads = {} } }) {
        ofThreads.conditions = ['node'];
        for (const { resolve } of Object.values(environments)) resolve.conditions = ['node'];
      },
    },
  ],
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/temporary-folder.ts',
    // Guards against hanging only: a slow machine is no failure, and tests set no limits of their own. Hooks start and stop
    // things, which takes seconds: one that hangs after its test failed costs two minutes more, as long as a poll.
    testTimeout: 300_000 * patience,
    hookTimeout: 120_000 * patience,
    expect: { poll: { timeout: 120_000 * patience, interval: 20 } },
    // Modules have no state, so files share what they import.
    pool: 'threads',
    isolate: false,
    // A test waits more than it computes, and a small machine has two cores; on a part of one, files would only wait for each other.
    maxWorkers: patience > 2 ? 1 : 6,
    sequence: { sequencer: LongestFirst },
  },
});
