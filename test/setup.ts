/** Property tests use a fixed seed. The nightly workflow tries more cases of another. */
import fc from 'fast-check';

const { PROPERTY_SEED = '1', PROPERTY_RUNS = '50' } = process.env;
fc.configureGlobal({ seed: Number(PROPERTY_SEED), numRuns: Number(PROPERTY_RUNS) });
