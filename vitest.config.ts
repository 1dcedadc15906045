import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** `npm run test:deep` runs in the mode `deep`: also the files `*.deep.test.ts`, and all cases of the random tests. */
export default defineConfig(({ mode }) => ({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: mode === 'deep' ? [] : ['test/**/*.deep.test.ts'],
    env: { TEST_MODE: mode },
    globalSetup: ['test/support/run.ts'],
    setupFiles: ['test/support/setup.ts'],
    // A process loads the sources once instead of once per file. The deep tests measure their process, so they run alone.
    isolate: mode === 'deep',
    // The default leaves one core free, which halves the speed of a machine with two.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
}));
