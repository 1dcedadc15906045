import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const ALL = 'test/**/*.test.ts';
const DEEP = 'test/**/*.deep.test.ts';
/** Tests with servers. In a process of their own, they leave the memory of the others to them. */
const SERVING = 'test/{admin,dns,edge,gateway,http1,reload,sandbox,workers}/**/*.test.ts';

/** `npm run test:deep` runs in the mode `deep`: also the files `*.deep.test.ts`, and all cases of the random tests. */
export default defineConfig(({ mode }) => ({
  test: {
    env: { TEST_MODE: mode },
    globalSetup: ['test/support/run.ts'],
    setupFiles: ['test/support/setup.ts'],
    // The default leaves one core free, which halves the speed of a machine with two.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      // These files measure their process, so each has its own. They come first, because some take a minute.
      ...(mode === 'deep' ? [{ extends: true as const, test: { name: 'alone', include: [DEEP] } }] : []),
      // A process loads the sources once instead of once per file.
      { extends: true, test: { name: 'serving', include: [SERVING], exclude: [DEEP], isolate: false } },
      { extends: true, test: { name: 'shared', include: [ALL], exclude: [DEEP, SERVING], isolate: false } },
    ],
  },
}));
