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

/** Runs synchronous work within a budget, by default that of the serving thread. Returns `undefined` if it exceeds the budget. */
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

/** The cost of each item and member: to print it, to sort it and to add it to a set. */
export const ITEM_COST = 20;

/** Returns a text that is equal for equal values: the order of members does not count (JSON Schema, core, section 4.2.2). */
export function canonicalJson(value: unknown): string {
  charge(ITEM_COST + (typeof value === 'string' ? value.length : 0));
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(([name, inside]) => `${JSON.stringify(name)}:${canonicalJson(inside)}`);
  return `{${members.sort().join(',')}}`;
}
