import { defineConfig } from 'vitest/config';

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
    // @discordjs/voice sends its first keep-alive even if the socket was closed in the same tick.
    onUnhandledError: (error) => !('code' in error && error.code === 'ERR_SOCKET_DGRAM_NOT_RUNNING'),
    // Most tests spend their time waiting.
    maxWorkers: 4,
  },
}));
