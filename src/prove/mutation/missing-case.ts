import { isDeepStrictEqual } from 'node:util';
import { formatFlow } from '../../engine/manifest/yaml-text.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { OfflineOutcome } from '../offline/offline-gateway.ts';
import { compareOutcome, problemOf, valuesOf } from '../testing/compare.ts';
import { readTestFile } from '../testing/read-test-file.ts';
import { type TestRequest, testRequestsOf } from '../testing/requests.ts';
import { createCaseRunner, type TestedManifest, type TestResult } from '../testing/run-test-file.ts';
import type { Expectation, TestCase, TestFile } from '../testing/test-file.generated.ts';
import type { Probe } from './mutant.ts';
import { pathOf } from './probes.ts';

export type RunCase = (testCase: TestCase) => Promise<TestResult>;

/** A manifest as the search for a case uses it. */
export interface SearchedManifest {
  readonly plan: Plan;
  readonly run: RunCase;
}

/** Returns a function that runs test cases with one request each. */
export function createRunCase(tokens: TestFile['tokens'], tested: TestedManifest): RunCase {
  const run = createCaseRunner(tokens, tested);
  return (testCase) => run(testRequestsOf([testCase])[0] as TestRequest);
}

/** Returns the text of a test case that passes with the original manifest and fails with the changed one, or `undefined`. */
export async function findCase(probe: Probe, original: SearchedManifest, changed: SearchedManifest) {
  const tryCase = async (tried: Probe) => {
    const draft: TestCase = { name: 'draft', ...tried, expect: {} };
    const [before, after] = [await original.run(draft), await changed.run(draft)];
    const expect = expectationOf(before.outcome, after.outcome, original.plan, changed.plan);
    if (expect === undefined) return undefined;
    const text = formatTestCase({ ...draft, name: nameOf(tried, expect), expect });
    const [parsed] = readTestFile({ path: '', text: `version: 1\ncases:\n${text}` }).testFile?.testFile.cases ?? [];
    if (parsed === undefined || testRequestsOf([parsed]).length !== 1) return undefined;
    const [passed, failed] = [await original.run(parsed), await changed.run(parsed)];
    return passed.mismatches.length === 0 && failed.mismatches.length > 0 ? text : undefined;
  };
  const caseText = await tryCase(probe);
  if (caseText === undefined || probe.response === undefined) return caseText;
  // The response of the test file that the probe was made from is rarely needed.
  return (await tryCase({ request: probe.request })) ?? caseText;
}

/** Returns the fewest members of the first outcome that the second one does not have. */
function expectationOf(before: OfflineOutcome, after: OfflineOutcome, plan: Plan, changedPlan: Plan) {
  let expect: Expectation = {};
  for (const members of expectationSteps(before, after, plan)) {
    const added = Object.entries(members).filter(([, value]) => value !== undefined);
    if (added.length === 0) continue;
    expect = { ...expect, ...Object.fromEntries(added) };
    if (compareOutcome(expect, after, changedPlan).length > 0) return expect;
  }
  return undefined;
}

/** Yields members of an expectation, those that a reader understands best first. */
function* expectationSteps(before: OfflineOutcome, after: OfflineOutcome, plan: Plan): Generator<Expectation> {
  const { record, response, upstreamRequest } = before;
  const route = plan.routes.find(({ id }) => id === record.route?.id);
  const refusal = record.refusal?.code;
  const problem = problemOf(before);
  const isForwarded = upstreamRequest !== undefined;
  yield {
    ...(refusal !== undefined && { refusal }),
    route: record.route?.id ?? null,
    ...(!isForwarded && refusal !== undefined && { upstream: null }),
  };
  if (problem.errors !== undefined) yield { errors: problem.errors.map(({ pointer }) => pointer) };
  const reported = (record.reported ?? []).map(({ code }) => code) as NonNullable<Expectation['reported']>;
  if (reported.length > 0) yield { reported };
  if (response !== undefined) yield { status: response.status };
  if (isForwarded && route?.upstream !== undefined) {
    const { id } = route.upstream;
    yield { upstream: { id } };
    yield { upstream: { id, url: upstreamRequest.url } };
  }
  if (problem.message !== undefined) yield { message: problem.message };
  // All permissions at once, so that one case notices each change of them.
  if (!isForwarded && refusal === undefined && route === undefined)
    yield { headers: permissionsIn(response?.headers ?? []) };
  yield* differingHeaders(response?.headers, after.response?.headers).map((headers) => ({ headers }));
  if (isForwarded)
    yield* differingHeaders(upstreamRequest.headers, after.upstreamRequest?.headers).map((headers) => ({
      upstream: { headers },
    }));
}

/** Headers whose values differ between two runs of the same request, or say nothing about the change. */
const IGNORED = new Set(['date', 'x-request-id', 'traceparent', 'tracestate', 'connection', 'content-length']);

/** Returns each header of the first list that differs in the second one. */
function differingHeaders(before: readonly string[] = [], after: readonly string[] = []) {
  const isName = (_text: string, index: number) => index % 2 === 0;
  const names = new Map([...after, ...before].filter(isName).map((name) => [name.toLowerCase(), name]));
  return [...names].flatMap(([folded, name]) => {
    const values = valuesOf(before, name);
    if (IGNORED.has(folded) || isDeepStrictEqual(values, valuesOf(after, name))) return [];
    return [{ [name]: expectedValue(values) }];
  });
}

function expectedValue(values: readonly string[]): string | string[] | null {
  return values.length > 1 ? [...values] : (values[0] ?? null);
}

/** The headers of the response to a preflight (Fetch standard, CORS protocol). */
const PERMISSIONS = 'Allow-Origin Allow-Methods Allow-Headers Expose-Headers Allow-Credentials Max-Age';

function permissionsIn(headers: readonly string[]): Record<string, string | string[] | null> {
  const names = PERMISSIONS.split(' ').map((name) => `Access-Control-${name}`);
  return Object.fromEntries(names.map((name) => [name, expectedValue(valuesOf(headers, name))]));
}

function nameOf(probe: Probe, { refusal, route, upstream }: Expectation): string {
  const { method, role, issuer } = probe.request;
  const caller = role === undefined ? '' : ` as ${role}${issuer === undefined ? '' : ` of ${issuer}`}`;
  const request = `${method} ${pathOf(probe)}${caller}`;
  if (route === null && refusal === undefined) return `the preflight for ${pathOf(probe)} has these permissions`;
  if (refusal !== undefined) return `${request} is refused with ${refusal}`;
  return upstream === undefined ? `${request} goes to the route ${route}` : `${request} is forwarded unchanged`;
}

/** Formats a test case as an item of `cases`, without its indentation. */
export function formatTestCase({ name, request, response, expect }: TestCase): string {
  const lines = [
    `- name: ${formatFlow(name)}`,
    `  request: ${formatFlow(withoutDefaults(request))}`,
    ...(response === undefined ? [] : [`  response: ${formatFlow(withoutDefaults(response))}`]),
    `  expect: ${formatFlow(expect)}`,
  ];
  return `${lines.join('\n')}\n`;
}

function withoutDefaults(message: { readonly headers: object; readonly times?: number; readonly wait?: string }) {
  const { headers, times, wait, ...rest } = message;
  return {
    ...rest,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(times !== undefined && times > 1 && { times }),
    ...(wait !== undefined && { wait }),
  };
}
