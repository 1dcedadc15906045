/** Work that may be interrupted at each `yield`. */
export type SlicedWork<Made> = Generator<undefined, Made>;

/** Does all of it at once. */
export function runToEnd<Made>(steps: SlicedWork<Made>): Made {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Does it in slices, between which the event loop goes round.
 *
 * @param sliceMs how long a slice may be; a step is never cut
 */
export async function runInSlices<Made>(steps: SlicedWork<Made>, sliceMs: number): Promise<Made> {
  for (;;) {
    const end = performance.now() + sliceMs;
    do {
      const step = steps.next();
      if (step.done) return step.value;
    } while (performance.now() < end);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
