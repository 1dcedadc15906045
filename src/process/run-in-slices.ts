import type { SlicedWork } from '../engine/plan/sliced-work.ts';

/**
 * Runs the work in slices. The event loop handles other events between them.
 *
 * @param sliceMs the maximum length of a slice; a step is never interrupted
 */
export async function runInSlices<Result>(work: SlicedWork<Result>, sliceMs: number): Promise<Result> {
  for (;;) {
    const step = runSlice(work, sliceMs);
    if (step.done) return step.value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export function runSlice<Result>(work: SlicedWork<Result>, sliceMs: number): IteratorResult<undefined, Result> {
  const endMs = performance.now() + sliceMs;
  for (;;) {
    const step = work.next();
    if (step.done || performance.now() >= endMs) return step;
  }
}
