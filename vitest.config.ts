import { defineConfig } from 'vitest/config';
import { isSentOnClosedSocket } from './src/platforms/discord/voice/closed-socket.ts';

/** `npm test` runs `*.test.ts`. `npm run nightly` runs `*.nightly.ts`: slow tests and measurements. */
export default defineConfig(({ mode }) => ({
  test: {
    include: [mode === 'nightly' ? 'test/**/*.nightly.ts' : 'test/**/*.test.ts'],
    globalSetup: 'test/temporary-folder.ts',
    setupFiles: 'test/setup.ts',
    // Only guards against hanging. Tests do not set their own limits.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // Modules have no state, so test files can share them.
    pool: 'threads',
    isolate: false,
    // As in the bot itself.
    onUnhandledError: (error) => !isSentOnClosedSocket(error),
    // Most tests spend their time waiting.
    maxWorkers: 4,
  },
}));
