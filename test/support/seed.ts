import fc from 'fast-check';

/** The seed of every random test: the same in each run, so that a failure is never a matter of luck. `SEED=7 npm test` tries another one. */
fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 1) });
