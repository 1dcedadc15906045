import type { Upstream } from '../plan/settings/upstream-definition.ts';
import { errorAtKey, type Finding } from '../problem/finding.ts';
import type { ValidManifest } from './lint-context.ts';
import { findingAt, type Rule } from './rule.ts';
import { tokenMethods } from './token-methods.ts';
import { type LintUpstream, upstreamsOf } from './upstreams.ts';

const ANY = { category: 'online', severity: 'warning', preset: 'minimal' } as const;

/** What only those can tell who are behind the gateway: it is found with `--online` alone. */
export const ONLINE_RULES: readonly Rule[] = [
  { ...ANY, id: 'online-upstream', rationale: 'What is not reached now will not be when the first request comes.' },
  { ...ANY, id: 'online-health', rationale: 'A target whose health check fails gets no requests.' },
  { ...ANY, id: 'online-tokens', rationale: 'While the issuer gives no answer no new token is good.' },
];

const TIMEOUT_MS = 3_000;
const AT_ONCE = 16;
const MAX_BYTES = 65_536;

/** Asks every target of every upstream with one GET, and the issuer about a token that nobody has. */
export async function checkOnline(sound: ValidManifest): Promise<Finding[]> {
  const targets = upstreamsOf(sound).flatMap((subject) => subject.endpoints.map((target) => ({ subject, target })));
  const findings: Finding[] = await checkIssuer(sound);
  while (targets.length > 0) {
    const now = targets.splice(0, AT_ONCE);
    const found = await Promise.all(now.map(({ subject, target }) => checkEndpoint(subject, target)));
    findings.push(...found.flat());
  }
  return findings;
}

async function checkEndpoint(
  { upstream }: LintUpstream,
  target: LintUpstream['endpoints'][number],
): Promise<Finding[]> {
  const finding = (rule: string, message: string) => [
    { ...findingAt(target.path, message), rule, severity: 'warning' } as const,
  ];
  try {
    const status = await fetchStatus(upstream, target.url);
    if (upstream.health === undefined || (status >= 200 && status < 300)) return [];
    return finding(
      'online-health',
      `the health check is answered ${status}, and 2xx alone is well; correct health.path, or the service`,
    );
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return finding(
      'online-upstream',
      `no answer comes from here (${reason}); start the service, or correct the address`,
    );
  }
}

/** Returns the status of the response, whatever its body. Does not follow redirects. */
async function fetchStatus({ health, tls, endpoints }: Upstream, url: URL): Promise<number> {
  // A lint run without `--online` must not load the TLS library.
  const { fetchOnce, ResponseTooLargeError } = await import('../http1/fetch-response.ts');
  const serverName = endpoints.find((endpoint) => endpoint.url === url)?.serverName;
  const headers = ['Host', url.host, 'User-Agent', 'signing-gateway'];
  const request = { method: 'GET', path: health?.path ?? '/', headers, body: null };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return (await fetchOnce({ url, serverName, tls }, request, { maxBytes: MAX_BYTES, signal })).status;
  } catch (error) {
    if (error instanceof ResponseTooLargeError) return error.status;
    throw signal.aborted ? timeoutError() : error;
  }
}

function timeoutError(): Error {
  return Object.assign(new Error('no response in time'), { code: 'timeout' });
}

/** By the very verifier that serves: all that can be known of a token that nobody signed is whether it could be judged. */
async function checkIssuer({ manifest, plan }: ValidManifest): Promise<Finding[]> {
  const [asked] = tokenMethods(manifest);
  const verdict = asked && (await plan.auth?.verifier.verify(probeToken(manifest)));
  if (asked === undefined || verdict === undefined || !('code' in verdict) || verdict.code !== 'keys_unavailable')
    return [];
  const message = `the issuer gives no answer that serves (${verdict.cause ?? 'no reason is known'}); correct its address, or start it`;
  return [{ ...errorAtKey(asked.path, 'online-tokens', message), severity: 'warning' }];
}

/** A token that is well formed and good in all but its signature: only the issuer's keys can tell that it is not. */
function probeToken({ auth }: ValidManifest['manifest']): string {
  const jwt = auth?.tokens.jwt;
  if (jwt === undefined) return 'lint-online-probe';
  const claims = Object.fromEntries(jwt.requiredClaims.map((name) => [name, 'probe']));
  const exp = Math.floor(Date.now() / 1000) + 60;
  const parts = [
    { alg: jwt.algorithms[0], ...(jwt.type === undefined ? {} : { typ: jwt.type }) },
    { ...claims, iss: jwt.issuer, aud: jwt.audience, exp },
  ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return `${parts.join('.')}.${'A'.repeat(86)}`;
}
