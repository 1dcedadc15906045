import { compileInvariants } from '../../../engine/invariants/compile-invariants.ts';
import { proveInvariants } from '../../../engine/invariants/prove.ts';
import type { FindingLocation } from '../../../engine/problem/finding.ts';
import { patternKey } from '../../../engine/routing/pattern.ts';
import { isMap } from '../../../engine/schema/schema-walk.ts';
import type { LintRoute } from '../lint-context.ts';
import { besideRoute, findingAt, findingAtKey, rulesOf } from '../rule.ts';

/** Rules for the names in routes, and for the exceptions of invariants. */
export const ROUTE_RULES = rulesOf('routes', {
  'default-unused': {
    level: ['warning', 'recommended'],
    rationale: 'A reader takes the default for the value of some route, but each one states its own or cannot have it.',
    *find({ document, routes }) {
      const placeOf = (where: FindingLocation) => {
        const { line, column } = document.locate(where);
        return `${document.fileOf(where)}:${line}:${column}`;
      };
      const defaults = [document, ...document.included].flatMap(({ value, file }) => {
        const own = isMap(value) ? value['defaults'] : undefined;
        const keys = isMap(own) ? Object.keys(own) : [];
        return keys.map((key) => ({ path: key === 'body' ? [key, 'maxBytes'] : [key], file }));
      });
      const keys = new Map(defaults.map(({ path }) => [path.join(), path]));
      const used = new Set(
        routes.flatMap((route) =>
          [...keys.values()].map((path) => placeOf({ path: [...route.path, ...path], at: 'value' })),
        ),
      );
      for (const { path, file } of defaults) {
        const at = ['defaults', ...path];
        if (used.has(placeOf({ path: at, at: 'value', file }))) continue;
        const finding = findingAtKey(at, 'no route uses this default; remove it');
        yield { ...finding, location: { ...finding.location, file } };
      }
    },
  },
  'invariant-exception-expired': {
    level: ['warning', 'minimal'],
    rationale: 'Its author planned to remove the exception by this date.',
    *find({ manifest, today }) {
      const invariants = Array.isArray(manifest.invariants) ? manifest.invariants : [];
      for (const [index, { except = [] }] of invariants.entries())
        for (const [position, exception] of except.entries()) {
          if (typeof exception === 'string' || exception.until === undefined || exception.until >= today) continue;
          const path = ['invariants', index, 'except', position, 'until'];
          yield findingAt(path, 'this date has passed; remove the exception, or set a later date');
        }
    },
  },
  'invariant-exception-unused': {
    level: ['warning', 'minimal'],
    rationale: 'The exception would hide a later mistake in this route.',
    *find({ manifest, plan }) {
      const excepting = compileInvariants(manifest, []).filter(({ except }) => except.length > 0);
      const strict = excepting.map((invariant) => ({ ...invariant, except: [] }));
      const proofs = proveInvariants(strict, manifest, plan);
      for (const [index, { path, except }] of excepting.entries()) {
        const { violations = [], undecided = [] } = proofs[index] ?? {};
        const needed = new Set([...violations.map(({ route }) => route.id), ...undecided.map(({ id }) => id)]);
        for (const [position, { route }] of except.entries())
          if (!needed.has(route))
            yield findingAt(
              [...path, 'except', position],
              `"${route}" meets the requirement without this exception; remove it`,
            );
      }
    },
  },
  'redirect-loop': {
    level: ['warning', 'minimal'],
    rationale: 'A browser that is redirected to the route again follows the redirect until it gives up.',
    at: ['redirect', 'to'],
    route: ({ route, pattern }, { plan: { router } }) => {
      const sample = `/${pattern.map((segment) => (segment.kind === 'literal' ? segment.text : 'x')).join('/')}`;
      const location = route.ownResponse?.locationOf?.(sample, '') ?? '';
      const path = location.replace(/[?#].*/s, '');
      const isLoop = location.startsWith('/') && route.methods.some((method) => router.match(method, path) === route);
      return isLoop && 'this route has the new location too; redirect to another path';
    },
  },
  'route-id-number': {
    level: ['info', 'strict'],
    rationale:
      'Logs, metrics and tables identify a route by its id; a number has no meaning there, and shifts when routes are added.',
    at: ['id'],
    route: ({ entry: { id } }) =>
      /^(?:route|r|test|todo|path|endpoint)?-?\d+$|^(?:route|test|todo|foo|bar)$/.test(id) &&
      `the id "${id}" does not describe the route; name its purpose, for example contacts-list`,
  },
  'route-parameter-names': {
    level: ['info', 'strict'],
    rationale: 'Readers take a segment that has different names in two routes for two different parameters.',
    *find({ routes }) {
      const names = new Map<string, { name: string; first: LintRoute }>();
      for (const lintRoute of routes) {
        for (const [index, segment] of lintRoute.pattern.entries()) {
          if (segment.kind !== 'parameter') continue;
          const prefix = patternKey(lintRoute.pattern.slice(0, index + 1));
          const previous = names.get(prefix);
          if (previous === undefined) names.set(prefix, { name: segment.name, first: lintRoute });
          if (previous === undefined || previous.name === segment.name) continue;
          const message = `{${segment.name}} is called {${previous.name}} in the path of "${previous.first.route.id}"; use one name`;
          yield findingAt([...lintRoute.path, 'path'], message, besideRoute(previous.first, 'the other name'));
          break;
        }
      }
    },
  },
});
