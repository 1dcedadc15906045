import { TOKEN_ERRORS } from '../../engine/gateway/response/refusal.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { madeRequest } from '../../prove/mutation/base-requests.ts';
import { isPlainSegment, type MutationContext, type TestedRoute } from '../../prove/mutation/context.ts';
import { withKey } from '../../prove/mutation/limited-requests.ts';
import type { Probe } from '../../prove/mutation/mutant.ts';
import { withHeader, withoutBody, withRequest, withRole } from '../../prove/mutation/probes.ts';
import { HANDSHAKE } from '../../prove/offline/request-bytes.ts';
import type { TestFile } from '../../prove/testing/test-file.generated.ts';
import type { Observation } from './observe-requests.ts';

/** Everything that the search for a test case needs. */
export interface RecordContext {
  readonly context: MutationContext;
  readonly tokens: RecordTokens;
  /** Returns the paths of a route to try, the best first. */
  readonly pathsOf: (tested: TestedRoute) => readonly string[];
  /** The first path of the log that no route has. */
  readonly unknownPath: string;
}

/** Yields requests that the route forwards, with the method and the role of the observed ones. The simplest are first. */
export function* baseProbes(
  { tested, method, role, issuer, isHandshake }: Observation & { readonly tested: TestedRoute },
  { context, pathsOf }: RecordContext,
): Generator<Probe> {
  const { router } = context.plan;
  const { body } = tested.route;
  const hasBodyRule = (body?.types ?? body?.validate ?? body?.streamValidatorFor) !== undefined;
  for (const path of pathsOf(tested).filter((candidate) => router.match(method, candidate) === tested.route)) {
    const made = madeRequest(context, tested, { method, path, role, issuer });
    const variants = hasBodyRule ? [made, withoutBody(made)] : [withoutBody(made), made];
    for (const probe of [...variants, ...withLimitKeys(made, tested, context)])
      yield isHandshake ? asHandshake(probe) : probe;
  }
}

function asHandshake(probe: Probe): Probe {
  const empty = withoutBody(probe);
  return withRequest(empty, { headers: { ...empty.request.headers, ...HANDSHAKE } });
}

/** Yields the request with the keys of the rate limits of its route, with valid values where the route has schemas for them. */
export function* withLimitKeys(made: Probe, tested: TestedRoute, context: MutationContext): Generator<Probe> {
  const limits = (tested.entry.rateLimits ?? []).flatMap((id) => context.manifest.rateLimits[id] ?? []);
  const keyed = limits.reduce((probe, limit) => withKey(probe, limit, context.manifest), made);
  if (keyed === made) return;
  const valid = withValidHeaders(keyed, tested, context);
  const { body, role, issuer } = made.request;
  // A key of a claim replaces the role, although the claim may be that of the role.
  if (role !== undefined && valid.request.role === undefined) yield withRole(valid, role, issuer);
  if (body !== undefined && body !== valid.request.body) yield withRequest(valid, { body });
  yield valid;
}

function withValidHeaders(probe: Probe, { path, entry }: TestedRoute, context: MutationContext): Probe {
  return Object.keys(entry.headers?.properties ?? {}).reduce((changed, name) => {
    if (!Object.keys(changed.request.headers).some((other) => other.toLowerCase() === name.toLowerCase()))
      return changed;
    const [text] = context.validTexts([...path, 'headers', 'properties', name]);
    return text === undefined ? changed : withHeader(changed, name, text);
  }, probe);
}

type RecordTokens = ReturnType<typeof createRecordTokens>;

/** Returns the tokens that recorded test cases can use, by their text. @param otherRole a role that the manifest does not allow */
export function createRecordTokens({ auth }: Plan, otherRole: string) {
  const permissions = auth?.role.permissions ?? [];
  const issuers = new Set(permissions.length === 0 ? [undefined] : permissions.map(([issuer]) => issuer));
  const byCaller = new Map<string, string>();
  const tokens: TestFile['tokens'] = {};
  for (const [issuer, role] of [...permissions, ...[...issuers].map((one) => [one, otherRole] as const)]) {
    const name = [issuer ?? [], role]
      .flat()
      .join('-')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-');
    const text = `token-of-${name}`;
    const distinct = text in tokens ? `${text}-${byCaller.size}` : text;
    tokens[distinct] = { role, ...(issuer !== undefined && { issuer }) };
    byCaller.set(callerKey(role, issuer), distinct);
  }
  const errors = TOKEN_ERRORS.map((error) => [errorText(error), { error }] as const);
  return {
    all: { ...tokens, ...Object.fromEntries(errors) } satisfies TestFile['tokens'],
    ofRole: (role: string, issuer: string | undefined) => byCaller.get(callerKey(role, issuer)) ?? '',
    /** Returns `undefined` if no token of a test file is invalid for this reason. */
    ofError: (reason: string) => (TOKEN_ERRORS.some((error) => error === reason) ? errorText(reason) : undefined),
  };
}

const callerKey = (role: string, issuer: string | undefined) => JSON.stringify([issuer, role]);

function errorText(error: string): string {
  return `token-with-${error.replaceAll('_', '-')}`;
}

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
