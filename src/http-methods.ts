const MOST_USED_FIRST: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** The methods that a route may have, sorted by name. */
export const HTTP_METHODS: readonly string[] = MOST_USED_FIRST.toSorted();

/** Sorts methods for readers: the most used first. */
export function sortMethods(methods: readonly string[]): readonly string[] {
  return MOST_USED_FIRST.filter((method) => methods.includes(method));
}
