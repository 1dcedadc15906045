import { HANDSHAKE } from '../../offline/request-bytes.ts';
import { withItems, withValue } from '../edits.ts';
import { inEachRoute, type Mutators, type Probe } from '../mutant.ts';
import { withHeader, withQuery, withRequest } from '../probes.ts';

const OVERRIDE_HEADER = 'X-HTTP-Method-Override';

export const forwardingMutators: Mutators = {
  'upstream-swapped': {
    summary: 'a route forwards to another upstream',
    find: inEachRoute(function* ({ entry }, { manifest }) {
      const other = entry.upstream && Object.keys(manifest.upstreams).find((id) => id !== entry.upstream);
      if (other !== undefined) yield { at: ['upstream'], value: other, effect: `forwards to "${other}"` };
    }),
  },
  'upstream-path-changed': {
    summary: 'a route with `upstreamPath` forwards the path unchanged',
    find: inEachRoute(function* ({ entry }) {
      if (entry.upstreamPath !== undefined) yield { at: ['upstreamPath'], effect: 'forwards the path unchanged' };
    }),
  },
  'response-paths-kept': {
    summary: 'a route with `rewriteResponses` forwards the paths of the upstream to clients',
    find: inEachRoute(function* ({ entry: { upstreamPath } }) {
      if (upstreamPath?.rewriteResponses !== true) return;
      const Location = upstreamPath.with;
      const effect = 'forwards the paths in headers of responses unchanged';
      const probes = (base: Probe) => [{ ...base, response: { status: 201, headers: { Location } } }];
      yield { at: ['upstreamPath', 'rewriteResponses'], value: false, effect, probes };
    }),
  },
  'own-response-changed': {
    summary: 'a route with `respond` or `redirect` responds with another status, or redirects to another place',
    find: inEachRoute(function* ({ entry: { respond, redirect } }) {
      if (respond !== undefined)
        yield {
          at: ['respond', 'status'],
          value: respond.status === 200 ? 404 : 200,
          effect: 'responds with another status',
        };
      if (redirect === undefined) return;
      yield { at: ['redirect', 'to'], value: '/', effect: 'redirects to /' };
      const query = redirect.query === 'keep' ? 'drop' : 'keep';
      const probes = (base: Probe) => [withQuery(base, 'x', 'y')];
      yield { at: ['redirect', 'query'], value: query, effect: `redirects with query: ${query}`, probes };
    }),
  },
  'header-rule-removed': {
    summary: 'a route does not set or remove a header of the request or the response',
    find: inEachRoute(function* ({ entry }) {
      for (const side of ['requestHeaders', 'responseHeaders'] as const) {
        const { set = {}, remove = [] } = entry[side] ?? {};
        const probes = (name: string) => (base: Probe) => withHeaderIn(base, side, name);
        for (const name of Object.keys(set))
          yield { at: [side, 'set', name], effect: `does not set the header "${name}"`, probes: probes(name) };
        for (const [index, name] of remove.entries())
          yield { at: [side, 'remove', index], effect: `does not remove the header "${name}"`, probes: probes(name) };
      }
    }),
  },
  'claim-header-removed': {
    summary: 'a protected route does not set a header of `forward`',
    find: inEachRoute(function* ({ path, entry, route }) {
      for (const { name } of route.claims?.headers ?? [])
        yield {
          at: ['forward'],
          value: { ...(entry.forward || {}), [name]: false },
          ...(entry.forward === undefined && { path }),
          effect: `does not set the header "${name}"`,
        };
    }),
  },
  'override-header-kept': {
    summary: `a route forwards \`${OVERRIDE_HEADER}\`, with which a client can replace the method`,
    find: inEachRoute(function* ({ path, entry: { requestHeaders, upstream } }, { manifest }) {
      if (upstream === undefined) return;
      if (requestHeaders?.keep.some((name) => name.toLowerCase() === OVERRIDE_HEADER.toLowerCase())) return;
      const at = [...path, 'requestHeaders'];
      const withRules =
        requestHeaders === undefined ? withValue(manifest, at, { set: {}, remove: [], keep: [] }) : manifest;
      yield {
        at: requestHeaders === undefined ? [] : ['requestHeaders', 'keep'],
        manifest: withItems(withRules, [...at, 'keep'], OVERRIDE_HEADER),
        effect: `forwards ${OVERRIDE_HEADER}`,
        probes: (base) => [withHeader(base, OVERRIDE_HEADER, 'DELETE')],
      };
    }),
  },
  'websocket-opened': {
    summary: 'a route accepts WebSocket handshakes, or those of pages of every origin',
    find: inEachRoute(function* ({ path, entry: { websocket, login }, route }, { otherOrigin }) {
      const isOpen = typeof websocket === 'object' && websocket.origins.includes('*');
      if (isOpen || login !== undefined || route.upstream === undefined || !route.methods.includes('GET')) return;
      const handshake = (base: Probe): Probe =>
        withRequest(base, { method: 'GET', headers: { ...base.request.headers, ...HANDSHAKE } });
      yield {
        at: ['websocket'],
        value: { origins: ['*'] },
        ...(websocket === false && { path }),
        effect: `accepts WebSocket handshakes${websocket === false ? '' : ' of pages of every origin'}`,
        probes: (base) => [handshake(base), withHeader(handshake(base), 'Origin', otherOrigin)],
      };
    }),
  },
};

/** Returns the probe with and without a header of the request, or of the response of the upstream. */
function withHeaderIn(base: Probe, side: 'requestHeaders' | 'responseHeaders', name: string): Probe[] {
  if (side === 'requestHeaders') return [base, withHeader(base, name, 'x')];
  const response = base.response ?? { status: 200, headers: {} };
  return [base, { ...base, response: { ...response, headers: { ...response.headers, [name]: 'x' } } }];
}
