import { nestValue } from '../../engine/json-pointer.ts';
import { sizeBytes } from '../../engine/manifest/units.ts';
import { claimHeadersOf, loginEntry } from '../../engine/tokens/token-entries.ts';
import { completeWitness } from '../diff/diff-manifests.ts';
import type { DiffContext, DiffFinding, DiffRequest, MatchedRoutePair } from '../diff/difference.ts';
import { matchedRoutes } from '../diff/matched-routes.ts';
import { addressOnlyIn, addressRanges } from '../diff/settings/address-ranges.ts';
import { forwardedWitness, withHeaders } from '../diff/witnesses/sample-witnesses.ts';
import { callerOfRole } from '../offline/role-claims.ts';
import { type Attempt, USER_TOKEN } from './offline-side.ts';
import { tokenRequests, validToken } from './token-requests.ts';

/** Returns the requests, one of which may show a difference. */
export function attemptsFor(finding: DiffFinding, sides: DiffContext): readonly Attempt[] {
  const { rule, pair, path, witness } = finding;
  const isOfCaller = witness === undefined && /^(?:role|issuer)-/.test(rule);
  if (pair?.from.entry.login !== undefined && (path[2] === 'login' || isOfCaller))
    return loginAttempts(pair, rule === 'limit-raised');
  return requestsFor(finding, sides).map((request) => ({ request }));
}

function requestsFor(finding: DiffFinding, sides: DiffContext): readonly DiffRequest[] {
  const { rule, pair } = finding;
  if (pair === undefined) return finding.witness === undefined ? settingRequests(finding, sides) : witnessesOf(finding);
  if (rule.startsWith('claim-header-')) return claimRequests(pair);
  // A request that is valid for the new route needs no token.
  const { to, request } = pair;
  const own = rule === 'route-public' ? { from: to, to, request } : pair;
  const valid = /^(?:route-public|upstream-)/.test(rule) ? forwardedWitness(own)?.request : undefined;
  return valid === undefined ? witnessesOf(finding) : [valid];
}

/** Returns the request of a finding, also with the method of its region and with a valid body: comparisons show only one violation. */
function witnessesOf(finding: DiffFinding): readonly DiffRequest[] {
  const request = completeWitness(finding)?.request;
  if (request === undefined) return [];
  const { pair } = finding;
  const { method = request.method, url } = pair?.request ?? request;
  const sent = { method: request.method, url };
  const valid = pair && forwardedWitness({ from: pair.to, to: pair.to, request: sent })?.request;
  const requests = [request, ...(valid?.body === undefined ? [] : [withBody(request, valid, valid.body)])];
  return method === request.method ? requests : [...requests, ...requests.map((one) => ({ ...one, method }))];
}

/** Returns the request with the text of a valid body, in place of one without meaning. Blanks at its end change nothing. */
function withBody(request: DiffRequest, { headers = [] }: DiffRequest, body: string): DiffRequest {
  if (request.body !== undefined) return request;
  const type = headers.indexOf('Content-Type');
  const own = request.headers ?? [];
  const hasType = own.includes('Content-Type');
  return { ...request, headers: hasType ? own : [...own, ...headers.slice(type, type + 2)], body };
}

/** Returns logins with a token that only one of the routes may accept. @param isLarge true if the response is one byte longer than before */
function loginAttempts({ from, to, request }: MatchedRoutePair, isLarge: boolean): readonly Attempt[] {
  const { login } = from.entry;
  const sent = forwardedWitness({ from, to, request })?.request;
  if (login === undefined || sent === undefined) return [];
  const json = ['Content-Type', 'application/json'];
  const inBody = [login.token ?? []]
    .flat()
    .map((at) => ({ headers: json, text: JSON.stringify(nestValue(at, USER_TOKEN)) }));
  const inHeader = login.header === undefined ? [] : [{ headers: [login.header, USER_TOKEN], text: '' }];
  const nobody = { claims: { sub: 'someone' }, issuer: loginEntry(from.side.methods, login)?.issuer };
  const allowed = to.route.auth?.role.permissions.map(([issuer, role]) => callerOfRole(to.side.manifest, role, issuer));
  return [nobody, ...(allowed ?? [])].flatMap((user) =>
    [...inBody, ...inHeader].map(({ headers, text }) => {
      const body = Buffer.from(text.padEnd(isLarge ? sizeBytes(login.maxBytes) + 1 : 0));
      return { request: sent, user, response: { status: 200, headers, body } };
    }),
  );
}

/** The pairs of routes whose requests are tried. */
const MAX_PAIRS = 20;

/** Returns requests that may show the change of a setting of the complete manifest. */
function settingRequests(finding: DiffFinding, sides: DiffContext): readonly DiffRequest[] {
  const { path, rule } = finding;
  if (path[0] === 'cors') return corsRequests(String(path[1]), sides);
  if (path[0] === 'auth' && path[1] === 'forward') return pairsOf(sides).flatMap(claimRequests);
  if (path[0] === 'auth') return tokenRequests(path, sides);
  return rule === 'trusted-proxies-widened' ? proxyRequests(sides) : [];
}

function pairsOf(sides: DiffContext): readonly MatchedRoutePair[] {
  return [...matchedRoutes(sides).take(MAX_PAIRS)];
}

/** Returns a request to each of the first routes, which both manifests forward. */
function requestsOf(sides: DiffContext, headers: readonly string[]): DiffRequest[] {
  return pairsOf(sides).flatMap((pair) => forwardedWitness(pair, headers)?.request ?? []);
}

/** Returns requests with another text in each forwarded claim, without these claims, and with the headers sent by the client. */
function claimRequests(pair: MatchedRoutePair): readonly DiffRequest[] {
  const request = forwardedWitness(pair)?.request;
  const token = request && validToken(pair, request);
  if (request === undefined || token === undefined) return [];
  const headers = [pair.from, pair.to].flatMap(({ entry, side }) => claimHeadersOf(entry, side.manifest.auth?.forward));
  const claims = headers.map(({ claim }) => nestValue(claim, claim.replaceAll('/', ' ').trim()));
  const requests = [Object.assign({}, ...claims, token), token].map((one) => ({ ...request, token: one }));
  const sent = headers.flatMap(({ name }) => [name, 'sent']);
  return [...requests, withHeaders({ ...request, token }, sent)];
}

/** Returns requests and preflights of a page. Unless the origins changed, both manifests allow its origin. */
function corsRequests(key: string, sides: DiffContext): readonly DiffRequest[] {
  const [before, now] = [sides.old, sides.next].map(({ manifest }) => manifest.cors?.origins ?? []);
  const origin = now?.find((one) => before?.includes(one) === (key !== 'origins')) ?? now?.[0];
  const headers = ['Origin', origin === undefined || origin === '*' ? 'https://page.example' : origin];
  const preflightOf = ({ method, url }: DiffRequest) =>
    withHeaders({ method: 'OPTIONS', url }, [...headers, 'Access-Control-Request-Method', method]);
  return requestsOf(sides, headers).flatMap((request) => [request, preflightOf(request)]);
}

/** Returns requests of a peer that only the new manifest trusts, for a client that it names. */
function proxyRequests(sides: DiffContext): readonly DiffRequest[] {
  const [now, before] = [sides.next, sides.old].map(({ manifest }) => addressRanges(manifest.server.trustedProxies));
  const peer = addressOnlyIn(now ?? [], before ?? []);
  if (peer === undefined) return [];
  return requestsOf(sides, ['X-Forwarded-For', '192.0.2.1']).map((request) => ({ ...request, peer }));
}
