/** Property tests try the same cases each time. The nightly workflow tries others, and more of them. */
import fc from 'fast-check';

const { PROPERTY_SEED = '1', PROPERTY_RUNS = '50' } = process.env;
fc.configureGlobal({ seed: Number(PROPERTY_SEED), numRuns: Number(PROPERTY_RUNS) });
