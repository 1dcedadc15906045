import { HTTP_METHODS } from '../../../engine/http1/http-methods.ts';
import type { Cors, Manifest } from '../../../engine/manifest/manifest.generated.ts';
import { withItems, withoutValue, withValue } from '../edits.ts';
import type { Mutant, Mutators, Probe } from '../mutant.ts';
import { withHeader, withoutBody, withoutToken, withRequest } from '../probes.ts';

export const settingMutators: Mutators = {
  'cors-opened': {
    summary: 'pages of another origin may read responses, or send more methods, headers or credentials',
    *find({ manifest, routes, otherOrigin, sendsOrigin }) {
      const { cors } = manifest;
      const probes = (base: Probe) => corsRequests(base, [...(cors?.origins ?? []), otherOrigin]);
      const change = (path: string[], message: string, changed: Manifest) =>
        ({ routes, probes, path, message, manifest: changed }) satisfies Mutant;
      const isReadable = `pages of ${otherOrigin} may read the responses`;
      if (cors === undefined) {
        // Without `cors`, only tests about pages of other origins need to notice it.
        if (sendsOrigin) yield change([], isReadable, withValue(manifest, ['cors'], corsFor(otherOrigin)));
        return;
      }
      const isAny = cors.origins.includes('*');
      const at = (key: string) => ['cors', key];
      const [origins, credentials, methods] = [at('origins'), at('credentials'), at('methods')];
      if (!isAny) yield change(origins, isReadable, withItems(manifest, origins, otherOrigin));
      if (!cors.credentials && !isAny) {
        const message = 'pages may send requests with the credentials of their visitors';
        yield change(credentials, message, withValue(manifest, credentials, true));
      }
      yield change(at('headers'), 'pages may send the header X-Other', withItems(manifest, at('headers'), 'X-Other'));
      const exposed = at('exposedHeaders');
      yield change(exposed, 'pages may read the header X-Other', withItems(manifest, exposed, 'X-Other'));
      if (cors.methods !== undefined && cors.methods.length < HTTP_METHODS.length)
        yield change(methods, 'pages may send the methods of every route', withoutValue(manifest, methods));
    },
  },
  'response-header-missing': {
    summary: 'responses lack a header of `server.responseHeaders`',
    *find({ manifest, routes }) {
      for (const name of Object.keys(manifest.server.responseHeaders)) {
        const path = ['server', 'responseHeaders', name];
        const message = `responses lack the header "${name}"`;
        const probes = (base: Probe) => [base, withoutToken(base)];
        yield { path, message, manifest: withoutValue(manifest, path), routes, probes };
      }
    },
  },
  'upstream-host-kept': {
    summary: 'an upstream with `host` gets the `Host` of the client',
    *find({ manifest, routes }) {
      for (const [id, { host }] of Object.entries(manifest.upstreams)) {
        if (host === 'client') continue;
        yield {
          path: ['upstreams', id, 'host'],
          message: `"${id}" gets the Host of the client`,
          manifest: withValue(manifest, ['upstreams', id, 'host'], 'client'),
          routes: routes.filter(({ entry }) => entry.upstream === id),
          probes: (base) => [withHeader(base, 'Host', 'other.example')],
        };
      }
    },
  },
  'proxy-trusted': {
    summary: 'the forwarding headers of every client are trusted',
    *find({ manifest, plan, routes }) {
      if (plan.server.trustedProxies?.(CLIENT_ADDRESS)) return;
      yield {
        path: ['server', 'trustedProxies'],
        message: 'the forwarding headers of a client are trusted',
        manifest: withItems(manifest, ['server', 'trustedProxies'], CLIENT_ADDRESS),
        routes,
        probes: (base) => [withHeader(base, 'X-Forwarded-For', '192.0.2.1')],
      };
    },
  },
};

/** Returns the setting for one origin, with the defaults of the schema. */
function corsFor(origin: string): Cors {
  return { origins: [origin], headers: [], exposedHeaders: [], credentials: false, maxAge: '10m' };
}

function corsRequests(base: Probe, origins: readonly string[]): Probe[] {
  const preflight = withHeader(
    withRequest(withoutToken(withoutBody(base)), { method: 'OPTIONS' }),
    'Access-Control-Request-Method',
    base.request.method,
  );
  const pages = origins.filter((origin) => origin !== '*');
  return [preflight, base].flatMap((probe) => pages.map((origin) => withHeader(probe, 'Origin', origin)));
}

const CLIENT_ADDRESS = '127.0.0.1';
