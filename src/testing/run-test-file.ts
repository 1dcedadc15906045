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
  /** Empty: it passed. */
  readonly mismatches: readonly Mismatch[];
  readonly durationMs: number;
}

/** Asks the gateway of a manifest everything that a suite asks, without a network. The suite must fit the manifest. */
export async function runTestFile(suite: TestFile, loaded: PlannedManifest): Promise<TestResult[]> {
  const tokens = new StubVerifier();
  const role = loaded.manifest.auth?.role;
  const claimsOf = (name: string): CallerClaims => (role === undefined ? {} : claimsOfRole(role, name));
  for (const [text, token] of Object.entries(suite.tokens)) tokens.setToken(text, stubTokenOf(token, claimsOf));
  const ask = createOfflineGateway(loaded.plan, tokens);
  const results: TestResult[] = [];
  for (const trial of testRequestsOf(suite.cases)) {
    const { testCase, role } = trial;
    const claims = role === undefined ? testCase.request.claims : claimsOf(role);
    if (claims !== undefined) tokens.setToken(CALLER_TOKEN, { claims });
    const asked = requestOf(testCase);
    const authorization = claims === undefined ? [] : ['Authorization', `Bearer ${CALLER_TOKEN}`];
    const start = performance.now();
    const outcome = await ask(
      { ...asked, headers: [...asked.headers, ...authorization] },
      stubResponseOf(testCase.response),
    );
    const mismatches = compareOutcome(testCase.expect, outcome, loaded.plan).map((mismatch) =>
      redactMismatch(mismatch, outcome, loaded),
    );
    results.push({ ...trial, outcome, mismatches, durationMs: performance.now() - start });
  }
  return results;
}

/** A mismatch without values from the environment. */
function redactMismatch(
  mismatch: Mismatch,
  { logEntry, upstreamRequest }: OfflineOutcome,
  loaded: PlannedManifest,
): Mismatch {
  const { path: at, expected, actual } = mismatch;
  const isUrl = at[0] === 'upstream' && (at.length === 1 || at[1] === 'url') && typeof actual === 'string';
  if (!isUrl || upstreamRequest === undefined) return { ...mismatch, actual: loaded.secrets.redactTexts(actual) };
  const { origin, path } = redactedUrl(loaded, logEntry.route, upstreamRequest);
  return { ...mismatch, actual: typeof expected === 'string' && expected.startsWith('/') ? path : origin + path };
}

/** The caller's token, which is no token's text in a suite. */
const CALLER_TOKEN = '<token>';

function stubTokenOf({ role, claims, error: fault }: TestToken, claimsOf: (role: string) => CallerClaims): StubToken {
  if (fault !== undefined) return { code: fault };
  return { claims: role === undefined ? (claims ?? {}) : claimsOf(role) };
}
