import type { LintRoute } from './lint-context.ts';

/** Returns the public routes whose paths have parameters or `/**`: such a path may be the only secret of a download. */
export function loggedSecrets(routes: readonly LintRoute[]): readonly LintRoute[] {
  return routes.filter(
    ({ entry, pattern }) => entry.access === 'public' && pattern.some(({ kind }) => kind !== 'literal'),
  );
}
