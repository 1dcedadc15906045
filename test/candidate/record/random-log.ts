import fc from 'fast-check';
import { accessLogLine } from '../../../src/engine/gateway/telemetry/request-recorder.ts';
import { load, type PlannedManifest } from '../../../src/engine/load.ts';
import { createMemoryEnvironment } from '../../../src/engine/manifest/source.ts';
import { createOfflineGateway, type OfflineOutcome } from '../../../src/prove/offline/offline-gateway.ts';
import { StubVerifier } from '../../../src/prove/offline/stub-verifier.ts';
import type { CaseResponse } from '../../../src/prove/testing/test-file.generated.ts';
import { type AnyManifest, anyManifest, anyUrl, matchingUrl } from '../../support/any-manifest.ts';

/** A request of a random log, and the response of the upstream. */
export interface RandomRequest {
  readonly method: string;
  readonly url: string | ((manifest: AnyManifest) => string);
  readonly token: string | undefined;
  readonly headers: readonly (readonly string[])[];
  readonly body: string | undefined;
  readonly status: number;
  readonly loginToken: string | undefined;
  readonly times: number;
}

const ROLES = ['admin', 'user', 'guest'];
const ERRORS = ['token_expired', 'signature_wrong', 'keys_unavailable'] as const;
const TOKENS = [...ROLES.map((role) => `of-${role}`), ...ERRORS, 'unknown'];

const header = fc.constantFrom(
  ['X-Debug', '1'],
  ['X-Debug', 'no'],
  ['Content-Type', 'application/json'],
  ['Content-Type', 'application/json'],
  ['Content-Type', 'text/csv'],
  ['Content-Type', 'text/plain'],
  ['X-Tenant', 'one'],
  ['Content-Encoding', 'gzip'],
  ['Expect', 'wonders'],
  ['Host', 'two,example'],
  ['Authorization', 'Basic eA=='],
  ['Origin', 'https://app.example'],
  ['Access-Control-Request-Method', 'GET'],
);

const request: fc.Arbitrary<RandomRequest> = fc.record({
  method: fc.constantFrom('GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'BREW'),
  url: fc.oneof(
    { weight: 5, arbitrary: matchingUrl },
    { weight: 1, arbitrary: anyUrl },
    { weight: 1, arbitrary: fc.constantFrom('*', 'x', '/a b', 'http://other.example/a') },
  ),
  token: fc.option(fc.constantFrom('of-admin', 'of-admin', 'of-user', ...TOKENS), { nil: undefined, freq: 5 }),
  headers: fc.uniqueArray(header, { maxLength: 3, selector: ([name]) => name }),
  body: fc.constantFrom(undefined, undefined, '{}', '{"a":"x","b":"yy"}', '{"b":"yy"}', 'a,b\n1,2\n', 'x'.repeat(70)),
  status: fc.constantFrom(200, 200, 200, 201, 204, 302, 400, 404, 404, 500, 503),
  loginToken: fc.option(fc.constantFrom(...TOKENS), { nil: undefined }),
  times: fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 8),
});

/** Generates a manifest with requests. */
export const anyTraffic = fc.record({
  manifest: anyManifest,
  requests: fc.array(request, { minLength: 5, maxLength: 40 }),
  hasRoles: fc.boolean(),
});

/** A manifest, and the lines and outcomes of requests to it. */
export interface RandomLog {
  readonly planned: PlannedManifest;
  readonly lines: readonly string[];
  readonly outcomes: readonly OfflineOutcome[];
}

/** Sends the requests to the gateway of the manifest. Returns `undefined` if the manifest does not load. */
export async function createRandomLog(
  manifest: AnyManifest,
  requests: readonly RandomRequest[],
  hasRoles: boolean,
): Promise<RandomLog | undefined> {
  const planned = load({ path: 'gateway.yaml', text: JSON.stringify(manifest) }, createMemoryEnvironment());
  if (planned.plan === undefined) return undefined;
  const verifier = new StubVerifier();
  for (const role of ROLES) verifier.setToken(`of-${role}`, { claims: { company_role: role, sub: role } });
  for (const code of ERRORS) verifier.setToken(code, { code });
  const send = createOfflineGateway(planned.plan, verifier);
  const outcomes: OfflineOutcome[] = [];
  for (const { method, url, token, headers, body, status, loginToken, times } of requests) {
    const authorization = token === undefined ? [] : ['Authorization', `Bearer ${token}`];
    const isBasic = headers.some(([name]) => name === 'Authorization');
    const target = typeof url === 'string' ? url : url(manifest);
    outcomes.push(
      await send(
        {
          method,
          target,
          headers: [...headers.flat(), ...(isBasic ? [] : authorization)],
          body: body === undefined ? undefined : Buffer.from(body),
        },
        responseOf({ status, headers: {}, ...(loginToken && { body: { token: loginToken } }) }),
        { times, waitMs: 0 },
      ),
    );
  }
  return { planned, outcomes, lines: outcomes.map((outcome) => lineOf(outcome, hasRoles)) };
}

function responseOf({ status, body }: CaseResponse) {
  const hasBody = body !== undefined && status !== 204;
  const headers = hasBody ? ['Content-Type', 'application/json'] : [];
  return { status, headers, body: Buffer.from(hasBody ? JSON.stringify(body) : '') };
}

/** Returns the line of the access log, with the role that `log.replay` adds. */
function lineOf({ record, principals }: OfflineOutcome, hasRoles: boolean): string {
  const line = accessLogLine(record, 1);
  const role = principals.at(-1)?.claims['company_role'];
  if (!hasRoles || role === undefined) return line;
  return line.replace(/}$/, `,"role":${JSON.stringify(role === 'guest' ? 'other' : role)}}`);
}
