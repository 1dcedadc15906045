import { stringify } from 'yaml';
import { createPair } from './certificate.ts';
import { manifestSchema, referredTo, type SchemaNode } from './manifest-schema.ts';

/** Part of every value from the environment, in one letter case, since some places fold it. */
const MARK = 'zq7k';

export interface Fed {
  /** The manifest, and another one of the same variables that means something else nearly everywhere. */
  readonly text: string;
  readonly changed: string;
  readonly env: Readonly<Record<string, string>>;
  /** The texts that stand in no output. */
  readonly sentinels: readonly string[];
  /** The places that are fed, as keys of the manifest: `upstreams.*.url`. */
  readonly places: ReadonlySet<string>;
  /** Files that the manifest names. */
  readonly files: Readonly<Record<string, string>>;
  readonly roles: readonly [string, string];
  readonly claim: string;
  readonly issuer: string;
  readonly audience: string;
  readonly type: string;
}

/** The ways to verify tokens. */
export const WAYS = ['jwks', 'discovery', 'secret', 'introspection', 'userinfo'] as const;

type Way = (typeof WAYS)[number];

/** Addresses of this machine that nothing else has: a host by which an upstream is reached is a sentinel too. */
export const HOST = '127.83.19.7';
export const GONE = '127.83.19.9';

/**
 * A manifest in which everything that can come from the environment does, each from a variable of its own.
 *
 * @param upstream the URL of an upstream on HOST
 */
export function environmentManifest(upstream: string, jwks: string, way: Way = 'jwks'): Fed {
  const env: Record<string, string> = {};
  const sentinels: string[] = [];
  const feed = (make: (mark: string) => string, sentinel?: string): string => {
    const name = `V${Object.keys(env).length + 1}`;
    const mark = `${MARK}${Object.keys(env).length + 1}x`;
    env[name] = make(mark);
    sentinels.push(sentinel ?? mark);
    return `\${${name}}`;
  };
  const word = () => feed((mark) => mark);
  const heldBy = (reference: string) => env[reference.slice(2, -1)] ?? '';
  const header = () => feed((mark) => `X-${mark}`);

  const pem = (ending: string) => feed((mark) => `./${mark}.${ending}`);
  const schemaFile = feed((mark) => `./${mark}.json`);
  const testFile = feed((mark) => `./${mark}.test.yaml`);
  const allow = [word(), word()];
  const claim = feed((mark) => `/${mark}`);
  const issuer = feed((mark) => `https://${mark}.test`);
  const audience = word();
  const type = feed((mark) => `${mark}+jwt`);
  const adminToken = feed((mark) => `${mark}-0123456789abcdef`);
  const words = { title: word(), description: word(), $comment: word(), default: word(), examples: [word()] };
  const schemas = {
    Note: {
      ...words,
      type: 'object',
      required: ['text', word()],
      dependentRequired: { text: [word()] },
      propertyNames: { pattern: feed((mark) => `^(?:${mark}|[a-e]|text|listed|one|other|deep|file)$`) },
      properties: {
        text: { type: 'string', maxLength: 80, pattern: feed((mark) => `^${mark}$`), errorMessage: word() },
        listed: { enum: [word(), 'plain', word()], description: word() },
        one: { const: word() },
        other: { anyOf: [{ const: word() }, { enum: [word()] }] },
        deep: { type: 'array', maxItems: 9, items: { enum: [{ inside: word() }] } },
        file: { $ref: schemaFile },
      },
      additionalProperties: { const: { inside: [word()] } },
    },
  };
  const query = {
    properties: {
      page: { enum: [word()], errorMessage: word() },
      order: { type: 'string', pattern: feed((mark) => `^${mark}`) },
    },
  };
  const multipart = { parts: { file: { types: [feed((mark) => `text/${mark}`)] } } };
  const route = (id: string, method: unknown, path: string, more: object) => ({
    id,
    method,
    path,
    upstream: 'up',
    access: 'public',
    ...more,
  });
  const routes = [
    route('login', 'POST', '/login', { login: { token: [feed((mark) => `/${mark}`)], header: header() } }),
    route('note', 'POST', '/note', { body: { schema: { $ref: '#/schemas/Note' } } }),
    route('told', 'POST', '/told', { validation: 'report', body: { schema: { $ref: '#/schemas/Note' } } }),
    route('asked', 'GET', '/asked/{id}', {
      params: { properties: { id: { const: word() } } },
      query,
      headers: {
        properties: { 'X-Level': { pattern: feed((mark) => `^${mark}$`), description: word() } },
        required: ['X-Level'],
      },
    }),
    route('form', 'POST', '/form', { body: { multipart } }),
    route('table', 'POST', '/table', { body: { csv: { header: [word(), word()] } } }),
    route('typed', 'POST', '/typed', { body: { types: [feed((mark) => `application/${mark}`)] } }),
    route('moved', 'GET', '/moved/{id}', {
      upstreamPath: { replace: '/moved', with: feed((mark) => `/${mark}`) },
      requestHeaders: { set: { 'X-Key': word() }, remove: [header()] },
      responseHeaders: { remove: [header()] },
    }),
    route('socket', 'GET', '/socket', { websocket: { origins: [feed((mark) => `https://${mark}.test`)] } }),
    route('guarded', 'GET', '/guarded', { access: 'protected', roles: [allow[0]] }),
    route('private', 'GET', '/private/{id}', { access: 'protected' }),
    { ...route('gone', 'GET', '/gone', {}), upstream: 'gone' },
    { ...route('nowhere', 'GET', '/nowhere', {}), upstream: 'nowhere' },
    { ...route('secured', 'GET', '/secured', {}), upstream: 'secured' },
  ];
  const tokensOf = (): Tokens => {
    const usual = { issuer, audience, requiredClaims: [word()] };
    const jwt = { ...usual, type, algorithms: [way === 'secret' ? 'HS256' : 'ES256'] };
    const endpoint = { upstream: 'up', path: feed((mark) => `/${mark}`) };
    const client = { clientId: word(), clientSecret: word() };
    if (way === 'jwks') return { jwt: { ...jwt, jwks: feed(() => jwks, new URL(jwks).host) } };
    if (way === 'discovery')
      return { jwt: { ...jwt, discovery: feed(() => `${new URL(jwks).origin}/zq7kdiscovery`, 'zq7kdiscovery') } };
    if (way === 'secret') return { jwt: { ...jwt, secret: feed((mark) => mark.padEnd(40, 'x')) } };
    if (way === 'introspection')
      return { introspection: { ...usual, endpoint: feed((mark) => `${upstream}/${mark}`), ...client } };
    return { userinfo: { endpoint, requiredClaims: usual.requiredClaims } };
  };
  const manifest = {
    version: 1,
    listen: '127.0.0.1:0',
    admin: { listen: '127.0.0.1:0', token: adminToken },
    server: { stopping: { delay: '0s' }, trustedProxies: [feed(() => '127.77.0.0/16', '127.77.0.0')] },
    reload: { selfTest: testFile },
    upstreams: {
      up: {
        url: feed(() => upstream, new URL(upstream).host),
        health: { path: feed((mark) => `/${mark}`), interval: '1s' },
      },
      gone: { url: `http://${feed(() => GONE, GONE)}:9`, breaker: { failures: 1 } },
      nowhere: { urls: [feed((mark) => `http://${mark}.invalid:9`), feed((mark) => `http://${mark}.invalid:9`)] },
      secured: {
        url: feed(() => upstream.replace('http:', 'https:'), new URL(upstream).host),
        tls: { ca: pem('ca'), certificate: pem('pem'), key: pem('key'), serverName: feed((mark) => `${mark}.test`) },
      },
    },
    auth: {
      tokens: tokensOf(),
      role: { claim, allow, message: word() },
      realm: word(),
    },
    cors: { origins: [feed((mark) => `https://${mark}.test`)], headers: [header()], exposedHeaders: [header()] },
    schemas,
    routes,
  };
  const changed = structuredClone(manifest);
  changed.auth.role.allow.pop();
  changed.schemas.Note.properties.listed.enum.pop();
  changed.schemas.Note.required.pop();
  query.properties.page.enum = ['other'];
  Object.assign(changed.routes.find(({ id }) => id === 'asked') ?? {}, { query });
  changed.upstreams.up.url = String(manifest.upstreams.nowhere.urls[0]);
  Object.assign(Object.values(changed.auth.tokens)[0] ?? {}, { requiredClaims: [word()] });
  const { certificate, key } = createPair();
  const tls = manifest.upstreams.secured.tls;
  return {
    text: stringify(manifest, { lineWidth: 0 }),
    changed: stringify(changed, { lineWidth: 0 }),
    env,
    sentinels,
    places: new Set(placesOf(manifest, '')),
    files: {
      [heldBy(tls.ca)]: certificate,
      [heldBy(tls.certificate)]: certificate,
      [heldBy(tls.key)]: key,
      [heldBy(schemaFile)]: '{"type":"string","maxLength":3}',
      [heldBy(testFile)]:
        'version: 1\ncases: [{ name: none, request: { method: GET, url: /none }, expect: { refusal: route_unknown } }]\n',
    },
    roles: [heldBy(allow[0] ?? ''), heldBy(allow[1] ?? '')],
    claim: heldBy(claim).slice(1),
    issuer: heldBy(issuer),
    audience: heldBy(audience),
    type: heldBy(type),
  };
}

type Tokens = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The keys of the schema whose values are texts, so that a variable can stand there: `upstreams.*.url`. */
export function textKeys(): Set<string> {
  const keys = new Set<string>();
  const walk = (written: SchemaNode, path: string): void => {
    const node = { ...referredTo(written), ...written };
    // Times and sizes hold no text: the number that counts is printed.
    const isNumber = /^a (?:duration|size)\b/.test(node.title ?? '');
    if (node.type === 'string' && node.enum === undefined && !isNumber) keys.add(path);
    for (const branch of node.anyOf ?? []) walk(branch, path);
    for (const [name, inside] of Object.entries(node.properties ?? {}))
      walk(inside, path === '' ? name : `${path}.${name}`);
    for (const inside of [node.items, node.additionalProperties])
      if (typeof inside === 'object') walk(inside, `${path}.*`);
  };
  walk(manifestSchema, '');
  return keys;
}

function* placesOf(value: unknown, path: string): Generator<string> {
  if (typeof value === 'string' && value.includes('${')) yield path;
  if (value === null || typeof value !== 'object') return;
  const isNamed =
    /^(?:upstreams|schemas|routes\.\*\.(?:params|query|headers)\.properties|.*\.parts|.*Headers\.set)$/.test(path);
  for (const [key, inside] of Object.entries(value))
    yield* placesOf(inside, path === '' ? key : `${path}.${Array.isArray(value) || isNamed ? '*' : key}`);
}
