import type { Random } from '../diff/rewrites.ts';

export type Json = Record<string, unknown>;

/** A request in a form that can be shrunk: plain values, without functions. */
export interface CaseRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The token: none, a text that is not valid, or claims. */
  readonly caller: 'none' | 'invalid' | { readonly claims: Json; readonly issuer?: string };
  /** The name of one of `BODIES`. */
  readonly body?: string;
  readonly isChunked?: boolean;
}

/** True for a request that a client can send. A shrunk one may lack members. */
export function isWholeRequest(request: Partial<CaseRequest>): request is CaseRequest {
  const { method = '', target = '', headers = [], caller = '' } = request;
  const hasHost = headers.some(([name, value]) => name === 'Host' && /\.example(?::80)?$/.test(value ?? ''));
  const isCaller = typeof caller === 'object' ? caller.claims !== undefined : ['none', 'invalid'].includes(caller);
  const areLines = headers.every((line) => line.length === 2 && line[0] !== '');
  return hasHost && areLines && isCaller && [...METHODS, 'TRACE'].includes(method) && /^(?:\*$|\/|http:)/.test(target);
}

/** Creates the same numbers in every run. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

export const BODIES: Readonly<Record<string, string>> = {
  one: '{"a":1}',
  ten: '{"a":10,"b":"xy"}',
  list: '[1]',
  broken: '{"a":1,"a":2}',
  empty: '',
  rows: 'a,b\r\n1,2\r\n',
  others: 'b;a\r\n',
  form: '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
  wrongForm: '--x\r\nContent-Disposition: form-data; name="b"\r\n\r\n1\r\n--x--\r\n',
  exact: `{"a":1,"c":"${'x'.repeat(50)}"}`,
  long: `{"a":1,"c":"${'x'.repeat(100)}"}`,
  longer: `{"a":1,"c":"${'x'.repeat(1_100)}"}`,
};

const SMALL = { type: 'object', required: ['a'], properties: { a: { type: 'integer', maximum: 9 } } };
const BODY_RULES: readonly Json[] = [
  { maxBytes: '64B' },
  { schema: SMALL, maxBytes: '1KB' },
  { schema: { $ref: '#/schemas/Shared' }, types: ['application/merge-patch+json'] },
  { types: ['text/*'] },
  { types: ['application/json', 'text/csv'], maxBytes: '100B' },
  { csv: { header: ['a', 'b'] } },
  { multipart: { parts: { a: { maxBytes: '1KB', required: true } } } },
  { csv: { header: ['a', 'b'] }, types: ['text/csv', 'application/json'] },
];
const QUERIES: readonly Json[] = [
  { properties: { page: { type: 'integer', minimum: 1 } } },
  { properties: { page: { type: 'integer' }, q: {} }, unknown: 'refuse', repeated: 'refuse' },
  { properties: { page: { type: 'integer' }, q: {} }, repeated: ['q'], required: ['q'] },
  { unknown: 'refuse' },
];
const HEADERS: readonly Json[] = [
  { properties: { 'X-Tenant': { enum: ['one', 'two'] } } },
  { properties: { 'X-Tenant': { maxLength: 3 } }, required: ['X-Tenant'] },
];
/** Literals that differ only in letter case hide routes from each other. */
const FEW_TEXTS = ['a', 'A', 'b', 'B'];
const TEXTS = ['a', 'b', 'A', 'x.y', 'Admin', '%C3%A9', 'a%20b'];
/** Segments of requests: texts of routes, other spellings of them, and ambiguous ones. */
const SEGMENTS = [
  ...['a', 'a', 'b', 'A', 'B', 'x.y', 'Admin', 'admin', 'ADMIN', '7', 'x', '%C3%A9', '%c3%89', '%C3%A9', 'a%20b'],
  ...[
    'a;p',
    'A;p',
    'a.',
    'A..',
    'a%20',
    '%20a',
    'b%3Bx',
    'a%3Fx',
    'b%23',
    '%3Fx',
    '...',
    '...;p',
    '%E2%80%8B',
    'a%2Fb',
    'A%2fb',
  ],
  ...[
    '%EF%BD%81',
    'x%E2%80%8D.y',
    '..',
    '.',
    '%2e',
    '%61',
    '%41',
    '',
    'a%5Cb',
    'a%252Fb',
    '..;x',
    ';',
    'a%00',
    '%zz',
    '%C3',
    '%C2%85',
    '..%3F',
    'a|b',
    '*',
  ],
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'];
const ORIGINS = ['https://app.example', 'https://other.example', 'http://one.example', 'null'];

type Lines = [name: string, value: string][];

/** Creates manifests and requests over small alphabets, so that routes overlap and most checks matter. */
export class RandomCases {
  readonly #random: Random;
  readonly #subjects: readonly unknown[];
  readonly #hasFewTexts: boolean;
  #texts: readonly string[] = [...TEXTS.slice(0, 4), ...TEXTS];

  /**
   * @param options.hasAnySubject true if `sub` may be of any type, which verifiers of tokens refuse
   * @param options.hasFewTexts true if some manifests have only literals that differ in letter case
   */
  constructor(random: Random, { hasAnySubject = true, hasFewTexts = false } = {}) {
    this.#random = random;
    this.#hasFewTexts = hasFewTexts;
    this.#subjects = hasAnySubject ? ['Zoë 50%', 42, '', null, {}, true] : ['Zoë 50%'];
  }

  manifest(): Json {
    const issuers = this.#one<readonly string[]>([], [], ['one'], ['one', 'two'], ['one', 'two', 'three']);
    if (this.#hasFewTexts) this.#texts = this.#one([...TEXTS.slice(0, 4), ...TEXTS], FEW_TEXTS);
    const routes: Json[] = [];
    const count = 1 + this.#random(6);
    for (let index = 0; index < count; index += 1) routes.push(this.#route(index, issuers));
    if (this.#random(4) === 0) routes.push(...this.#twin(this.#one(...routes)));
    const jwt = (issuer: string) => ({ jwks: 'https://k.example/keys', algorithms: ['ES256'], issuer, audience: 'a' });
    const tokens =
      issuers.length === 0
        ? { jwt: jwt('i') }
        : issuers.map((name) => ({ name, jwt: jwt(name), ...this.#maybe(3, { role: this.#role() }) }));
    return {
      version: 1,
      upstreams: {
        up: { url: 'http://127.0.0.1:9', ...this.#maybe(5, { host: this.#one('upstream', 'fixed.example') }) },
        two: { url: 'http://127.0.0.1:8' },
      },
      auth: {
        tokens,
        role: this.#role(),
        ...this.#maybe(4, {
          forward: this.#one<Json>({ 'X-Account': '/sub' }, { 'X-Account': { claim: '/list', missing: 'omit' } }),
        }),
      },
      schemas: { Shared: { type: 'object', required: ['b'], properties: { b: { type: 'string', minLength: 2 } } } },
      ...this.#maybe(4, {
        cors: this.#one<Json>(
          { origins: ['https://app.example'], credentials: true },
          { origins: ['*'], methods: ['GET'] },
        ),
      }),
      ...this.#maybe(5, {
        server: this.#one<Json>(
          { trustedProxies: ['127.0.0.1'] },
          { limits: { headers: 5 } },
          { via: 'me', responseHeaders: { 'X-Frame-Options': 'DENY' } },
        ),
      }),
      routes,
    };
  }

  /** Returns the manifest after one or two changes. It may have errors. */
  changed(manifest: Json): Json {
    const other = this.manifest();
    const routes = [...(manifest['routes'] as Json[])];
    let top: Json = {};
    for (let count = 1 + this.#random(2); count > 0; count -= 1) {
      const index = this.#random(routes.length);
      const another = this.#one(...(other['routes'] as Json[]));
      const change = this.#random(8);
      if (change === 0) routes.splice(index, 1);
      else if (change === 1) routes.push({ ...another, id: 'added' });
      else if (change === 2) top = { ...top, ...this.#member(other, 'auth', 'cors', 'server', 'upstreams') };
      else {
        const { id: _id, ...members } = { ...routes[index], ...another };
        routes[index] = { ...routes[index], ...this.#member(another, ...Object.keys(members)) };
      }
    }
    return JSON.parse(JSON.stringify({ ...manifest, ...top, routes }));
  }

  request({ routes, auth }: Json): CaseRequest {
    const method = this.#one('GET', 'GET', 'GET', 'POST', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE');
    const body: { body?: string } =
      method === 'GET' || method === 'HEAD'
        ? this.#maybe(8, { body: 'one' })
        : this.#maybe(2, { body: this.#one(...Object.keys(BODIES)) }, method === 'OPTIONS' ? 1 : 2);
    const headers: [string, string][] = [
      ['Host', this.#one('one.example', 'one.example', 'One.example:80', 'two.example')],
    ];
    if ('body' in body || this.#random(4) === 0) headers.push(...this.#type());
    for (let count = this.#random(3); count > 0; count -= 1) headers.push(...this.#header());
    if (method === 'GET' && this.#random(4) === 0) headers.push(...this.#handshake());
    if (method === 'OPTIONS' && this.#random(2) === 0) headers.push(...this.#preflight());
    return {
      method,
      target: this.#target(routes as Json[]),
      headers,
      caller: this.#caller((auth as Json)['tokens']),
      ...body,
      ...('body' in body && this.#maybe(4, { isChunked: true })),
    };
  }

  #one<T>(...values: readonly T[]): T {
    return values[this.#random(values.length)] as T;
  }

  /** Returns the value in `share` of `of` cases, otherwise nothing. */
  #maybe(of: number, value: Json, share = 1): Json {
    return this.#random(of) < share ? value : {};
  }

  /** Returns one of the members of a value, which is `undefined` if that has none. */
  #member(value: Json, ...names: readonly string[]): Json {
    const name = this.#one(...names);
    return { [name]: value[name] };
  }

  #role(): unknown {
    const allow = this.#one(['admin', 'user'], ['admin'], ['user', 'guest', 'admin']);
    const form = this.#one<Json>({}, {}, { array: true }, { format: 'words' });
    return this.#random(6) === 0 ? 'any' : { claim: this.#one('/role', '/roles'), allow, message: 'no', ...form };
  }

  #path(): string {
    const parts: string[] = [];
    for (let count = this.#random(4); count > 0; count -= 1)
      parts.push(this.#random(5) < 3 ? this.#one(...this.#texts) : `{p${parts.length}}`);
    if (this.#random(3) === 0) parts.push('**');
    return `/${parts.join('/')}`;
  }

  #route(index: number, issuers: readonly string[]): Json {
    const path = this.#path();
    const method = this.#one<unknown>(
      'GET',
      'GET',
      'POST',
      'any',
      'any',
      ['PUT', 'DELETE'],
      ['GET', 'POST'],
      'OPTIONS',
      'HEAD',
    );
    const access = this.#one('public', 'protected');
    const hasBody = !['GET', 'HEAD'].includes(method as string);
    const common = {
      id: `r${index}`,
      method,
      path,
      access,
      ...(access === 'protected' && {
        ...this.#maybe(3, { roles: this.#one<unknown>(['admin'], ['user'], 'any', ['admin', 'user']) }),
        ...(issuers.length > 0 &&
          this.#maybe(3, {
            issuers: [
              issuers[this.#random(issuers.length)],
              ...(this.#random(2) === 0 ? issuers.slice(-1) : []),
            ].filter((name, at, all) => all.indexOf(name) === at),
          })),
      }),
      ...this.#maybe(6, { query: this.#one(...QUERIES) }),
      ...this.#maybe(8, { headers: this.#one(...HEADERS) }),
      ...(path.includes('{p0}') &&
        this.#maybe(5, { params: { properties: { p0: this.#one<Json>({ maxLength: 1 }, { type: 'integer' }) } } })),
      ...this.#maybe(5, { validation: 'report' }),
      ...this.#maybe(4, { encodedSlash: 'keep' }),
      ...this.#maybe(8, { responseHeaders: { set: { 'X-Out': '1' }, remove: ['X-Frame-Options', 'X-Own'] } }),
    };
    const own = this.#random(8);
    if (own === 0) {
      const { encodedSlash: _slash, ...rest } = common as Json;
      return {
        ...rest,
        respond: this.#one<Json>(
          { status: 410, body: 'ended' },
          { headers: { 'X-Own': '1', 'cache-control': 'max-age=1' } },
        ),
      };
    }
    if (own === 1) {
      const { encodedSlash: _slash, ...rest } = common as Json;
      const name = path.includes('{p0}') ? '{p0}' : 'x';
      const end = path.endsWith('**') ? '{rest}' : 'x';
      return {
        ...rest,
        redirect: this.#one<Json>(
          { to: `/v2/${name}/${end}`, query: 'keep' },
          { to: `/${end}/x?a=${name}`, status: 303 },
          { to: `https://o.example/${end}#${name}`, status: 302 },
        ),
      };
    }
    const first = path.split('/')[1] ?? '';
    const isText = TEXTS.includes(first);
    const hasLogin = this.#random(10) === 0;
    return {
      ...common,
      upstream: this.#one('up', 'up', 'two'),
      ...(hasLogin && {
        login: this.#one<Json>(
          { token: '/token' },
          { header: 'X-Token' },
          issuers.length > 0 ? { token: '/token', issuer: issuers.at(-1) } : {},
        ),
      }),
      ...(hasLogin && access === 'public' && this.#maybe(3, { roles: ['admin'] })),
      ...(hasBody && this.#maybe(3, { body: this.#one(...BODY_RULES) })),
      ...(!hasLogin &&
        ['GET', 'any'].includes(method as string) &&
        this.#maybe(3, {
          websocket: this.#one<unknown>(true, { origins: ['https://app.example'] }, { origins: ['*'] }),
        })),
      ...(isText &&
        this.#maybe(4, {
          upstreamPath: this.#one<Json>(
            { replace: `/${first}`, with: '/' },
            { replace: `/${first}`, with: '/v2' },
            { replace: '/', with: '/v2' },
          ),
        })),
      ...this.#maybe(5, {
        requestHeaders: this.#one<Json>(
          { set: { 'X-Platform': 'signing' }, remove: ['X-Debug'] },
          { keep: ['X-HTTP-Method-Override', 'X-Real-IP'] },
        ),
      }),
      ...(access === 'protected' &&
        this.#maybe(6, { forward: this.#one<unknown>(false, { 'X-Mail': '/mail' }, { 'X-Account': false }) })),
    };
  }

  /** Returns a route whose path differs only in letter case, and one behind both. */
  #twin({ path, method }: Json): Json[] {
    if (!/\/[a-z]/i.test(String(path))) return [];
    const access = () => this.#one('public', 'protected');
    const swapped = (text: string) => (text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase());
    return [
      { id: 'twin', method, path: String(path).replace(/(?<=\/)[a-z]/i, swapped), access: access(), upstream: 'two' },
      {
        id: 'behind',
        method: 'any',
        path: String(path).replace(/(?<=\/)[a-z][^/]*/i, '{first}'),
        access: access(),
        upstream: 'up',
      },
    ];
  }

  #target(routes: readonly Json[]): string {
    const query =
      this.#random(3) === 0
        ? this.#one(
            '?',
            '?page=1',
            '?page=x',
            '?page=1&page=2',
            '?q=1',
            '?PAGE=1&q=2',
            '?pa%67e=7&q',
            '?q=%zz&p;age=1',
            '??"<>',
            '?other=1',
            '?q=1&Q=2',
          )
        : '';
    const odd = this.#random(60);
    if (odd === 0) return '*';
    if (odd < 3) return ['', 'http://one.example/a', 'http://two.example:80'][odd] + query;
    const parts =
      this.#random(4) === 0 ? [] : String(routes[this.#random(routes.length)]?.['path']).split('/').slice(1);
    // Now and then a path has as many segments of two readings as the gateway accepts, or more.
    const length = this.#random(40) === 0 ? 4 + this.#random(4) : this.#random(3);
    const rest = () =>
      Array.from({ length }, () => (length > 3 ? this.#one('A;p', 'B', '...') : this.#one(...SEGMENTS)));
    const texts = parts.flatMap((part) => {
      if (part === '**') return rest();
      if (part.startsWith('{')) return [this.#random(2) === 0 ? this.#one('7', 'x', 'a', 'b') : this.#one(...SEGMENTS)];
      return [this.#random(5) === 0 ? this.#respelled(part) : part];
    });
    if (parts.length === 0) texts.push(...rest(), ...rest());
    return `/${texts.join('/')}${this.#random(8) === 0 ? '/' : ''}${query}`;
  }

  #respelled(text: string): string {
    const spelled = this.#random(2) === 0 ? text.toUpperCase() : text.toLowerCase();
    return this.#one(
      spelled,
      `${spelled};p`,
      `${spelled}.`,
      `${spelled}%20`,
      `${spelled}%3Fx`,
      `${spelled}%2Fb`,
      `%E2%80%8B${text}`,
      this.#one(...SEGMENTS),
    );
  }

  #type(): Lines {
    return this.#one<Lines>(
      [['Content-Type', 'application/json']],
      [['Content-Type', 'application/json']],
      [['content-type', 'Application/JSON; charset=UTF-8']],
      [['Content-Type', 'application/merge-patch+json']],
      [['Content-Type', 'text/csv']],
      [['Content-Type', 'text/csv; header=present']],
      [['Content-Type', 'multipart/form-data; boundary=x']],
      [['Content-Type', 'text/html; charset=latin1']],
      [['Content-Type', 'nothing']],
      [],
      [
        ['Content-Type', 'application/json'],
        ['Content-Encoding', 'gzip'],
      ],
    );
  }

  #header(): Lines {
    return this.#one<Lines>(
      [['X-Debug', '1']],
      [['x_debug', '2']],
      [['X-Tenant', this.#one('one', 'three', '')]],
      [['x.tenant', 'two']],
      [['X-Account', 'forged']],
      [['x_mail', 'forged']],
      [['X-HTTP-Method-Override', 'DELETE']],
      [['X-Real-IP', '192.0.2.1']],
      [['X_Real_IP', '192.0.2.1']],
      [['X-Forwarded-Host', 'app.example']],
      [['X-Forwarded-Prefix', '/forged']],
      [['Origin', this.#one(...ORIGINS)]],
      [
        ['Origin', this.#one(...ORIGINS)],
        ['Access-Control-Request-Method', this.#one(...METHODS)],
      ],
      [['Via', '1.1 other, 1.1 me']],
      [['Accept', '*/*']],
    );
  }

  #preflight(): Lines {
    return [
      ['Origin', this.#one(...ORIGINS)],
      ['Access-Control-Request-Method', 'GET'],
    ];
  }

  #handshake(): Lines {
    const key = this.#random(6) === 0 ? 'short' : 'dGhlIHNhbXBsZSBub25jZQ==';
    const version = this.#random(6) === 0 ? '12' : '13';
    return [
      ['Connection', 'Upgrade'],
      ['Upgrade', 'websocket'],
      ['Sec-WebSocket-Key', key],
      ['Sec-WebSocket-Version', version],
      ...(this.#random(3) === 0 ? [] : [['Origin', this.#one(...ORIGINS)] as [string, string]]),
      ...(this.#random(5) === 0
        ? [['Sec-Fetch-Site', this.#one('cross-site', 'same-origin')] as [string, string]]
        : []),
    ];
  }

  #caller(tokens: unknown): CaseRequest['caller'] {
    const kind = this.#random(8);
    if (kind < 2) return 'none';
    if (kind === 2) return 'invalid';
    const role = this.#one<unknown>('admin', 'admin', 'user', 'guest', 'Admin', 7, undefined);
    const list = this.#one<unknown>(['admin'], ['x', 'user'], [], 'user admin', 'guest user');
    const names = [tokens].flat().map((method) => (method as { name?: string }).name ?? '');
    const issuer = this.#one(...names);
    const hasIssuer = names.length > 1;
    const claims = {
      role: this.#random(4) === 0 ? list : role,
      roles: this.#random(4) === 0 ? role : list,
      ...this.#maybe(4, { sub: this.#one(...this.#subjects) }, 3),
      ...this.#maybe(2, { list: this.#one<unknown>(['a', 'b'], ['a b'], [[]], 'plain', 'x\ny') }),
      ...this.#maybe(2, { mail: 'a@b.example' }),
    };
    return { claims: JSON.parse(JSON.stringify(claims)), ...(hasIssuer && { issuer }) };
  }
}
