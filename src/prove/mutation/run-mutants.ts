import { setImmediate } from 'node:timers/promises';
import { type PlannedManifest, planManifest } from '../../engine/load.ts';
import type { Environment } from '../../engine/manifest/source.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Finding } from '../../engine/problem/finding.ts';
import { type TestRequest, testRequestsOf } from '../testing/requests.ts';
import { createCaseRunner, type TestedManifest, type TestResult } from '../testing/run-test-file.ts';
import type { TestCase, TestFile } from '../testing/test-file.generated.ts';
import { baseRequests } from './base-requests.ts';
import { createMutationContext } from './context.ts';
import { findCase, type SearchedManifest } from './missing-case.ts';
import type { Mutant, MutationContext } from './mutant.ts';
import { MUTATORS } from './mutators.ts';

/** A changed manifest that no test case noticed. */
interface UnnoticedMutant {
  readonly finding: Finding;
  /** A test case that notices it, as YAML. */
  readonly caseText: string;
}

/** A changed manifest that no test case can notice. */
interface InvisibleMutant {
  readonly finding: Finding;
  readonly reason: string;
}

/** The changed manifests of a test run, by their result. */
export interface MutationResult {
  readonly noticed: number;
  readonly unnoticed: readonly UnnoticedMutant[];
  readonly invisible: readonly InvisibleMutant[];
  /** The number of changed manifests that were not tested, because the signal ended the run. */
  readonly untested: number;
}

/** Called before each changed manifest is tested. */
type OnProgress = (done: number, total: number) => void;

/**
 * Changes the manifest in every way of `MUTATORS`, one at a time, and runs the test file against each result. For a change
 * that no case notices, searches for a case that does.
 *
 * @param results of the original manifest; all passed
 * @param signal ends the run; the result is then that of the changes before
 */
export async function runMutants(
  testFile: TestFile,
  planned: PlannedManifest,
  results: readonly TestResult[],
  readFile: Environment['readFile'],
  signal: AbortSignal,
  onProgress: OnProgress = () => {},
): Promise<MutationResult> {
  const run = new MutationRun(testFile, planned, results, readFile);
  let total = 0;
  for (const _mutant of mutantsOf(run.context)) total += 1;
  let done = 0;
  const unnoticed: UnnoticedMutant[] = [];
  const invisible: InvisibleMutant[] = [];
  let noticed = 0;
  for (const { id, mutant } of mutantsOf(run.context)) {
    onProgress(done, total);
    // Without a turn of the event loop, neither a timer nor a signal of the system would be noticed.
    await setImmediate();
    if (signal.aborted) break;
    done += 1;
    const result = await run.test(mutant);
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

function findingOf(
  rule: string,
  { path, message }: Mutant,
  { redactFinding, redactText }: PlannedManifest['secrets'],
): Finding {
  const location = { path, at: 'value' } as const;
  return redactFinding({ rule, severity: 'warning', location, message: redactText(message) });
}

/** A request of the test file, with facts from its run with the original manifest. */
interface KnownRequest {
  readonly request: TestResult;
  /** The number of changed manifests that this request noticed. */
  hits: number;
}

/** The number of requests that the search for a missing case sends. */
const MAX_PROBES = 200;

const SECRET_CASE = '# a case for this change contains a value from the environment, which is never printed\n';

class MutationRun {
  readonly context: MutationContext;
  readonly #testFile: TestFile;
  readonly #planned: PlannedManifest;
  readonly #readFile: Environment['readFile'];
  readonly #original: SearchedManifest;
  /** The cheapest first. */
  readonly #known: readonly KnownRequest[];
  readonly #results: readonly TestResult[];

  constructor(
    testFile: TestFile,
    planned: PlannedManifest,
    results: readonly TestResult[],
    readFile: Environment['readFile'],
  ) {
    this.context = createMutationContext(planned, readFile, testFile);
    this.#testFile = testFile;
    this.#planned = planned;
    this.#readFile = readFile;
    this.#original = this.#searched(planned);
    this.#results = results;
    this.#known = results.toSorted((a, b) => a.durationMs - b.durationMs).map((request) => ({ request, hits: 0 }));
  }

  /** Returns `undefined` if the changed manifest does not load. */
  async test(mutant: Mutant): Promise<'noticed' | { caseText: string } | { reason: string } | undefined> {
    const { invisible: reason } = mutant;
    if (reason !== undefined) return { reason };
    const { manifest } = mutant;
    // An invariant refuses many changes, but a test case that notices them is better.
    const plan = this.#compile({ ...manifest, invariants: [] });
    if (plan === undefined) return undefined;
    const tested = { plan, manifest, secrets: this.#planned.secrets };
    if ((await this.#isNoticed(mutant, tested)) || this.#compile(manifest) === undefined) return 'noticed';
    return this.#findMissingCase(mutant, this.#searched(tested));
  }

  #compile(manifest: Mutant['manifest']): Plan | undefined {
    const { compileInput, plan } = this.#planned;
    return planManifest({ ...compileInput.checked, manifest }, this.#readFile, plan).plan;
  }

  async #isNoticed({ routes }: Mutant, tested: TestedManifest): Promise<boolean> {
    const run = this.#runner(tested);
    const { router } = tested.plan;
    const changed = new Set(routes.map(({ route }) => route.id));
    const isAffected = ({ request: { method, outcome } }: KnownRequest) => {
      const { route, path } = outcome.record;
      return path === undefined || changed.has(route?.id ?? '') || router.match(method, path)?.id !== route?.id;
    };
    // A request that has noticed many changes probably notices this one.
    const { likely = [], others = [] } = Object.groupBy(
      this.#known.toSorted((a, b) => b.hits - a.hits),
      (known) => (isAffected(known) ? 'likely' : 'others'),
    );
    for (const known of [...likely, ...others]) {
      if ((await run(known.request)).mismatches.length === 0) continue;
      known.hits += 1;
      return true;
    }
    return false;
  }

  async #findMissingCase(
    mutant: Mutant,
    changed: SearchedManifest,
  ): Promise<{ caseText: string } | { reason: string }> {
    const { redactText } = this.#planned.secrets;
    let count = 0;
    let isSecret = false;
    for (const route of mutant.routes)
      for (const base of baseRequests(this.context, route, this.#results))
        for (const probe of mutant.probes(base, route)) {
          count += 1;
          if (count > MAX_PROBES)
            return { reason: `none of the first ${MAX_PROBES} requests of the search has another outcome` };
          const caseText = await findCase(probe, this.#original, changed);
          if (caseText === undefined) continue;
          if (redactText(caseText) === caseText) return { caseText };
          isSecret = true;
        }
    if (isSecret) return { caseText: SECRET_CASE };
    if (mutant.advice !== undefined) return { caseText: `# ${redactText(mutant.advice)}\n` };
    return { reason: 'no request of the search has another outcome' };
  }

  #runner(tested: TestedManifest): (request: TestRequest) => Promise<TestResult> {
    return createCaseRunner(this.#testFile.tokens, tested);
  }

  #searched(tested: TestedManifest): SearchedManifest {
    const run = this.#runner(tested);
    return { plan: tested.plan, run: (testCase: TestCase) => run(testRequestsOf([testCase])[0] as TestRequest) };
  }
}
