/** Work that can pause at each `yield`. */
export type SlicedWork<Result> = Generator<undefined, Result>;

export function runToEnd<Result>(steps: SlicedWork<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
