import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // A test waits more than it computes: one file for each core of a small machine.
    maxWorkers: 2,
  },
});
