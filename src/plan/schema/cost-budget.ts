/**
 * The work that a validation may do on this thread, in units of about 20 nanoseconds. Everything whose cost a client
 * decides pays for itself: schemas by the values that they meet, patterns and formats by the length of the text. On the
 * serving thread the work is limited, and what goes beyond the limit is validated in another thread.
 */
let left = Number.POSITIVE_INFINITY;

/** Thrown when the limit is reached. A symbol, since the stack of an error would cost more than the work. */
export const BUDGET_EXCEEDED = Symbol('cost budget exceeded');

/** Three milliseconds. */
export const SERVING_BUDGET = 150_000;

/** Limits the work from now on. Synchronous validation only: the caller sets `Infinity` again when it is done. */
export function limitCost(units: number): void {
  left = units;
}

/** Pays for work before it is done. Throws `BUDGET_EXCEEDED` when the limit is reached. */
export function charge(units: number): void {
  left -= units;
  if (left < 0) throw BUDGET_EXCEEDED;
}

/** Returns `undefined` if the work takes too long for the serving thread. */
export function withinBudget<T>(work: () => T): T | undefined {
  limitCost(SERVING_BUDGET);
  try {
    return work();
  } catch (error) {
    if (error === BUDGET_EXCEEDED) return undefined;
    throw error;
  } finally {
    limitCost(Number.POSITIVE_INFINITY);
  }
}
