/**
 * Returns the names of JUnit cases: a repeated name gets a number. Readers follow a case from run to run by its name, so that
 * a name has no line number, and they take two cases with one name for two runs of one case.
 */
export function uniqueNames(names: readonly string[]): string[] {
  const used = new Set<string>();
  const counts = new Map<string, number>();
  return names.map((name) => {
    let count = counts.get(name) ?? 0;
    let unique: string;
    do unique = ++count === 1 ? name : `${name} (${count})`;
    while (used.has(unique));
    counts.set(name, count);
    used.add(unique);
    return unique;
  });
}
