import { nestValue } from '../../engine/json-pointer.ts';
import { sizeBytes } from '../../engine/manifest/units.ts';
import { loginEntry } from '../../engine/tokens/token-entries.ts';
import { completeWitness } from '../diff/diff-manifests.ts';
import type { DiffContext, DiffFinding, DiffRequest, MatchedRoutePair } from '../diff/difference.ts';
import { forwardedWitness } from '../diff/witnesses/sample-witnesses.ts';
import { callerOfRole } from '../offline/role-claims.ts';
import { type Attempt, USER_TOKEN } from './offline-side.ts';
import { claimRequests, settingRequests } from './setting-requests.ts';

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
