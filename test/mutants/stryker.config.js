/** Mutation testing of the code that decides about states and money: https://stryker-mutator.io/docs/ */
export default {
  testRunner: 'vitest',
  vitest: { related: false, configFile: 'test/mutants/vitest.config.ts' },
  mutate: ['src/jobs/transitions.ts', 'src/settings/limits/*.ts', 'src/settings/access/*.ts'],
  thresholds: { high: 95, low: 90, break: 90 },
  reporters: ['clear-text'],
  allowConsoleColors: false,
  clearTextReporter: { allowColor: false, reportTests: false },
  // Stryker cannot rewrite tsconfig.json with TypeScript 7, and nothing needs it rewritten.
  tsconfigFile: 'none.json',
  disableTypeChecks: false,
};
