import { HTTP_METHODS } from '../http1/http-methods.ts';
import type { Invariant as InvariantEntry, Manifest, Requirement } from '../manifest/manifest.generated.ts';
import { suggestion } from '../problem/did-you-mean.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import { readPattern } from '../routing/pattern.ts';
import { tokenEntries } from '../tokens/token-entries.ts';

/** A rule about all requests: each one that meets the condition goes to a route that fulfils the requirement. */
export interface Invariant {
  readonly id: string;
  /** Its place in the manifest: `['invariants', 3]`. */
  readonly path: Path;
  readonly when: Condition;
  readonly except: readonly Exception[];
  readonly require: Requirement;
  readonly why: string | undefined;
}

/** The requests that an invariant is about. `undefined` means any. */
export type Condition = Readonly<ReturnType<typeof compileCondition>>;

/** A route whose requests need not fulfil the requirement. */
export interface Exception {
  readonly route: string;
  /** `undefined` if the reason is that of the invariant. */
  readonly reason: string | undefined;
  /** The last day, such as `2027-01-31`. */
  readonly until: string | undefined;
}

/** Compiles the invariants of a manifest. Reports names that the manifest does not have, and paths that are not valid. */
export function compileInvariants(manifest: Manifest, findings: Finding[]): Invariant[] {
  const entries = Array.isArray(manifest.invariants) ? manifest.invariants : [];
  const names = namesOf(manifest);
  const ids = new Map<string, number>();
  return entries.map((entry, index) => {
    const path = ['invariants', index];
    const other = ids.get(entry.id);
    if (other === undefined) ids.set(entry.id, index);
    else findings.push(errorAt([...path, 'id'], RULE, `another invariant has the id "${entry.id}"; rename one`));
    for (const [kind, name, at] of namesIn(entry)) {
      if (names[kind].includes(name)) continue;
      // The names of roles may come from the environment.
      const near = kind === 'roles' ? '' : suggestion(name, names[kind]);
      const message = `the manifest has no ${LABELS[kind]} "${name}"${near}`;
      findings.push(errorAt([...path, ...at], 'invariant-unknown', message));
    }
    return {
      id: entry.id,
      path,
      when: compileCondition(entry.when, path, findings),
      except: compileExceptions(entry, path, findings),
      require: entry.require,
      why: entry.why,
    };
  });
}

const RULE = 'invariant';

type Names = ReturnType<typeof namesOf>;

const LABELS: Readonly<Record<keyof Names, string>> = {
  routes: 'route',
  upstreams: 'upstream',
  roles: 'role',
  issuers: 'token method',
  rateLimits: 'rate limit',
};

function namesOf({ routes, upstreams, auth, rateLimits }: Manifest) {
  return {
    routes: routes.map(({ id }) => id),
    upstreams: Object.keys(upstreams),
    roles: tokenEntries(auth).flatMap(({ allow }) => allow),
    issuers: tokenEntries(auth).flatMap(({ name }) => name ?? []),
    rateLimits: Object.keys(rateLimits),
  };
}

/** Yields the names in an invariant of other parts of the manifest, each with its place in the invariant. */
function* namesIn({ when, require, except = [] }: InvariantEntry): Generator<readonly [keyof Names, string, Path]> {
  const { roles, issuers, rateLimit, upstream } = require;
  const lists = [
    ['issuers', issuers?.only, ['require', 'issuers', 'only']],
    ['upstreams', upstream?.only, ['require', 'upstream', 'only']],
    ['rateLimits', Array.isArray(rateLimit) ? rateLimit : undefined, ['require', 'rateLimit']],
    ['roles', roles?.only, ['require', 'roles', 'only']],
    ['roles', roles?.atLeast, ['require', 'roles', 'atLeast']],
    ['upstreams', when.upstream, ['when', 'upstream']],
    ['issuers', when.issuer, ['when', 'issuer']],
  ] as const;
  for (const [kind, written, at] of lists)
    for (const [index, name] of (listOf(written) ?? []).entries())
      yield [kind, name, Array.isArray(written) ? [...at, index] : at];
  for (const [index, exception] of except.entries())
    if (typeof exception === 'string') yield ['routes', exception, ['except', index]];
    else yield ['routes', exception.route, ['except', index, 'route']];
}

function compileCondition(when: InvariantEntry['when'], path: Path, findings: Finding[]) {
  const patterns = listOf(when.path)?.map((text, index) => {
    const at = [...path, 'when', 'path', ...(Array.isArray(when.path) ? [index] : [])];
    return readPattern(text, (message) => findings.push(errorAt(at, RULE, message)));
  });
  return {
    patterns: patterns?.filter((pattern) => pattern !== undefined),
    methods: methodsOf(when.method),
    upstreams: listOf(when.upstream),
    access: when.access,
    /** The methods of `auth.tokens` that accept the token of the request. */
    issuers: listOf(when.issuer),
  };
}

/** GET includes HEAD, as in routes. */
function methodsOf(method: InvariantEntry['when']['method']): readonly string[] | undefined {
  const written: readonly string[] | undefined = listOf(method);
  if (written === undefined) return undefined;
  return HTTP_METHODS.filter((one) => written.includes(one) || (one === 'HEAD' && written.includes('GET')));
}

function compileExceptions(entry: InvariantEntry, path: Path, findings: Finding[]): Exception[] {
  return (entry.except ?? []).map((exception, index) => {
    if (typeof exception !== 'string') {
      const { route, reason, until } = exception;
      return { route, reason, until };
    }
    if (entry.why === undefined) {
      const message = 'an exception needs a reason; add "why" to the invariant, or write { route, reason }';
      findings.push(errorAt([...path, 'except', index], RULE, message));
    }
    return { route: exception, reason: undefined, until: undefined };
  });
}

function listOf<Value extends string>(value: Value | Value[] | undefined): Value[] | undefined {
  return typeof value === 'string' ? [value] : value;
}
