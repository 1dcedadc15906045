import { errorAtKey, type Finding } from '../../engine/problem/finding.ts';
import { type TokenEntry, tokenEntries } from '../../engine/tokens/token-entries.ts';
import { type LintUpstream, upstreamsOf, type ValidManifest } from './lint-context.ts';
import { findingAt, reportedRules } from './rule.ts';

/** The rules that need the network. They run only with `--online`. */
export const ONLINE_RULES = reportedRules('online', ['warning', 'minimal'], {
  'online-upstream': 'An endpoint that cannot be reached now cannot serve the first request either.',
  'online-health': 'The gateway sends no requests to an endpoint whose health check fails.',
  'online-tokens': 'While the issuer is unavailable the gateway cannot verify new tokens.',
});

const TIMEOUT_MS = 3_000;
const MAX_CONCURRENT = 16;
const MAX_RESPONSE_BYTES = 65_536;

/** Sends one GET to every endpoint of every upstream, and checks that the verifier can reach the issuer. */
export async function checkOnline(valid: ValidManifest): Promise<Finding[]> {
  const checks = upstreamsOf(valid).flatMap((upstream) =>
    upstream.endpoints.map((endpoint) => ({ upstream, endpoint })),
  );
  const findings: Finding[] = await checkIssuers(valid);
  while (checks.length > 0) {
    const batch = checks.splice(0, MAX_CONCURRENT);
    const results = await Promise.all(batch.map(({ upstream, endpoint }) => checkEndpoint(upstream, endpoint)));
    findings.push(...results.flat());
  }
  return findings;
}

async function checkEndpoint({ upstream }: LintUpstream, endpoint: LintUpstream['endpoints'][number]) {
  const finding = (rule: string, message: string) => [
    { ...findingAt(endpoint.path, message), rule, severity: 'warning' } as const,
  ];
  try {
    const status = await fetchStatus(upstream, endpoint.url);
    if (upstream.health?.path === undefined || (status >= 200 && status < 300)) return [];
    return finding(
      'online-health',
      `the health check returned status ${status} instead of 2xx; correct health.path, or fix the service`,
    );
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return finding(
      'online-upstream',
      `this endpoint does not respond (${reason}); start the service, or correct the address`,
    );
  }
}

/** Returns the status of the response, and follows no redirects. */
async function fetchStatus({ health, tls, endpoints }: LintUpstream['upstream'], url: URL): Promise<number> {
  // Imported lazily, so that a lint without `--online` does not load TLS.
  const { fetchOnce, ResponseTooLargeError } = await import('../../engine/http1/fetch-response.ts');
  const serverName = endpoints.find((endpoint) => endpoint.url === url)?.serverName;
  const headers = ['Host', url.host || 'localhost', 'User-Agent', 'signing-gateway'];
  const request = { method: 'GET', path: health?.path ?? '/', headers, body: null };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return (await fetchOnce({ url, serverName, tls }, request, { maxBytes: MAX_RESPONSE_BYTES, signal })).status;
  } catch (error) {
    if (error instanceof ResponseTooLargeError) return error.status;
    throw signal.aborted ? Object.assign(new Error('no response in time'), { code: 'timeout' }) : error;
  }
}

/** Gives each method a token without a valid signature. The code `keys_unavailable` means that the issuer cannot be used. */
async function checkIssuers({ manifest, plan }: ValidManifest): Promise<Finding[]> {
  const verifiers = plan.auth?.verifier.methods ?? [];
  const checks = tokenEntries(manifest.auth).map(async (method, index): Promise<Finding[]> => {
    const verdict = await verifiers[index]?.verify(probeToken(method));
    if (verdict === undefined || !('code' in verdict) || verdict.code !== 'keys_unavailable') return [];
    const message = `the issuer is unavailable (${verdict.cause ?? 'unknown cause'}); correct its address, or start it`;
    return [{ ...errorAtKey(method.path, 'online-tokens', message), severity: 'warning' }];
  });
  return (await Promise.all(checks)).flat();
}

/** Creates a token that is valid except for its signature, so that the verifier needs the keys of the issuer. */
function probeToken({ kind, entry }: TokenEntry): string {
  if (kind !== 'jwt') return 'lint-online-probe';
  const claims = Object.fromEntries(entry.requiredClaims.map((name) => [name, 'probe']));
  const exp = Math.floor(Date.now() / 1000) + 60;
  const parts = [
    { alg: entry.algorithms[0], ...(entry.type === undefined ? {} : { typ: entry.type }) },
    { ...claims, iss: entry.issuer, aud: entry.audience, exp },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return `${parts.join('.')}.${'A'.repeat(86)}`;
}
