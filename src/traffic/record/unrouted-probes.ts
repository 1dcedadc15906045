import type { MutationContext, Probe } from '../../prove/mutation/mutant.ts';
import { HANDSHAKE } from '../../prove/mutation/mutators/forwarding-mutators.ts';
import type { RecordContext } from './base-probes.ts';
import type { Observation } from './observation.ts';
import { otherSpellings, unknownPath } from './recorded-paths.ts';

/** Yields requests that no route receives: the gateway refuses them, or responds to them itself. */
export function unroutedProbes(observation: Observation, record: RecordContext): Iterable<Probe> {
  const { result, method } = observation;
  const request = (url: string, headers: Probe['request']['headers'] = {}) => ({
    request: { method, url, headers, times: 1 },
  });
  if (result.kind === 'server-options') return [request('*')];
  if (result.kind === 'preflight')
    return pathsNear(observation, record).map((url) => request(url, preflightHeaders(record.context)));
  if (result.kind !== 'refused') return [];
  if (result.code === 'method_not_allowed') {
    const { routes, samplePaths } = record.context;
    return [...pathsNear(observation, record), ...otherSpellings(routes, samplePaths)].map((url) => request(url));
  }
  if (result.code === 'route_unknown') {
    const url = unknownPath(record.unknownPath, record.context);
    return url === undefined ? [] : [request(url), request(url, preflightHeaders(record.context))];
  }
  return [
    ...MALFORMED_URLS.map((url) => request(url)),
    ...encodedSlashes(record).map((url) => request(url)),
    ...MALFORMED_HEADERS.map((headers) => request('/x', headers)),
    { request: { ...request('/x').request, method: 'UNKNOWN' } },
  ];
}

function pathsNear({ tested }: Observation, { pathsOf }: RecordContext): string[] {
  return tested === undefined ? [] : [...pathsOf(tested)];
}

/** Returns paths with an encoded slash. Those of routes that keep such a slash are not refused. */
function encodedSlashes({ context, pathsOf }: RecordContext): string[] {
  const paths = context.routes.slice(0, MAX_ROUTES).flatMap((tested) => pathsOf(tested).slice(-1));
  return [...paths, '/x/x/x', '/x/x/x/x/x'].map((path) => path.replace(/(?<=.)\/(?=[^/]*$)/, '%2F'));
}

const MAX_ROUTES = 30;

function preflightHeaders({ manifest }: MutationContext) {
  const [origin = '*'] = manifest.cors?.origins ?? [];
  return { Origin: origin === '*' ? 'https://app.example' : origin, 'Access-Control-Request-Method': 'GET' };
}

/** Request targets that are refused, one for each reason. */
const MALFORMED_URLS = [
  '/x//x',
  '/x/../x',
  '/%78',
  '/[',
  '/%ff',
  '/x%2Fx',
  '/x#',
  '/x x',
  '*',
  'x',
  'http://other.example/x',
];

/** Headers that are refused, one for each reason. */
const MALFORMED_HEADERS: readonly Probe['request']['headers'][] = [
  { Host: 'a,b' },
  { 'Content-Type': ['text/plain', 'text/plain'] },
  { 'Transfer-Encoding': 'gzip' },
  { 'Content-Length': '+1' },
  { Expect: 'x' },
  { ...HANDSHAKE, 'Content-Length': '1' },
];
