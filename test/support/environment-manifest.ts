import { stringify } from 'yaml';
import { createPair } from './certificate.ts';
import { definitionOf, manifestSchema, type SchemaNode } from './manifest-schema.ts';

/** Part of every value from the environment. It is lower-case because some outputs fold the case. */
const MARK = 'zq7k';

export interface EnvironmentManifest {
  /** The text of the manifest. */
  readonly text: string;
  /** A manifest with the same variables that differs in nearly every key. */
  readonly changed: string;
  readonly env: Readonly<Record<string, string>>;
  /** The texts that no output may contain. */
  readonly sentinels: readonly string[];
  /** The keys whose values come from variables: `upstreams.*.url`. */
  readonly substitutedKeys: ReadonlySet<string>;
  /** Files that the manifest names. */
  readonly files: Readonly<Record<string, string>>;
  readonly roles: readonly [string, string];
  readonly claim: string;
  readonly issuer: string;
  readonly audience: string;
  readonly type: string;
}

/** The methods to verify tokens. */
export const TOKEN_METHODS = ['jwks', 'discovery', 'secret', 'introspection', 'userinfo'] as const;

type TokenMethod = (typeof TOKEN_METHODS)[number];

/** Unusual loopback addresses, because the address of an upstream is a sentinel too. */
export const HOST = '127.83.19.7';
export const UNREACHABLE = '127.83.19.9';

/**
 * Creates a manifest in which every value that may come from the environment does, each from its own variable.
 *
 * @param upstream the URL of an upstream on HOST
 */
export function environmentManifest(upstream: string, jwks: string, method: TokenMethod = 'jwks'): EnvironmentManifest {
  const env: Record<string, string> = {};
  const sentinels: string[] = [];
  const variable = (create: (mark: string) => string, sentinel?: string): string => {
    const name = `V${Object.keys(env).length + 1}`;
    const mark = `${MARK}${Object.keys(env).length + 1}x`;
    env[name] = create(mark);
    sentinels.push(sentinel ?? mark);
    return `\${${name}}`;
  };
  const word = () => variable((mark) => mark);
  const variableValue = (reference: string) => env[reference.slice(2, -1)] ?? '';
  const header = () => variable((mark) => `X-${mark}`);

  const pem = (ending: string) => variable((mark) => `./${mark}.${ending}`);
  const schemaFile = variable((mark) => `./${mark}.json`);
  const testFile = variable((mark) => `./${mark}.test.yaml`);
  const allow = [word(), word()];
  const claim = variable((mark) => `/${mark}`);
  const issuer = variable((mark) => `https://${mark}.test`);
  const audience = word();
  const type = variable((mark) => `${mark}+jwt`);
  const adminToken = variable((mark) => `${mark}-0123456789abcdef`);
  const words = { title: word(), description: word(), $comment: word(), default: word(), examples: [word()] };
  const schemas = {
    Note: {
      ...words,
      type: 'object',
      required: ['text', word()],
      dependentRequired: { text: [word()] },
      propertyNames: { pattern: variable((mark) => `^(?:${mark}|[a-e]|text|listed|one|other|deep|file)$`) },
      properties: {
        text: { type: 'string', maxLength: 80, pattern: variable((mark) => `^${mark}$`), errorMessage: word() },
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
      order: { type: 'string', pattern: variable((mark) => `^${mark}`) },
    },
  };
  const multipart = { parts: { file: { types: [variable((mark) => `text/${mark}`)] } } };
  const route = (id: string, method: unknown, path: string, more: object) => ({
    id,
    method,
    path,
    upstream: 'up',
    access: 'public',
    ...more,
  });
  const pointer = () => variable((mark) => `/${mark}`);
  const redisUrl = (scheme = 'redis') => variable((mark) => `${scheme}://${mark}:${mark}@${UNREACHABLE}:9`);
  const redisUrls = () => {
    const first = redisUrl();
    return [first, variable(() => variableValue(first).replace(/9$/, '10'), `${UNREACHABLE}:10`)];
  };
  const secret = () => variable((mark) => `${mark}-0123456789abcdef`);
  const redisCa = pem('ca');
  const stores = {
    single: { redis: redisUrl(), secret: secret() },
    mapped: { redis: { url: redisUrl('rediss'), username: word(), password: word(), ca: redisCa }, secret: secret() },
    sentinels: { redis: { sentinels: redisUrls(), name: word() }, secret: secret() },
    cluster: { redis: { cluster: redisUrls() }, secret: secret() },
  };
  const limit = (key: unknown, more: object = {}) => ({ key, missing: 'skip', allow: '100000 per 1m', ...more });
  const rateLimits = {
    body: limit({ body: pointer() }, { store: 'single' }),
    header: limit({ header: header() }, { store: 'mapped' }),
    claim: limit({ claim: pointer() }, { store: 'sentinels' }),
    bodies: limit([{ body: pointer() }, { header: header() }], { store: 'cluster' }),
    claims: limit([{ claim: pointer() }, 'client']),
    one: { key: 'client', allow: '1 per 24h' },
  };
  const routes = [
    route('login', 'POST', '/login', { login: { token: [variable((mark) => `/${mark}`)], header: header() } }),
    route('note', 'POST', '/note', { body: { schema: { $ref: '#/schemas/Note' } } }),
    route('limited', 'POST', '/limited', {
      rateLimits: ['body', 'header', 'bodies'],
      body: { maxBytes: '1KB', schema: { type: 'object' } },
    }),
    route('once', 'GET', '/once', { rateLimits: ['one'] }),
    route('reported', 'POST', '/reported', { validation: 'report', body: { schema: { $ref: '#/schemas/Note' } } }),
    route('parameters', 'GET', '/parameters/{id}', {
      params: { properties: { id: { const: word() } } },
      query,
      headers: {
        properties: { 'X-Level': { pattern: variable((mark) => `^${mark}$`), description: word() } },
        required: ['X-Level'],
      },
    }),
    route('form', 'POST', '/form', { body: { multipart } }),
    route('table', 'POST', '/table', { body: { csv: { header: [word(), word()] } } }),
    route('typed', 'POST', '/typed', { body: { types: [variable((mark) => `application/${mark}`)] } }),
    route('moved', 'GET', '/moved/{id}', {
      upstreamPath: { replace: '/moved', with: variable((mark) => `/${mark}`) },
      requestHeaders: { set: { 'X-Key': word() }, remove: [header()] },
      responseHeaders: { remove: [header()] },
    }),
    route('socket', 'GET', '/socket', { websocket: { origins: [variable((mark) => `https://${mark}.test`)] } }),
    route('guarded', 'GET', '/guarded', { access: 'protected', roles: [allow[0]] }),
    route('private', 'GET', '/private/{id}', { access: 'protected', rateLimits: ['claim', 'claims'] }),
    { ...route('unreachable', 'GET', '/unreachable', {}), upstream: 'unreachable' },
    { ...route('nowhere', 'GET', '/nowhere', {}), upstream: 'nowhere' },
    { ...route('secured', 'GET', '/secured', {}), upstream: 'secured' },
  ];
  const tokensOf = (): Tokens => {
    const common = { issuer, audience, requiredClaims: [word()] };
    const jwt = { ...common, type, algorithms: [method === 'secret' ? 'HS256' : 'ES256'] };
    const endpoint = { upstream: 'up', path: variable((mark) => `/${mark}`) };
    const client = { clientId: word(), clientSecret: word() };
    if (method === 'jwks') return { jwt: { ...jwt, jwks: variable(() => jwks, new URL(jwks).host) } };
    if (method === 'discovery')
      return { jwt: { ...jwt, discovery: variable(() => `${new URL(jwks).origin}/zq7kdiscovery`, 'zq7kdiscovery') } };
    if (method === 'secret') return { jwt: { ...jwt, secret: variable((mark) => mark.padEnd(40, 'x')) } };
    if (method === 'introspection')
      return { introspection: { ...common, endpoint: variable((mark) => `${upstream}/${mark}`), ...client } };
    return { userinfo: { endpoint, requiredClaims: common.requiredClaims } };
  };
  const manifest = {
    version: 1,
    listen: '127.0.0.1:0',
    admin: { listen: '127.0.0.1:0', token: adminToken },
    server: { stopping: { delay: '0s' }, trustedProxies: [variable(() => '127.77.0.0/16', '127.77.0.0')] },
    reload: { selfTest: testFile },
    upstreams: {
      up: {
        url: variable(() => upstream, new URL(upstream).host),
        host: variable((mark) => `${mark}.test`),
        health: { path: variable((mark) => `/${mark}`), interval: '1s' },
      },
      unreachable: { url: `http://${variable(() => UNREACHABLE, UNREACHABLE)}:9`, breaker: { failures: 1 } },
      nowhere: {
        urls: [variable((mark) => `http://${mark}.invalid:9`), variable((mark) => `http://${mark}.invalid:9`)],
      },
      secured: {
        url: variable(() => upstream.replace('http:', 'https:'), new URL(upstream).host),
        tls: {
          ca: pem('ca'),
          certificate: pem('pem'),
          key: pem('key'),
          serverName: variable((mark) => `${mark}.test`),
        },
      },
    },
    auth: {
      tokens: tokensOf(),
      role: { claim, allow, message: word() },
      realm: word(),
    },
    cors: { origins: [variable((mark) => `https://${mark}.test`)], headers: [header()], exposedHeaders: [header()] },
    log: { replay: true, paths: 'keyed', secret: variable((mark) => mark.padEnd(40, 'x')) },
    stores,
    rateLimits,
    schemas,
    routes,
  };
  const changed = structuredClone(manifest);
  changed.auth.role.allow.pop();
  changed.schemas.Note.properties.listed.enum.pop();
  changed.schemas.Note.required.pop();
  query.properties.page.enum = ['other'];
  Object.assign(changed.routes.find(({ id }) => id === 'parameters') ?? {}, { query });
  changed.upstreams.up.url = String(manifest.upstreams.nowhere.urls[0]);
  Object.assign(Object.values(changed.auth.tokens)[0] ?? {}, { requiredClaims: [word()] });
  const { certificate, key } = createPair();
  const tls = manifest.upstreams.secured.tls;
  return {
    text: stringify(manifest, { lineWidth: 0 }),
    changed: stringify(changed, { lineWidth: 0 }),
    env,
    sentinels,
    substitutedKeys: new Set(substitutedKeysOf(manifest, '')),
    files: {
      [variableValue(tls.ca)]: certificate,
      [variableValue(tls.certificate)]: certificate,
      [variableValue(redisCa)]: certificate,
      [variableValue(tls.key)]: key,
      [variableValue(schemaFile)]: '{"type":"string","maxLength":3}',
      [variableValue(testFile)]:
        'version: 1\ncases: [{ name: none, request: { method: GET, url: /none }, expect: { refusal: route_unknown } }]\n',
    },
    roles: [variableValue(allow[0] ?? ''), variableValue(allow[1] ?? '')],
    claim: variableValue(claim).slice(1),
    issuer: variableValue(issuer),
    audience: variableValue(audience),
    type: variableValue(type),
  };
}

type Tokens = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Returns the keys of the schema whose values are texts, so a variable can supply them: `upstreams.*.url`. */
export function textKeys(): Set<string> {
  const keys = new Set<string>();
  const walk = (child: SchemaNode, path: string): void => {
    const node = { ...definitionOf(child), ...child };
    // Durations, sizes, rates and dates hold no text. Outputs contain the parsed number.
    const isNumber = /^a (?:duration|size|rate|date)\b/.test(node.title ?? '');
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

function* substitutedKeysOf(value: unknown, path: string): Generator<string> {
  if (typeof value === 'string' && value.includes('${')) yield path;
  if (value === null || typeof value !== 'object') return;
  const isNamed =
    /^(?:upstreams|stores|rateLimits|schemas|routes\.\*\.(?:params|query|headers)\.properties|.*\.parts|.*Headers\.set)$/.test(
      path,
    );
  for (const [key, inside] of Object.entries(value))
    yield* substitutedKeysOf(inside, path === '' ? key : `${path}.${Array.isArray(value) || isNamed ? '*' : key}`);
}
