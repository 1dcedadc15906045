import type { PlannedManifest } from '../../engine/load.ts';
import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import { createOfflineGateway, type OfflineOutcome, redactedUrl } from '../offline/offline-gateway.ts';
import { callerOfRole, methodOf } from '../offline/role-claims.ts';
import { type Caller, type StubToken, StubVerifier } from '../offline/stub-verifier.ts';
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
export function createCaseRunner(testTokens: TestFile['tokens'], planned: TestedManifest) {
  const tokens = new StubVerifier();
  const { manifest } = planned;
  for (const [text, token] of Object.entries(testTokens)) tokens.setToken(text, stubTokenOf(token, manifest));
  const send = createOfflineGateway(planned.plan, tokens);
  return async (testRequest: TestRequest) => {
    const { testCase, role } = testRequest;
    const caller = callerOf({ ...testCase.request, role }, manifest);
    const request = requestOf(testRequest);
    const start = performance.now();
    const outcome = await send(
      { ...request, headers: [...request.headers, ...tokens.authorize(caller)] },
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
function redactMismatch(mismatch: Mismatch, { record, upstreamRequest }: OfflineOutcome, planned: TestedManifest) {
  const { path: member, expected, actual } = mismatch;
  const isUrl = member[0] === 'upstream' && (member.length === 1 || member[1] === 'url') && typeof actual === 'string';
  if (!isUrl || upstreamRequest === undefined) return { ...mismatch, actual: planned.secrets.redactTexts(actual) };
  const { origin, path } = redactedUrl(planned, record.route?.id, upstreamRequest);
  return { ...mismatch, actual: typeof expected === 'string' && expected.startsWith('/') ? path : origin + path };
}

function stubTokenOf({ error, ...token }: TestToken, manifest: Manifest): StubToken {
  return error === undefined ? (callerOf(token, manifest) ?? { claims: {} }) : { code: error };
}

function callerOf(
  { role, claims, issuer }: { readonly [Key in 'role' | 'issuer']?: string | undefined } & Pick<TestToken, 'claims'>,
  manifest: Manifest,
): Caller | undefined {
  if (role !== undefined) return callerOfRole(manifest, role, issuer);
  return claims && { claims, issuer: methodOf(manifest.auth, issuer)?.issuer };
}
