/** Returns the result of work; `undefined` if it throws. Only for errors whose reason does not matter. */
export function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
