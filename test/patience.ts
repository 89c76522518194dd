/** Computed to find out how busy the machine is, in milliseconds. */
const SAMPLE_MS = 200;
/** Passes it on from the program that starts the tests to their threads. */
const VARIABLE = 'TEST_PATIENCE';

/** Limits that guard against hanging are this many times as long as where a core is free: four on a quarter of a core. */
export const PATIENCE = Number(process.env[VARIABLE] ?? 1);

/** Sets {@link PATIENCE} of threads that are started later. */
export function measurePatience(): number {
  const from = performance.now();
  const before = process.cpuUsage();
  let computed = 0;
  while (computed < SAMPLE_MS) {
    const { user, system } = process.cpuUsage(before);
    computed = (user + system) / 1000;
  }
  const patience = Math.max(1, Math.round((performance.now() - from) / computed));
  process.env[VARIABLE] = String(patience);
  return patience;
}
