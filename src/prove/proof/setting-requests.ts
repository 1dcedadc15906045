import { nestValue } from '../../engine/json-pointer.ts';
import { claimHeadersOf } from '../../engine/tokens/token-entries.ts';
import type { DiffContext, DiffFinding, DiffRequest, MatchedRoutePair } from '../diff/difference.ts';
import { matchedRoutes } from '../diff/matched-routes.ts';
import { addressOnlyIn, addressRanges } from '../diff/settings/address-ranges.ts';
import { forwardedWitness, withHeaders } from '../diff/witnesses/sample-witnesses.ts';
import { tokenRequests, validToken } from './token-requests.ts';

/** The pairs of routes whose requests are tried. */
const MAX_PAIRS = 20;

/** Returns requests that may show the change of a setting of the complete manifest. */
export function settingRequests(finding: DiffFinding, sides: DiffContext): readonly DiffRequest[] {
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
export function claimRequests(pair: MatchedRoutePair): readonly DiffRequest[] {
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
