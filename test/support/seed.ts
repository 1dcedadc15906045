import fc from 'fast-check';
import { runs } from './runs.ts';

/** Random tests use the same seed in every run, so failures are reproducible. `SEED=7 npm test` uses another one. */
fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 1), numRuns: runs(100) });
