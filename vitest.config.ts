import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { MINUTES, RUNS } from './test/support/runs.ts';
import { measureSlowness, scaledMs } from './test/support/slowness.ts';

const ALL = 'test/**/*.test.ts';
const DEEP = 'test/**/*.deep.test.ts';
const NIGHTLY = 'test/**/*.nightly.test.ts';
/** Tests with servers. In a process of their own, they leave the memory of the others to them. */
const SERVING =
  'test/{admin,candidate,dns,edge,explain,gateway,http1,reload,sandbox,specification,workers}/**/*.test.ts';
/** Deep tests that measure nothing of their process: most start processes of their own. */
const STARTING = 'test/{candidate,cli,diff,docs,manifest,sandbox,schema-comparison,testing}/**/*.deep.test.ts';

// The processes of the tests inherit the variable.
process.env['SLOWNESS'] ??= String(measureSlowness());

/**
 * `npm test` leaves out the projects `alone` and `deep`, and `.ci/run` runs them too. `npm run test:deep` runs in the mode
 * `deep`: also the files `*.nightly.test.ts`, and all cases of the random tests.
 */
export default defineConfig(({ mode }) => {
  // Only a test that hangs reaches the limit. Whoever wants more cases waits for them.
  const timeout = RUNS > 1 || MINUTES > 0 ? 0 : scaledMs(mode === 'deep' ? 1_200_000 : 120_000);
  return {
    test: {
      env: { TEST_MODE: mode },
      globalSetup: ['test/support/run.ts'],
      setupFiles: ['test/support/setup.ts'],
      reporters: ['./test/support/reporter.ts'],
      // A fifth of the time tests wait, so there is one process more than processors.
      maxWorkers: availableParallelism() + 1,
      testTimeout: timeout,
      hookTimeout: timeout,
      projects: [
        // These files measure their process, so each has its own. They come first, because some take a minute.
        {
          extends: true,
          test: { name: 'alone', include: mode === 'deep' ? [DEEP, NIGHTLY] : [DEEP], exclude: [STARTING] },
        },
        // A process loads the sources once instead of once per file.
        { extends: true, test: { name: 'deep', include: [STARTING], isolate: false } },
        { extends: true, test: { name: 'serving', include: [SERVING], exclude: [DEEP, NIGHTLY], isolate: false } },
        { extends: true, test: { name: 'shared', include: [ALL], exclude: [DEEP, NIGHTLY, SERVING], isolate: false } },
      ],
    },
  };
});
