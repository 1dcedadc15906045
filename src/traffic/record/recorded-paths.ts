import type { MutationContext, TestedRoute } from '../../prove/mutation/mutant.ts';
import { isPlainSegment } from '../../prove/mutation/probes.ts';
import type { Observation } from './observe-requests.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const SURROGATE_UUID = '00000000-0000-4000-8000-000000000001';
/** A word of an API. Anything else may identify a person or be a secret. */
const WORD = /^[a-z]{2,16}(?:-[a-z]{2,16}){0,3}$/;
/** A longer path would only repeat a parameter. */
const MAX_SEGMENTS = 12;
/** The number of different paths of a route to try. */
const MAX_PATHS = 8;

/** Returns paths for the test cases of a route, those of the log first. Identifiers are replaced by short ones of the same shape. */
export function recordedPaths(observations: readonly Observation[], tested: TestedRoute, context: MutationContext) {
  const paths = new Set<string>();
  for (const { path, isMatched } of observations) {
    if (paths.size === MAX_PATHS) break;
    if (path !== undefined && isMatched) paths.add(surrogatePath(path, tested));
  }
  return [...paths, ...context.samplePaths(tested.pattern)];
}

function surrogatePath(path: string, { pattern, route }: TestedRoute): string {
  const texts = path.slice(1).replace(/\/$/, '').split('/').slice(0, MAX_SEGMENTS);
  const hasRest = pattern.at(-1)?.kind === 'rest';
  const fixed = hasRest ? pattern.length - 1 : pattern.length;
  const start = pattern.slice(0, fixed).map((segment, index) => {
    if (segment.kind === 'literal') return segment.text;
    return surrogateOf(texts[index] ?? '', segment.kind === 'parameter' ? segment.name : 'x');
  });
  // The path of a public route may be its only secret.
  const isKept = (text: string) => route.access === 'protected' && WORD.test(text);
  const rest = hasRest ? texts.slice(fixed).map((text) => (isKept(text) ? text : surrogateOf(text, 'x'))) : [];
  return `/${[...start, ...rest].join('/')}`;
}

/** Returns a short identifier of the same shape. @param name of the parameter, in place of other texts */
function surrogateOf(text: string, name: string): string {
  if (UUID.test(text)) return SURROGATE_UUID;
  if (/^\d+$/.test(text)) return '1';
  const [, extension] = /\.(csv|gif|html|jpe?g|json|pdf|png|txt|xml|zip)$/.exec(text) ?? [];
  const plain = isPlainSegment(name) ? name : 'x';
  return extension === undefined ? plain : `${plain}.${extension}`;
}

/** Returns a path that no route has, with the literal segments of routes that the logged path has. */
export function unknownPath(path: string, { routes, plan, samplePaths }: MutationContext): string | undefined {
  const literals = new Set(
    routes.flatMap(({ pattern }) => pattern.flatMap((segment) => (segment.kind === 'literal' ? [segment.text] : []))),
  );
  const [unknown = '/x'] = samplePaths([{ kind: 'parameter', name: 'x' }]);
  const texts = path.slice(1).split('/').slice(0, MAX_SEGMENTS);
  const likely = `/${texts.map((text) => (literals.has(text) ? text : unknown.slice(1))).join('/')}`;
  const others = Array.from({ length: MAX_SEGMENTS }, (_, index) => unknown.repeat(index + 1));
  return [likely, ...others, '/', ...otherSpellings(routes, samplePaths)].find(
    (candidate) => plan.router.allowedMethods(candidate).length === 0,
  );
}

/** Returns paths of routes in upper case. If another route matches such a path too, it has two readings, and no route receives it. */
export function otherSpellings(routes: readonly TestedRoute[], samplePaths: MutationContext['samplePaths']): string[] {
  return routes
    .slice(0, MAX_ROUTES)
    .flatMap(({ pattern }) => [...samplePaths(pattern)].map((path) => path.toUpperCase()));
}

const MAX_ROUTES = 30;
