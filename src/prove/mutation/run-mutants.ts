import { setImmediate } from 'node:timers/promises';
import { type PlannedManifest, planManifest } from '../../engine/load.ts';
import type { Environment } from '../../engine/manifest/source.ts';
import type { Finding } from '../../engine/problem/finding.ts';
import { createCaseRunner, type TestedManifest, type TestResult } from '../testing/run-test-file.ts';
import type { TestFile } from '../testing/test-file.generated.ts';
import { baseRequests } from './base-requests.ts';
import { createMutationContext, type MutationContext } from './context.ts';
import { createRunCase, findCase, type SearchedManifest } from './missing-case.ts';
import type { Mutant } from './mutant.ts';
import { MUTATORS } from './mutators.ts';

export type MutationResult = Awaited<ReturnType<typeof runMutants>>;

/** Called before each changed manifest is tested. */
type OnProgress = (done: number, total: number) => void;

/** Runs the test file against each change of `MUTATORS`, and searches for a case if none notices it, until the signal ends the run. */
export async function runMutants(
  testFile: TestFile,
  planned: PlannedManifest,
  results: readonly TestResult[],
  readFile: Environment['readFile'],
  signal: AbortSignal,
  onProgress: OnProgress = () => {},
) {
  const context = createMutationContext(planned, readFile, testFile);
  const test = createMutantTest(testFile, planned, results, readFile, context);
  const total = mutantsOf(context).reduce((count) => count + 1, 0);
  // Changes that no test case noticed, each with a case that does, as YAML; and those that none can notice.
  const unnoticed: { readonly finding: Finding; readonly caseText: string }[] = [];
  const invisible: { readonly finding: Finding; readonly reason: string }[] = [];
  let [done, noticed] = [0, 0];
  for (const { id, mutant } of mutantsOf(context)) {
    onProgress(done, total);
    // Without a turn of the event loop, neither a timer nor a signal of the system would be noticed.
    await setImmediate();
    if (signal.aborted) break;
    done += 1;
    const result = await test(mutant);
    const finding = findingOf(id, mutant, planned.secrets);
    if (result === 'noticed') noticed += 1;
    else if (result !== undefined && 'caseText' in result) unnoticed.push({ finding, ...result });
    else if (result !== undefined) invisible.push({ finding, ...result });
  }
  onProgress(done, total);
  return { noticed, unnoticed, invisible, untested: total - done };
}

/** Yields the changed manifests one at a time: those of a large manifest would not fit in memory together. */
function* mutantsOf(context: MutationContext): Generator<{ readonly id: string; readonly mutant: Mutant }> {
  for (const { id, find } of MUTATORS) for (const mutant of find(context)) yield { id, mutant };
}

function findingOf(rule: string, { path, message }: Mutant, { redactFinding, redactText }: PlannedManifest['secrets']) {
  const location = { path, at: 'value' } as const;
  return redactFinding({ rule, severity: 'warning', location, message: redactText(message) });
}

/** The number of requests that the search for a missing case sends. */
const MAX_PROBES = 200;
const SECRET_CASE = '# a case for this change contains a value from the environment, which is never printed\n';

/** Returns a function that tests a changed manifest. Its result is `undefined` if the manifest does not load. */
function createMutantTest(
  { tokens }: TestFile,
  planned: PlannedManifest,
  results: readonly TestResult[],
  readFile: Environment['readFile'],
  context: MutationContext,
): (mutant: Mutant) => Promise<'noticed' | { caseText: string } | { reason: string } | undefined> {
  const { compileInput, secrets } = planned;
  const { redactText } = secrets;
  const searched = (tested: TestedManifest) => ({ plan: tested.plan, run: createRunCase(tokens, tested) });
  const original = searched(planned);
  /** The requests of the test file, the cheapest first, with the number of changed manifests that each noticed. */
  const known = results.toSorted((a, b) => a.durationMs - b.durationMs).map((request) => ({ request, hits: 0 }));
  const compile = (manifest: Mutant['manifest']) =>
    planManifest({ ...compileInput.checked, manifest }, readFile, planned.plan).plan;

  return async (mutant) => {
    const { invisible: reason, manifest } = mutant;
    if (reason !== undefined) return { reason };
    // An invariant refuses many changes, but a test case that notices them is better.
    const plan = compile({ ...manifest, invariants: [] });
    if (plan === undefined) return undefined;
    const tested = { plan, manifest, secrets };
    if ((await isNoticed(mutant, tested)) || compile(manifest) === undefined) return 'noticed';
    return findMissingCase(mutant, searched(tested));
  };

  async function isNoticed({ routes }: Mutant, tested: TestedManifest): Promise<boolean> {
    const run = createCaseRunner(tokens, tested);
    const { router } = tested.plan;
    const changed = new Set(routes.map(({ route }) => route.id));
    const isAffected = ({ method, outcome }: TestResult) => {
      const { route, path } = outcome.record;
      return path === undefined || changed.has(route?.id ?? '') || router.match(method, path)?.id !== route?.id;
    };
    // A request that has noticed many changes probably notices this one.
    const { likely = [], others = [] } = Object.groupBy(
      known.toSorted((a, b) => b.hits - a.hits),
      ({ request }) => (isAffected(request) ? 'likely' : 'others'),
    );
    for (const one of [...likely, ...others]) {
      if ((await run(one.request)).mismatches.length === 0) continue;
      one.hits += 1;
      return true;
    }
    return false;
  }

  async function findMissingCase(mutant: Mutant, changed: SearchedManifest) {
    let count = 0;
    let isSecret = false;
    for (const route of mutant.routes)
      for (const base of baseRequests(context, route, results))
        for (const probe of mutant.probes(base, route)) {
          count += 1;
          if (count > MAX_PROBES)
            return { reason: `none of the first ${MAX_PROBES} requests of the search has another outcome` };
          const caseText = await findCase(probe, original, changed);
          if (caseText === undefined) continue;
          if (redactText(caseText) === caseText) return { caseText };
          isSecret = true;
        }
    if (isSecret) return { caseText: SECRET_CASE };
    if (mutant.advice !== undefined) return { caseText: `# ${redactText(mutant.advice)}\n` };
    return { reason: 'no request of the search has another outcome' };
  }
}
