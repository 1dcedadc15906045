import { HTTP_METHODS } from '../../../engine/http1/http-methods.ts';
import type { RouteEntry } from '../../../engine/manifest/manifest.generated.ts';
import { type Pattern, parsePattern } from '../../../engine/routing/pattern.ts';
import { withItems, withoutValue, withValue } from '../edits.ts';
import type { Mutant, MutationContext, Mutator, Probe, TestedRoute } from '../mutant.ts';
import { withoutBody, withoutToken, withPath, withRequest } from '../probes.ts';

export const accessPublic: Mutator = {
  id: 'access-public',
  summary: 'a protected route becomes public',
  *find({ manifest, routes }) {
    for (const tested of routes) {
      const { path, entry } = tested;
      if (entry.access === 'public') continue;
      const open = withValue(manifest, [...path, 'access'], 'public');
      const isGuarded = entry.login !== undefined || entry.roles === undefined;
      yield {
        path: [...path, 'access'],
        message: `"${entry.id}" accepts requests without a token`,
        manifest: isGuarded ? open : withoutValue(open, [...path, 'roles']),
        routes: [tested],
        probes: (base) => [withoutToken(base)],
      };
    }
  },
};

export const methodAdded: Mutator = {
  id: 'method-added',
  summary: 'a route accepts one more method',
  *find({ manifest, routes }) {
    for (const tested of routes) {
      const declared = methodsOf(tested.entry);
      for (const method of HTTP_METHODS) {
        if (declared.includes(method) || (method === 'HEAD' && declared.includes('GET'))) continue;
        yield {
          path: [...tested.path, 'method'],
          message: `"${tested.entry.id}" also accepts ${method}`,
          manifest: withValue(manifest, [...tested.path, 'method'], [...declared, method]),
          routes: [tested],
          probes: (base) => otherMethod(base, method),
        };
      }
    }
  },
};

export const methodAny: Mutator = {
  id: 'method-any',
  summary: 'a route accepts every method',
  *find({ manifest, routes }) {
    for (const tested of routes) {
      const declared = methodsOf(tested.entry);
      const others = HTTP_METHODS.filter((method) => !declared.includes(method));
      if (others.length === 0) continue;
      yield {
        path: [...tested.path, 'method'],
        message: `"${tested.entry.id}" accepts every method`,
        manifest: withValue(manifest, [...tested.path, 'method'], 'any'),
        routes: [tested],
        probes: (base) => others.flatMap((method) => otherMethod(base, method)),
      };
    }
  },
};

function otherMethod(base: Probe, method: string): Probe[] {
  const probe = withRequest(withoutBody(base), { method });
  return [withoutToken(probe), probe, withRequest(base, { method })];
}

function methodsOf({ method }: RouteEntry): readonly string[] {
  return method === 'any' ? HTTP_METHODS : [method].flat();
}

export const pathWidened: Mutator = {
  id: 'path-widened',
  summary: 'the path of a route matches more requests: its last literal becomes a parameter, or it ends with `/**`',
  *find(context) {
    for (const tested of context.routes)
      for (const pattern of widerPatterns(tested.pattern)) {
        const text = formatPattern(pattern);
        yield {
          path: [...tested.path, 'path'],
          message: `"${tested.entry.id}" also matches ${text}`,
          manifest: withValue(context.manifest, [...tested.path, 'path'], text),
          routes: [tested],
          probes: (base) => atPaths(context, pattern, base),
        };
      }
  },
};

/** Returns the patterns that are wider by one segment or by a rest. */
function widerPatterns(pattern: Pattern): Pattern[] {
  const lastLiteral = pattern.findLastIndex(({ kind }) => kind === 'literal');
  const literalOpen =
    lastLiteral === -1 ? [] : [pattern.map((segment, index) => (index === lastLiteral ? ANY_SEGMENT : segment))];
  if (pattern.at(-1)?.kind !== 'rest') return [...literalOpen, [...pattern, REST]];
  return pattern.length === 1 ? [] : [...literalOpen, [...pattern.slice(0, -2), REST]];
}

const REST = { kind: 'rest' } as const;
/** No route of a manifest should have a parameter of this name already. */
const ANY_SEGMENT = { kind: 'parameter', name: 'any_segment' } as const;

function formatPattern(pattern: Pattern): string {
  const texts = pattern.map((segment) =>
    segment.kind === 'literal' ? segment.text : segment.kind === 'parameter' ? `{${segment.name}}` : '**',
  );
  return `/${texts.join('/')}`;
}

function* atPaths({ samplePaths }: MutationContext, pattern: Pattern, base: Probe): Generator<Probe> {
  for (const path of samplePaths(pattern)) {
    const probe = withPath(base, path);
    yield withoutToken(probe);
    yield probe;
  }
}

export const routeRemoved: Mutator = {
  id: 'route-removed',
  summary: 'a route is missing, so that its requests go to a wider route or to none',
  *find({ manifest, routes }) {
    if (routes.length < 2) return;
    for (const tested of routes)
      yield {
        path: tested.path,
        message: `without "${tested.entry.id}" its requests go to a wider route or to none`,
        manifest: withoutValue(manifest, tested.path),
        routes: [tested],
        probes: (base) => [base, withoutToken(base)],
      };
  },
};

export const publicRouteAdded: Mutator = {
  id: 'public-route-added',
  summary: 'a new public route takes requests of a protected route that ends with `/**`',
  *find(context) {
    for (const tested of context.routes) {
      if (tested.entry.access === 'public' || tested.pattern.at(-1)?.kind !== 'rest') continue;
      const methods = methodsOf(tested.entry).filter((method) => method !== 'HEAD' && method !== 'OPTIONS');
      for (const method of methods) yield publicRoute(context, tested, method, 1);
      for (const depth of [2, 3]) yield publicRoute(context, tested, 'any', depth);
    }
  },
};

/** Adds a public route for the paths with `depth` segments below the prefix of a protected route. */
function publicRoute({ manifest }: MutationContext, tested: TestedRoute, method: string, depth: number): Mutant {
  const names = Array.from({ length: depth }, (_, index) => `{any_segment_${index}}`);
  const path = [...formatPattern(tested.pattern.slice(0, -1)).split('/').filter(Boolean), ...names];
  const text = `/${path.join('/')}`;
  const { login: _login, roles: _roles, ...open } = tested.entry;
  const entry = { ...open, id: `public-${tested.entry.id}`, method, path: text, access: 'public' } as RouteEntry;
  const sample = parsePattern(text).map((segment) => (segment.kind === 'literal' ? segment.text : 'x'));
  return {
    path: [...tested.path, 'path'],
    message: `a new public route for ${method === 'any' ? '' : `${method} `}${text} takes requests of "${entry.id.slice(7)}" without a token`,
    manifest: withItems(manifest, ['routes'], entry),
    routes: [tested],
    probes: (base) => {
      const probe = withPath(withoutToken(base), `/${sample.join('/')}`);
      return method === 'any' ? [probe] : otherMethod(probe, method);
    },
  };
}
