import type { SlicedWork } from '../engine/plan/sliced-work.ts';

/**
 * Runs the work in slices. The event loop handles other events between them.
 *
 * @param sliceMs the maximum length of a slice; a step is never interrupted
 */
export async function runInSlices<Result>(steps: SlicedWork<Result>, sliceMs: number): Promise<Result> {
  for (;;) {
    const end = performance.now() + sliceMs;
    do {
      const step = steps.next();
      if (step.done) return step.value;
    } while (performance.now() < end);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
