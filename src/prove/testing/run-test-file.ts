import type { PlannedManifest } from '../../engine/load.ts';
import { createOfflineGateway, type OfflineOutcome, redactedUrl } from '../offline/offline-gateway.ts';
import { claimsOfCaller } from '../offline/role-claims.ts';
import { type CallerClaims, type StubToken, StubVerifier } from '../offline/stub-verifier.ts';
import { compareOutcome, type Mismatch } from './compare.ts';
import { repetitionOf, requestOf, stubResponseOf, type TestRequest, testRequestsOf } from './requests.ts';
import type { TestFile, TestToken } from './test-file.generated.ts';

export interface TestResult extends TestRequest {
  readonly outcome: OfflineOutcome;
  /** Empty if the request passed. */
  readonly mismatches: readonly Mismatch[];
  readonly durationMs: number;
}

/** Runs the cases of a test file against a manifest, offline. Call it only if `findUnknownReferences` returns no finding. */
export async function runTestFile(testFile: TestFile, planned: PlannedManifest): Promise<TestResult[]> {
  const run = createCaseRunner(testFile.tokens, planned);
  const results: TestResult[] = [];
  for (const testRequest of testRequestsOf(testFile.cases)) results.push(await run(testRequest));
  return results;
}

/** The parts of a manifest that its test cases need. */
export type TestedManifest = Pick<PlannedManifest, 'plan' | 'manifest' | 'secrets'>;

/** Returns a function that runs one request of a test file. Run one request at a time. */
export function createCaseRunner(
  testTokens: TestFile['tokens'],
  planned: TestedManifest,
): (testRequest: TestRequest) => Promise<TestResult> {
  const tokens = new StubVerifier();
  const claimsOf = (role: string): CallerClaims => claimsOfCaller(planned.manifest, role);
  for (const [text, token] of Object.entries(testTokens)) tokens.setToken(text, stubTokenOf(token, claimsOf));
  const send = createOfflineGateway(planned.plan, tokens);
  return async (testRequest) => {
    const { testCase, role } = testRequest;
    const claims = role === undefined ? testCase.request.claims : claimsOf(role);
    const request = requestOf(testRequest);
    const start = performance.now();
    const outcome = await send(
      { ...request, headers: [...request.headers, ...tokens.authorize(claims)] },
      stubResponseOf(testCase.response),
      repetitionOf(testCase.request),
    );
    const mismatches = compareOutcome(testCase.expect, outcome, planned.plan).map((mismatch) =>
      redactMismatch(mismatch, outcome, planned),
    );
    return { ...testRequest, outcome, mismatches, durationMs: performance.now() - start };
  };
}

/** Replaces values from the environment in a mismatch by their references. */
function redactMismatch(
  mismatch: Mismatch,
  { record, upstreamRequest }: OfflineOutcome,
  planned: TestedManifest,
): Mismatch {
  const { path: member, expected, actual } = mismatch;
  const isUrl = member[0] === 'upstream' && (member.length === 1 || member[1] === 'url') && typeof actual === 'string';
  if (!isUrl || upstreamRequest === undefined) return { ...mismatch, actual: planned.secrets.redactTexts(actual) };
  const { origin, path } = redactedUrl(planned, record.route?.id, upstreamRequest);
  return { ...mismatch, actual: typeof expected === 'string' && expected.startsWith('/') ? path : origin + path };
}

function stubTokenOf({ role, claims, error }: TestToken, claimsOf: (role: string) => CallerClaims): StubToken {
  if (error !== undefined) return { code: error };
  return { claims: role === undefined ? (claims ?? {}) : claimsOf(role) };
}
