import { type LoadResult, load } from '../engine/load.ts';
import { createFileEnvironment } from '../engine/manifest/file-environment.ts';
import type { AddressOverrides, Environment, Source } from '../engine/manifest/source.ts';
import type { Problem } from '../engine/problem/problem.ts';

/** A manifest with the results of both checks that `run` makes before it serves. */
interface SelfTestedManifest {
  readonly loaded: LoadResult;
  /** The problems of the self-test, and the text of its test file; both empty if the manifest does not load. */
  readonly selfTest: { readonly problems: readonly Problem[]; readonly sources: readonly Source[] };
}

/**
 * Loads a manifest and runs its self-test. `run` and `lint` both call this function, so that a manifest without errors in
 * `lint` is one that `run` serves.
 *
 * @param invariantFiles see `Environment`
 */
export async function loadTested(
  source: Source,
  env: Environment['env'],
  overrides: AddressOverrides = {},
  invariantFiles: readonly string[] = [],
): Promise<SelfTestedManifest> {
  const environment = { ...createFileEnvironment(source.path, env, overrides), invariantFiles };
  const loaded = load(source, environment);
  if (loaded.plan === undefined || loaded.plan.reload.selfTest === undefined)
    return { loaded, selfTest: { problems: [], sources: [] } };
  // Imported lazily: the self-test loads the complete gateway, which `lint` otherwise does not need.
  const { runSelfTest } = await import('../prove/self-test.ts');
  return { loaded, selfTest: await runSelfTest(loaded, environment) };
}
