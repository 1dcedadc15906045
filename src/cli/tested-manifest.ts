import { load } from '../engine/load.ts';
import type { AddressOverrides, Environment, Source } from '../engine/manifest/source.ts';
import { createFileEnvironment } from '../engine/manifest/source.ts';

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
) {
  const environment = { ...createFileEnvironment(source.path, env, overrides), invariantFiles };
  const loaded = load(source, environment);
  if (loaded.plan === undefined || loaded.plan.reload.selfTest === undefined)
    return { loaded, selfTest: { problems: [], sources: [] } };
  // Imported lazily: the self-test loads the complete gateway, which `lint` otherwise does not need.
  const { runSelfTest } = await import('../prove/self-test.ts');
  return { loaded, selfTest: await runSelfTest(loaded, environment) };
}
