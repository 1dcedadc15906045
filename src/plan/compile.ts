import type {
  Auth as AuthEntry,
  Manifest,
  RouteEntry,
  Upstream as UpstreamEntry,
} from '../manifest/manifest.generated.ts';
import type { World } from '../manifest/source.ts';
import { durationMs, sizeBytes } from '../manifest/units.ts';
import { didYouMean, suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding } from '../problem/finding.ts';
import { compileBody } from './body.ts';
import { createSchemaCompiler, type SchemaCompiler } from './json-schema.ts';
import { PatternFault, parsePattern, patternKey } from './pattern.ts';
import type { Address, Auth, LoginRule, Plan, Route, Upstream } from './plan.ts';
import { compilePointer } from './pointer.ts';
import { createRouter } from './router.ts';
import { parseStrictJson } from './strict-json.ts';
import { createJwtVerifier } from './tokens.ts';

const ANY = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'];

export interface CompileOptions {
  readonly hash: string;
  readonly readFile: World['readFile'];
  /** The plan in force: what did not change is taken over from it. */
  readonly previous: Plan | undefined;
  /** What the schema has refused: `routes/3`, `upstreams/contacts`, `auth`; an empty text for a key of the manifest itself. */
  readonly faulty: ReadonlySet<string>;
}

/** A route as written, with what is known of it at first sight. */
interface Written {
  readonly entry: RouteEntry;
  readonly index: number;
  /** Equal for paths that match the same requests; `undefined` when the path is faulty. */
  readonly key: string | undefined;
}

/**
 * Makes the plan of a checked manifest, or tells everything that stands in its way. What is named in `faulty` is
 * passed over, since the schema has told of it already; the rest is looked at, so that all mistakes show at once.
 */
export function compile(manifest: Manifest, options: CompileOptions): { plan?: Plan; findings: Finding[] } {
  const findings: Finding[] = [];
  const { faulty } = options;
  const upstreams = compileUpstreams(manifest, faulty, findings);
  const auth = faulty.has('auth') ? undefined : manifest.auth && compileAuth(manifest.auth, options, findings);
  const schemas = faulty.has('') || faulty.has('schemas') ? undefined : createSchemaCompiler(manifest);
  if (schemas) for (const name of Object.keys(manifest.schemas)) schemas.compile(['schemas', name], findings);
  const addressOf = (key: 'listen' | 'admin') =>
    manifest[key] === undefined || faulty.has(key) ? undefined : compileAddress(manifest[key], key, findings);
  const listen = addressOf('listen');
  const admin = addressOf('admin');
  const written = manifest.routes.flatMap((entry, index) => {
    if (!faulty.has(`routes/${index}`)) return [readRoute(entry, index, findings)];
    glanceAt(entry, index, upstreams, findings);
    return [];
  });
  findTwins(written, findings);
  if (!faulty.has('')) findMissingAuth(manifest, written, findings);
  const heads = new Set(written.filter(({ entry }) => writtenMethods(entry).includes('HEAD')).map(({ key }) => key));
  const routes = written.flatMap((route) => compileRoute(route, { upstreams, schemas, heads }, findings));
  if (findings.length > 0 || faulty.size > 0 || listen === undefined) return { findings };
  const plan = {
    hash: options.hash,
    listen,
    admin,
    upstreams: [...upstreams.values()].filter((upstream) => upstream !== undefined),
    routes,
    router: createRouter(routes),
    auth,
  };
  return { plan: Object.freeze(plan), findings };
}

function compileAddress(text: string, key: string, findings: Finding[]): Address {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(text) ?? [];
  if (Number(port) > 65_535)
    findings.push(errorAt([key], 'address', 'no port is as high as this; write a number from 0 to 65535'));
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** By name; `undefined` for one that the schema has refused. */
type Upstreams = ReadonlyMap<string, Upstream | undefined>;

function compileUpstreams(manifest: Manifest, faulty: CompileOptions['faulty'], findings: Finding[]): Upstreams {
  const entries = Object.entries(faulty.has('upstreams') ? {} : (manifest.upstreams ?? {}));
  return new Map(
    entries.map(([id, entry]) => [
      id,
      faulty.has(`upstreams/${id}`) ? undefined : compileUpstream(id, entry, findings),
    ]),
  );
}

function compileUpstream(id: string, entry: UpstreamEntry, findings: Finding[]): Upstream {
  let url = new URL('http://invalid');
  try {
    url = new URL(entry.url);
  } catch {
    findings.push(
      errorAt(
        ['upstreams', id, 'url'],
        'upstream-url',
        'this is no URL; write scheme, host and port, such as http://127.0.0.1:7001',
      ),
    );
  }
  return Object.freeze({
    id,
    key: JSON.stringify([id, entry]),
    url,
    connectTimeoutMs: durationMs(entry.timeouts.connect),
    responseTimeoutMs: durationMs(entry.timeouts.response),
    idleTimeoutMs: durationMs(entry.timeouts.idle),
  });
}

function compileAuth(entry: AuthEntry, options: CompileOptions, findings: Finding[]): Auth | undefined {
  const roleAt = compilePointer(entry.role.claim);
  const allowed = new Set<unknown>(entry.role.allow);
  const role = {
    allows: ({ claims }: { claims: unknown }) => allowed.has(roleAt(claims)),
    message: entry.role.message,
  };
  const { jwt } = entry.tokens;
  if (jwt === undefined) return undefined;
  try {
    return Object.freeze({
      verifier: createJwtVerifier(jwt, options.readFile, options.previous?.auth?.verifier),
      role,
    });
  } catch (error) {
    const reason =
      error instanceof Error && 'code' in error
        ? `it cannot be read (${String(error.code)})`
        : 'it is no JWKS: an object with a list "keys"';
    const message = `the key file cannot be used: ${reason}; write a URL, or a file by a path relative to the manifest`;
    findings.push(errorAt(['auth', 'tokens', 'jwt', 'jwks'], 'jwks', message));
    return undefined;
  }
}

function readRoute(entry: RouteEntry, index: number, findings: Finding[]): Written {
  try {
    return { entry, index, key: patternKey(parsePattern(entry.path)) };
  } catch (error) {
    if (!(error instanceof PatternFault)) throw error;
    findings.push(errorAt(['routes', index, 'path'], 'path', error.message));
    return { entry, index, key: undefined };
  }
}

/** What can be told of a route that the schema has refused already, so that all of its mistakes show at once. */
function glanceAt(entry: Partial<RouteEntry> | null, index: number, upstreams: Upstreams, findings: Finding[]): void {
  if (typeof entry?.upstream === 'string') findUpstream(entry.upstream, index, upstreams, findings);
  if (typeof entry?.path === 'string') readRoute(entry as RouteEntry, index, findings);
}

function findUpstream(id: string, index: number, upstreams: Upstreams, findings: Finding[]): Upstream | undefined {
  const names = [...upstreams.keys()];
  // A name near to that of a refused upstream may be the right one, and the other the misspelt one.
  const refused = names.filter((name) => upstreams.get(name) === undefined);
  if (upstreams.has(id) || names.length === 0 || didYouMean(id, refused) !== undefined) return upstreams.get(id);
  const sound = names.filter((name) => !refused.includes(name));
  const message = `no upstream is named "${id}"${suggestion(id, sound)}`;
  findings.push(errorAt(['routes', index, 'upstream'], 'upstream-unknown', message));
  return undefined;
}

/** Told once, at the first route that needs it: it is one mistake. */
function findMissingAuth(manifest: Manifest, routes: readonly Written[], findings: Finding[]): void {
  if (manifest.auth !== undefined) return;
  const needy = routes.find(({ entry }) => entry.access === 'protected' || entry.login !== undefined);
  if (needy === undefined) return;
  const path = ['routes', needy.index, needy.entry.login === undefined ? 'access' : 'login'];
  const message = 'this needs "auth", which the manifest does not have; add auth: with tokens and role';
  findings.push(errorAtKey(path, 'auth-missing', message));
}

interface RouteContext {
  readonly upstreams: Upstreams;
  /** `undefined` when the schemas cannot be looked at. */
  readonly schemas: SchemaCompiler | undefined;
  /** The keys of the paths that have a HEAD of their own. */
  readonly heads: ReadonlySet<string | undefined>;
}

function compileRoute({ entry, index, key }: Written, context: RouteContext, findings: Finding[]): Route[] {
  const { upstreams, schemas, heads } = context;
  const path = ['routes', index];
  const upstream = findUpstream(entry.upstream, index, upstreams, findings);
  const methods = methodsOf(entry, heads.has(key));
  if (entry.websocket && !methods.includes('GET')) {
    const message = 'a WebSocket begins with GET, which this route does not take; add GET to "method"';
    findings.push(errorAtKey(['routes', index, 'websocket'], 'websocket', message));
  }
  const body = compileBody(entry, methods, path, schemas, findings);
  const login = entry.login && compileLogin(entry.login);
  if (upstream === undefined) return [];
  const { id, access, websocket } = entry;
  return [Object.freeze({ id, methods, path: entry.path, access, upstream, websocket, login, body })];
}

function compileLogin(entry: NonNullable<RouteEntry['login']>): LoginRule {
  const tokenAt = compilePointer(entry.token);
  return {
    limitBytes: sizeBytes(entry.maxBytes),
    find: (body) => {
      const parsed = parseStrictJson(body);
      return 'fault' in parsed ? undefined : { token: tokenAt(parsed.value) };
    },
  };
}

function writtenMethods(entry: RouteEntry): readonly string[] {
  if (entry.method === 'any') return ANY;
  return typeof entry.method === 'string' ? [entry.method] : entry.method;
}

/** GET answers HEAD (RFC 9110 section 9.3.2), so that no wider route takes the HEAD of a narrower one. */
function methodsOf(entry: RouteEntry, hasHead: boolean): readonly string[] {
  const written = writtenMethods(entry);
  return written.includes('GET') && !hasHead ? [...written, 'HEAD'].sort() : written.toSorted();
}

/** Two routes of one id, and two routes that match the same requests. */
function findTwins(routes: readonly Written[], findings: Finding[]): void {
  const ids = new Map<string, Written>();
  const matches = new Map<string, Written>();
  for (const route of routes) {
    const { entry, index, key } = route;
    const namesake = ids.get(entry.id);
    if (namesake === undefined) ids.set(entry.id, route);
    else
      findings.push(
        duplicate(index, namesake.index, 'id', 'route-id', `another route has the id "${entry.id}"; give each its own`),
      );
    if (key === undefined) continue;
    const requests = writtenMethods(entry).map((method) => `${method} ${key}`);
    const taken = requests.find((request) => matches.has(request));
    const twin = taken === undefined ? undefined : matches.get(taken);
    for (const request of requests) if (!matches.has(request)) matches.set(request, route);
    if (twin === undefined) continue;
    const message = `the route "${twin.entry.id}" already has ${taken?.split(' ')[0]} ${twin.entry.path}; remove one, or change its path or method`;
    findings.push(duplicate(index, twin.index, 'path', 'route-equal', message));
  }
}

function duplicate(index: number, other: number, key: string, rule: string, message: string): Finding {
  return {
    ...errorAt(['routes', index, key], rule, message),
    related: { path: ['routes', other, key], message: 'the other one' },
  };
}
