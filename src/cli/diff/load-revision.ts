import { load, type PlannedManifest } from '../../engine/load.ts';
import type { Environment } from '../../engine/manifest/source.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { formatProblems } from '../../report/text.ts';
import type { Terminal } from '../terminal.ts';
import { readRevision } from './revision.ts';

/** One of two manifests that are compared. */
interface LoadedRevision {
  readonly planned: PlannedManifest;
  readonly readFile: Environment['readFile'];
}

/**
 * Loads a manifest from a file or a git revision. Prints the problems and returns `undefined` if it has errors.
 *
 * @param other the plan of the other manifest, whose schemas need no second check
 */
export function loadRevision(
  name: string,
  { env, err, errColour }: Terminal,
  other?: Plan,
): LoadedRevision | undefined {
  const { source, environment } = readRevision(name, env);
  const loaded = load(source, environment, other);
  if (loaded.plan !== undefined) return { planned: loaded, readFile: environment.readFile };
  err(formatProblems(loaded.problems, loaded.sources, errColour));
  return undefined;
}
