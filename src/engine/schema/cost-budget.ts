/**
 * The cost that a validation on this thread may still incur, in units of about 20 nanoseconds. Everything whose cost
 * depends on the client's input is charged: schemas by the number of values, patterns and formats by the length of the
 * text. The serving thread has a limit; a body that exceeds it is validated in another thread.
 */
let remaining = Number.POSITIVE_INFINITY;

/** Thrown when the limit is reached. It is a symbol because the stack trace of an error would cost more than the work. */
const BUDGET_EXCEEDED = Symbol('cost budget exceeded');

/** Three milliseconds. */
const SERVING_BUDGET = 150_000;

/** Charges work before it is done. Throws `BUDGET_EXCEEDED` when the limit is reached. */
export function charge(units: number): void {
  remaining -= units;
  if (remaining < 0) throw BUDGET_EXCEEDED;
}

/**
 * Runs synchronous work within a budget. Returns `undefined` if the work exceeds it.
 *
 * @param units the budget; that of the serving thread by default
 */
export function withinBudget<T>(work: () => T, units = SERVING_BUDGET): T | undefined {
  const outer = remaining;
  const limit = Math.min(units, outer);
  remaining = limit;
  try {
    return work();
  } catch (error) {
    if (error === BUDGET_EXCEEDED) return undefined;
    throw error;
  } finally {
    remaining = outer - (limit - remaining);
  }
}
