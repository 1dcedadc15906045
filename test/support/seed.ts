import fc from 'fast-check';
import { MINUTES, runs, SEED } from './runs.ts';

/** With `MINUTES`, a property has at least this many cases, however long they take. */
const MIN_CASES = 10;

/** Ends a property after `MINUTES` of processor time, and prints the number of its cases. */
const endAfterMinutes: fc.Plugin<unknown> = () => {
  const start = process.cpuUsage();
  let count = 0;
  return {
    decorateRun: (run) => (value) => {
      const { user, system } = process.cpuUsage(start);
      if (count >= MIN_CASES && (user + system) / 60e6 >= MINUTES) return new fc.PreconditionFailure(true);
      count += 1;
      return run(value);
    },
    onAllRunsComplete: () =>
      console.log(`${count} cases in ${MINUTES} minutes of processor time, at least ${MIN_CASES}`),
  };
};

fc.configureGlobal({ seed: SEED, numRuns: runs(100) });
if (MINUTES > 0) fc.installGlobalPlugin(endAfterMinutes);
