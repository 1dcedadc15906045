import { load } from '../engine/load.ts';
import type { Environment, Source } from '../engine/manifest/source.ts';

/** Loads a manifest and runs its self-test, for `run` and `lint`: a manifest without errors in `lint` is one that `run` serves. */
export async function loadTested(source: Source, environment: Environment) {
  const loaded = load(source, environment);
  if (loaded.plan === undefined || loaded.plan.reload.selfTest === undefined)
    return { loaded, selfTest: { problems: [], sources: [] } };
  // Imported lazily: the self-test loads the complete gateway, which `lint` otherwise does not need.
  const { runSelfTest } = await import('../prove/self-test.ts');
  return { loaded, selfTest: await runSelfTest(loaded, environment) };
}
