import { once } from 'node:events';
import type * as http from 'node:http';
import type { Upstream } from '../plan/plan.ts';
import { errorAtKey, type Finding } from '../problem/finding.ts';
import { at, type Rule } from './rule.ts';
import type { Sound } from './subject.ts';
import { type UpstreamSubject, upstreamsOf } from './targets.ts';
import { waysOf } from './tokens.ts';

const ANY = { family: 'online', severity: 'warning', preset: 'minimal' } as const;

/** What only those can tell who are behind the gateway: it is found with `--online` alone. */
export const ONLINE: readonly Rule[] = [
  { ...ANY, id: 'online-upstream', why: 'What is not reached now will not be when the first request comes.' },
  { ...ANY, id: 'online-health', why: 'A target whose health check fails gets no requests.' },
  { ...ANY, id: 'online-tokens', why: 'While the issuer gives no answer no new token is good.' },
];

const TIMEOUT_MS = 3_000;
const AT_ONCE = 16;

/** Asks every target of every upstream with one GET, and the issuer about a token that nobody has. */
export async function askOnline(sound: Sound): Promise<Finding[]> {
  const targets = upstreamsOf(sound).flatMap((subject) => subject.targets.map((target) => ({ subject, target })));
  const findings: Finding[] = await askIssuer(sound);
  while (targets.length > 0) {
    const now = targets.splice(0, AT_ONCE);
    const found = await Promise.all(now.map(({ subject, target }) => askTarget(subject, target)));
    findings.push(...found.flat());
  }
  return findings;
}

async function askTarget(
  { upstream }: UpstreamSubject,
  target: UpstreamSubject['targets'][number],
): Promise<Finding[]> {
  const finding = (rule: string, message: string) => [
    { ...at(target.path, message), rule, severity: 'warning' } as const,
  ];
  try {
    const status = await statusOf(upstream, target.url);
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

/** The status of the answer's head; no body is read, no redirect followed. */
async function statusOf({ health, tls, targets }: Upstream, url: URL): Promise<number> {
  const { request } = await import(url.protocol === 'https:' ? 'node:https' : 'node:http');
  const servername = targets.find((target) => target.url === url)?.serverName;
  const asked = request(new URL(health?.path ?? '/', url), {
    ...tls,
    ...(servername === undefined ? {} : { servername }),
    agent: false,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  try {
    const answered = once(asked, 'response') as Promise<[http.IncomingMessage]>;
    asked.end();
    const [{ statusCode = 0 }] = await answered;
    return statusCode;
  } finally {
    asked.on('error', () => undefined).destroy();
  }
}

/** By the very verifier that serves: all that can be known of a token that nobody signed is whether it could be judged. */
async function askIssuer({ manifest, plan }: Sound): Promise<Finding[]> {
  const [asked] = waysOf(manifest);
  const verdict = asked && (await plan.auth?.verifier.verify(probe(manifest)));
  if (asked === undefined || verdict === undefined || !('fault' in verdict) || verdict.fault !== 'keys_unavailable')
    return [];
  const message = `the issuer gives no answer that serves (${verdict.cause ?? 'no reason is known'}); correct its address, or start it`;
  return [{ ...errorAtKey(asked.path, 'online-tokens', message), severity: 'warning' }];
}

/** A token that is well formed and good in all but its signature: only the issuer's keys can tell that it is not. */
function probe({ auth }: Sound['manifest']): string {
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
