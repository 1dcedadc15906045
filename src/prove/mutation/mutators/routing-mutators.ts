import { HTTP_METHODS } from '../../../engine/http1/http-methods.ts';
import type { RouteEntry } from '../../../engine/manifest/manifest.generated.ts';
import { type Pattern, parsePattern } from '../../../engine/routing/pattern.ts';
import type { MutationContext, TestedRoute } from '../context.ts';
import { withItems, withoutValue, withValue } from '../edits.ts';
import { inEachRoute, type Mutant, type Mutators, type Probe, type RouteChange } from '../mutant.ts';
import { pathOf, withoutBody, withoutToken, withPath, withRequest } from '../probes.ts';

export const routingMutators: Mutators = {
  'access-public': {
    summary: 'a protected route becomes public',
    find: inEachRoute(function* ({ path, entry }, { manifest }) {
      if (entry.access === 'public') return;
      const open = withValue(manifest, [...path, 'access'], 'public');
      const isGuarded = entry.login !== undefined || entry.roles === undefined;
      yield {
        at: ['access'],
        manifest: isGuarded ? open : withoutValue(open, [...path, 'roles']),
        effect: 'accepts requests without a token',
        probes: (base) => [withoutToken(base)],
      };
    }),
  },
  'public-route-added': {
    summary: 'a new public route takes requests of a protected route that ends with `/**`',
    *find(context) {
      for (const tested of context.routes) {
        if (tested.entry.access === 'public' || tested.pattern.at(-1)?.kind !== 'rest') continue;
        const methods = methodsOf(tested.entry).filter((method) => method !== 'HEAD' && method !== 'OPTIONS');
        for (const method of methods) yield publicRoute(context, tested, method, 1);
        for (const depth of [2, 3]) yield publicRoute(context, tested, 'any', depth);
      }
    },
  },
  'method-added': {
    summary: 'a route accepts one more method',
    find: inEachRoute(function* ({ entry }) {
      const declared = methodsOf(entry);
      for (const method of HTTP_METHODS) {
        if (declared.includes(method) || (method === 'HEAD' && declared.includes('GET'))) continue;
        const effect = `also accepts ${method}`;
        yield { at: ['method'], value: [...declared, method], effect, probes: (base) => otherMethod(base, method) };
      }
    }),
  },
  'method-any': {
    summary: 'a route accepts every method',
    find: inEachRoute(function* ({ entry }) {
      const others = HTTP_METHODS.filter((method) => !methodsOf(entry).includes(method));
      if (others.length === 0) return;
      const probes = (base: Probe) => others.flatMap((method) => otherMethod(base, method));
      yield { at: ['method'], value: 'any', effect: 'accepts every method', probes };
    }),
  },
  'path-widened': {
    summary: 'the path of a route matches more requests: its last literal becomes a parameter, or it ends with `/**`',
    find: inEachRoute(({ pattern }, context) =>
      widerPatterns(pattern).map((wider): RouteChange => {
        const text = formatPattern(wider);
        return {
          at: ['path'],
          value: text,
          effect: `also matches ${text}`,
          probes: (base) => atPaths(context, wider, base),
        };
      }),
    ),
  },
  'route-removed': {
    summary: 'a route is missing, so that its requests go to a wider route or to none',
    find: inEachRoute(function* ({ entry }, { routes }) {
      if (routes.length < 2) return;
      const message = `without "${entry.id}" its requests go to a wider route or to none`;
      yield { at: [], message, probes: (base) => [base, withoutToken(base)] };
    }),
  },
  'encoded-slash-kept': {
    summary: 'a route accepts `%2F` in its path',
    find: inEachRoute(function* (tested) {
      const { path, entry, pattern } = tested;
      if (entry.encodedSlash === 'keep' || pattern.every(({ kind }) => kind === 'literal')) return;
      yield {
        at: ['encodedSlash'],
        value: 'keep',
        path,
        effect: 'accepts an encoded slash in its path',
        probes: (base) => encodedSlashPaths(base, tested).map((other) => withPath(base, other)),
      };
    }),
  },
};

function otherMethod(base: Probe, method: string): Probe[] {
  const probe = withRequest(withoutBody(base), { method });
  return [withoutToken(probe), probe, withRequest(base, { method })];
}

function methodsOf({ method }: RouteEntry): readonly string[] {
  return method === 'any' ? HTTP_METHODS : [method].flat();
}

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
    message: `a new public route for ${method === 'any' ? '' : `${method} `}${text} takes requests of "${tested.entry.id}" without a token`,
    manifest: withItems(manifest, ['routes'], entry),
    routes: [tested],
    probes: (base) => {
      const probe = withPath(withoutToken(base), `/${sample.join('/')}`);
      return method === 'any' ? [probe] : otherMethod(probe, method);
    },
  };
}

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
