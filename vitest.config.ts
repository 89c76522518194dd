import { defineConfig } from 'vitest/config';

/** `npm test` runs `*.test.ts`; `npm run nightly` runs `*.nightly.ts`, which take longer or measure. */
export default defineConfig(({ mode }) => ({
  test: {
    include: [mode === 'nightly' ? 'test/**/*.nightly.ts' : 'test/**/*.test.ts'],
    globalSetup: 'test/temporary-folder.ts',
    setupFiles: 'test/setup.ts',
    // Guards against hanging only; tests set no limits of their own.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // Modules have no state, so files share what they import.
    pool: 'threads',
    isolate: false,
    // Most tests wait more than they compute.
    maxWorkers: 4,
  },
}));
