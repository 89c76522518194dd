import { defineConfig } from 'vitest/config';

// Without this, Stryker runs every test for a mutant in code that runs once per module.
export default defineConfig({
  test: {
    include: [
      'test/jobs/transitions.test.ts',
      'test/jobs/record.test.ts',
      'test/settings/access/precedence.test.ts',
      'test/settings/access/changes.test.ts',
      'test/settings/access/admission.test.ts',
      'test/settings/limits/meter.test.ts',
    ],
  },
});
