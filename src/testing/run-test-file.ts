import type { PlannedManifest } from '../load.ts';
import { claimsOfRole } from '../offline/claims.ts';
import { createOfflineGateway, type OfflineOutcome } from '../offline/offline-gateway.ts';
import { redactedUrl } from '../offline/redacted-url.ts';
import { type CallerClaims, type StubToken, StubVerifier } from '../offline/stub-verifier.ts';
import { compareOutcome, type Mismatch } from './compare.ts';
import { requestOf, stubResponseOf, type TestRequest, testRequestsOf } from './requests.ts';
import type { TestFile, TestToken } from './test-file.generated.ts';

export interface TestResult extends TestRequest {
  readonly outcome: OfflineOutcome;
  /** Empty if the request passed. */
  readonly mismatches: readonly Mismatch[];
  readonly durationMs: number;
}

/** Runs the cases of a test file against a manifest, offline. `findUnknownReferences` must have found nothing. */
export async function runTestFile(testFile: TestFile, loaded: PlannedManifest): Promise<TestResult[]> {
  const tokens = new StubVerifier();
  const role = loaded.manifest.auth?.role;
  const claimsOf = (name: string): CallerClaims => (role === undefined ? {} : claimsOfRole(role, name));
  for (const [text, token] of Object.entries(testFile.tokens)) tokens.setToken(text, stubTokenOf(token, claimsOf));
  const send = createOfflineGateway(loaded.plan, tokens);
  const results: TestResult[] = [];
  for (const testRequest of testRequestsOf(testFile.cases)) {
    const { testCase, role } = testRequest;
    const claims = role === undefined ? testCase.request.claims : claimsOf(role);
    if (claims !== undefined) tokens.setToken(CALLER_TOKEN, { claims });
    const request = requestOf(testCase);
    const authorization = claims === undefined ? [] : ['Authorization', `Bearer ${CALLER_TOKEN}`];
    const start = performance.now();
    const outcome = await send(
      { ...request, headers: [...request.headers, ...authorization] },
      stubResponseOf(testCase.response),
    );
    const mismatches = compareOutcome(testCase.expect, outcome, loaded.plan).map((mismatch) =>
      redactMismatch(mismatch, outcome, loaded),
    );
    results.push({ ...testRequest, outcome, mismatches, durationMs: performance.now() - start });
  }
  return results;
}

/** Removes values from the environment from a mismatch. */
function redactMismatch(
  mismatch: Mismatch,
  { record, upstreamRequest }: OfflineOutcome,
  loaded: PlannedManifest,
): Mismatch {
  const { path: member, expected, actual } = mismatch;
  const isUrl = member[0] === 'upstream' && (member.length === 1 || member[1] === 'url') && typeof actual === 'string';
  if (!isUrl || upstreamRequest === undefined) return { ...mismatch, actual: loaded.secrets.redactTexts(actual) };
  const { origin, path } = redactedUrl(loaded, record.route?.id, upstreamRequest);
  return { ...mismatch, actual: typeof expected === 'string' && expected.startsWith('/') ? path : origin + path };
}

/** The token of the caller. No token of a test file can have this text. */
const CALLER_TOKEN = '<token>';

function stubTokenOf({ role, claims, error }: TestToken, claimsOf: (role: string) => CallerClaims): StubToken {
  if (error !== undefined) return { code: error };
  return { claims: role === undefined ? (claims ?? {}) : claimsOf(role) };
}
