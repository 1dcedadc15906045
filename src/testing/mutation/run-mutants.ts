import type { PlannedManifest } from '../../load.ts';
import type { Environment } from '../../manifest/source.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Finding } from '../../problem/finding.ts';
import { type TestRequest, testRequestsOf } from '../requests.ts';
import { createCaseRunner, type TestedManifest, type TestResult } from '../run-test-file.ts';
import type { TestCase, TestFile } from '../test-file.generated.ts';
import { baseRequests } from './base-requests.ts';
import { createMutationContext } from './context.ts';
import { findCase, type SearchedManifest } from './missing-case.ts';
import type { Mutant, MutationContext } from './mutant.ts';
import { MUTATORS } from './mutators/index.ts';
import { createMutantPlanner, type PlannedMutant } from './plan-mutant.ts';
import { pathOf } from './probes.ts';

/** A changed manifest that no test case noticed. */
export interface UnnoticedMutant {
  readonly finding: Finding;
  /** A test case that notices it, as YAML. */
  readonly caseText: string;
}

/** A changed manifest that no test case can notice. */
export interface InvisibleMutant {
  readonly finding: Finding;
  readonly reason: string;
}

/** The changed manifests of a test run, by their result. */
export interface MutationResult {
  readonly noticed: number;
  readonly unnoticed: readonly UnnoticedMutant[];
  readonly invisible: readonly InvisibleMutant[];
}

/** Called before each changed manifest is tested. */
export type OnProgress = (done: number, total: number) => void;

/**
 * Changes the manifest in every way of `MUTATORS`, one at a time, and runs the test file against each result. For a change
 * that no case notices, searches for a case that does. All cases must pass with the original manifest.
 */
export async function runMutants(
  testFile: TestFile,
  planned: PlannedManifest,
  readFile: Environment['readFile'],
  onProgress: OnProgress = () => {},
): Promise<MutationResult> {
  const run = await MutationRun.create(testFile, planned, readFile);
  const all = MUTATORS.flatMap(({ id, find }) => [...find(run.context)].map((mutant) => ({ id, mutant })));
  const unnoticed: UnnoticedMutant[] = [];
  const invisible: InvisibleMutant[] = [];
  let noticed = 0;
  for (const [index, { id, mutant }] of all.entries()) {
    onProgress(index, all.length);
    const result = await run.test(mutant);
    const finding = planned.secrets.redactFinding(findingOf(id, mutant));
    if (result === 'noticed') noticed += 1;
    else if (result !== undefined && 'caseText' in result) unnoticed.push({ finding, ...result });
    else if (result !== undefined) invisible.push({ finding, ...result });
  }
  onProgress(all.length, all.length);
  return { noticed, unnoticed, invisible };
}

function findingOf(rule: string, { path, message }: Mutant): Finding {
  return { rule, severity: 'warning', location: { path, at: 'value' }, message };
}

/** The paths that the router has seen for one request of the test file. */
interface TracedRequest {
  readonly request: TestRequest;
  readonly paths: readonly string[];
}

/** The number of requests that the search for a missing case sends. */
const MAX_PROBES = 200;

class MutationRun {
  readonly context: MutationContext;
  readonly #testFile: TestFile;
  readonly #plan: (changed: Mutant['manifest']) => PlannedMutant | undefined;
  readonly #original: SearchedManifest;
  readonly #traced: readonly TracedRequest[];
  readonly #results: readonly TestResult[];

  static async create(
    testFile: TestFile,
    planned: PlannedManifest,
    readFile: Environment['readFile'],
  ): Promise<MutationRun> {
    const results: TestResult[] = [];
    const traced: TracedRequest[] = [];
    const { plan, takePaths } = tracePaths(planned.plan);
    const run = createCaseRunner(testFile.tokens, { ...planned, plan });
    for (const request of testRequestsOf(testFile.cases)) {
      results.push(await run(request));
      const paths = takePaths();
      traced.push({ request, paths: paths.length > 0 ? paths : [request.url] });
    }
    return new MutationRun(testFile, planned, readFile, results, traced);
  }

  private constructor(
    testFile: TestFile,
    planned: PlannedManifest,
    readFile: Environment['readFile'],
    results: readonly TestResult[],
    traced: readonly TracedRequest[],
  ) {
    this.context = createMutationContext(planned, readFile, testFile);
    this.#testFile = testFile;
    this.#plan = createMutantPlanner(planned, readFile);
    this.#original = this.#searched(planned);
    this.#traced = traced;
    this.#results = results;
  }

  /** Returns `undefined` if the changed manifest does not load. */
  async test(mutant: Mutant): Promise<'noticed' | { caseText: string } | { reason: string } | undefined> {
    const { invisible: reason } = mutant;
    if (reason !== undefined) return { reason };
    const planned = this.#plan(mutant.manifest);
    if (planned === undefined) return undefined;
    if (await this.#isNoticed(planned)) return 'noticed';
    return this.#findMissingCase(mutant, planned);
  }

  async #isNoticed(planned: PlannedMutant): Promise<boolean> {
    const affected = this.#traced.filter(({ paths }) => planned.affects(paths));
    if (affected.length === 0) return false;
    const run = this.#runner(planned.planFor(affected.flatMap(({ paths }) => paths)));
    for (const { request } of affected) if ((await run(request)).mismatches.length > 0) return true;
    return false;
  }

  async #findMissingCase(mutant: Mutant, planned: PlannedMutant): Promise<{ caseText: string } | { reason: string }> {
    let count = 0;
    for (const route of mutant.routes)
      for (const base of baseRequests(this.context, route, this.#results))
        for (const probe of mutant.probes(base, route)) {
          count += 1;
          if (count > MAX_PROBES) return { reason: `none of ${MAX_PROBES} requests has another outcome` };
          const changed = this.#searched(planned.planFor([pathOf(probe)]));
          const caseText = await findCase(probe, this.#original, changed);
          if (caseText !== undefined) return { caseText };
        }
    return { reason: `none of ${count} requests has another outcome` };
  }

  #runner(tested: TestedManifest): (request: TestRequest) => Promise<TestResult> {
    return createCaseRunner(this.#testFile.tokens, tested);
  }

  #searched(tested: TestedManifest): SearchedManifest {
    const run = this.#runner(tested);
    return { plan: tested.plan, run: (testCase: TestCase) => run(testRequestsOf([testCase])[0] as TestRequest) };
  }
}

/** Records the paths that the router of a plan receives. */
function tracePaths(plan: Plan): { plan: Plan; takePaths: () => readonly string[] } {
  let paths = new Set<string>();
  const { router } = plan;
  const traced = {
    ...router,
    match: (method: string, path: string) => {
      paths.add(path);
      return router.match(method, path);
    },
    allowedMethods: (path: string) => {
      paths.add(path);
      return router.allowedMethods(path);
    },
  };
  const takePaths = () => {
    const taken = [...paths];
    paths = new Set();
    return taken;
  };
  return { plan: { ...plan, router: traced }, takePaths };
}
