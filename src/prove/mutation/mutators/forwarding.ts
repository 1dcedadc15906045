import { withItems, withoutValue, withValue } from '../edits.ts';
import type { Mutator, Probe, TestedRoute } from '../mutant.ts';
import { pathOf, withHeader, withPath, withRequest } from '../probes.ts';

export const upstreamSwapped: Mutator = {
  id: 'upstream-swapped',
  summary: 'a route forwards to another upstream',
  *find({ manifest, routes }) {
    const ids = Object.keys(manifest.upstreams);
    for (const tested of routes) {
      const other = ids.find((id) => id !== tested.entry.upstream);
      if (other === undefined) return;
      const path = [...tested.path, 'upstream'];
      yield {
        path,
        message: `"${tested.entry.id}" forwards to "${other}"`,
        manifest: withValue(manifest, path, other),
        routes: [tested],
        probes: (base) => [base],
      };
    }
  },
};

export const upstreamPathChanged: Mutator = {
  id: 'upstream-path-changed',
  summary: 'a route with `upstreamPath` forwards the path unchanged',
  *find({ manifest, routes }) {
    for (const tested of routes) {
      if (tested.entry.upstreamPath === undefined) continue;
      const path = [...tested.path, 'upstreamPath'];
      yield {
        path,
        message: `"${tested.entry.id}" forwards the path unchanged`,
        manifest: withoutValue(manifest, path),
        routes: [tested],
        probes: (base) => [base],
      };
    }
  },
};

export const headerRuleRemoved: Mutator = {
  id: 'header-rule-removed',
  summary: 'a route does not set or remove a header of the request or the response',
  *find({ manifest, routes }) {
    for (const tested of routes)
      for (const side of ['requestHeaders', 'responseHeaders'] as const) {
        const { set = {}, remove = [] } = tested.entry[side] ?? {};
        const probes = (name: string) => (base: Probe) => withHeaderIn(base, side, name);
        for (const name of Object.keys(set)) {
          const path = [...tested.path, side, 'set', name];
          const message = `"${tested.entry.id}" does not set the header "${name}"`;
          yield { path, message, manifest: withoutValue(manifest, path), routes: [tested], probes: probes(name) };
        }
        for (const [index, name] of remove.entries()) {
          const path = [...tested.path, side, 'remove', index];
          const message = `"${tested.entry.id}" does not remove the header "${name}"`;
          yield { path, message, manifest: withoutValue(manifest, path), routes: [tested], probes: probes(name) };
        }
      }
  },
};

/** Returns the probe with and without a header of the request, or of the response of the upstream. */
function withHeaderIn(base: Probe, side: 'requestHeaders' | 'responseHeaders', name: string): Probe[] {
  if (side === 'requestHeaders') return [base, withHeader(base, name, 'x')];
  const response = base.response ?? { status: 200, headers: {} };
  return [base, { ...base, response: { ...response, headers: { ...response.headers, [name]: 'x' } } }];
}

const OVERRIDE_HEADER = 'X-HTTP-Method-Override';

export const overrideHeaderKept: Mutator = {
  id: 'override-header-kept',
  summary: `a route forwards \`${OVERRIDE_HEADER}\`, with which a client can replace the method`,
  *find({ manifest, routes }) {
    for (const tested of routes) {
      const { requestHeaders } = tested.entry;
      if (requestHeaders?.keep.some((name) => name.toLowerCase() === OVERRIDE_HEADER.toLowerCase())) continue;
      const at = [...tested.path, 'requestHeaders'];
      const manifestWithRules =
        requestHeaders === undefined ? withValue(manifest, at, { set: {}, remove: [], keep: [] }) : manifest;
      yield {
        path: requestHeaders === undefined ? tested.path : [...at, 'keep'],
        message: `"${tested.entry.id}" forwards ${OVERRIDE_HEADER}`,
        manifest: withItems(manifestWithRules, [...at, 'keep'], OVERRIDE_HEADER),
        routes: [tested],
        probes: (base) => [withHeader(base, OVERRIDE_HEADER, 'DELETE')],
      };
    }
  },
};

export const encodedSlashKept: Mutator = {
  id: 'encoded-slash-kept',
  summary: 'a route accepts `%2F` in its path',
  *find({ manifest, routes }) {
    for (const tested of routes) {
      if (tested.entry.encodedSlash === 'keep' || tested.pattern.every(({ kind }) => kind === 'literal')) continue;
      const path = [...tested.path, 'encodedSlash'];
      yield {
        path: tested.path,
        message: `"${tested.entry.id}" accepts an encoded slash in its path`,
        manifest: withValue(manifest, path, 'keep'),
        routes: [tested],
        probes: (base) => encodedSlashPaths(base, tested).map((other) => withPath(base, other)),
      };
    }
  },
};

/** Returns the path with an encoded slash in each segment that is no literal. */
function encodedSlashPaths(base: Probe, { pattern }: TestedRoute): string[] {
  const segments = pathOf(base).split('/').slice(1);
  const fixed = pattern.findIndex(({ kind }) => kind === 'rest');
  const ends = fixed === -1 ? [] : [[...segments.slice(0, fixed), 'x%2Fx']];
  const inner = segments.flatMap((segment, index) =>
    pattern[index]?.kind === 'parameter' ? [segments.with(index, `${segment}%2Fx`)] : [],
  );
  return [...ends, ...inner].map((texts) => `/${texts.join('/')}`);
}

/** The headers of a WebSocket handshake (RFC 6455 section 4.1). */
export const HANDSHAKE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

export const websocketOpened: Mutator = {
  id: 'websocket-opened',
  summary: 'a route accepts WebSocket handshakes, or those of pages of every origin',
  *find({ manifest, routes, otherOrigin }) {
    for (const tested of routes) {
      const { websocket, login, id } = tested.entry;
      const isOpen = typeof websocket === 'object' && websocket.origins.includes('*');
      if (isOpen || login !== undefined || !tested.route.methods.includes('GET')) continue;
      const isNew = websocket === false;
      const handshake = (base: Probe): Probe =>
        withRequest(base, { method: 'GET', headers: { ...base.request.headers, ...HANDSHAKE } });
      yield {
        path: isNew ? tested.path : [...tested.path, 'websocket'],
        message: `"${id}" accepts WebSocket handshakes${isNew ? '' : ' of pages of every origin'}`,
        manifest: withValue(manifest, [...tested.path, 'websocket'], { origins: ['*'] }),
        routes: [tested],
        probes: (base) => [handshake(base), withHeader(handshake(base), 'Origin', otherOrigin)],
      };
    }
  },
};
