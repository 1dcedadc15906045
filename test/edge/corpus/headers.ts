import { type Case, get, HOST, post, postChunks, printable, request, SMUGGLED, TOKEN } from './case.ts';

const SINGLE_HEADERS: Case[] = [
  ...[
    '',
    'Host:',
    'Host: ',
    'Host: a b',
    'Host: gateway.test other.test',
    'Host: gateway.test,other.test',
    'Host: user@gateway.test',
    'Host: user:password@gateway.test',
    'Host: gateway.test/admin',
    'Host: gateway.test?x',
    'Host: gateway.test#x',
    'Host: gateway.test\\x',
    'Host: gateway.test:',
    'Host: gateway.test:x',
    'Host: gateway.test:-1',
    'Host: gateway.test:+80',
    'Host: gateway.test:99999',
    'Host: gateway.test:65536',
    'Host: gateway.test:80:80',
    'Host: gateway.test: 80',
    'Host: [::1',
    'Host: ::1',
    'Host: [::1]x',
    'Host: []',
    'Host: [gateway.test]',
    'Host: "gateway.test"',
    'Host: <gateway.test>',
    'Host: http://gateway.test',
    'Host: gateway.t\xe9st',
    'Host: gateway.test\0',
    'Host: gateway.test\x7f',
    'Host: gateway.test\x01',
    'Host: %67ateway.test',
    'Host : gateway.test',
    ' Host: gateway.test',
    'X-Host: gateway.test',
    'Host_: gateway.test',
  ].map(
    (line): Case => ({
      name: `refuses an invalid or missing Host: ${printable(line)}`,
      bytes: request('GET /public/x HTTP/1.1', ...(line === '' ? [] : [line])),
      expect: '400',
      source: 'RFC 9112 section 3.2; RFC 9110 section 7.2',
    }),
  ),
  ...[
    'Host: other.test',
    'Host: gateway.test',
    'host: other.test',
    'HOST: gateway.test',
    'Host:',
    'X: y\r\nHost: other.test',
  ].map(
    (line): Case => ({
      name: `refuses two Host headers: ${printable(line)}`,
      bytes: get('/public/x', line),
      expect: '400',
      source: 'RFC 9112 section 3.2',
    }),
  ),
  ...[
    `${TOKEN}\r\n${TOKEN}`,
    `${TOKEN}\r\nAuthorization: Basic YTpi`,
    `Authorization: Basic YTpi\r\n${TOKEN}`,
    `${TOKEN}\r\nauthorization: Bearer {{guest}}`,
    `Authorization: Bearer {{guest}}\r\n${TOKEN}`,
    `${TOKEN}\r\nAuthorization:`,
    `Authorization:\r\n${TOKEN}`,
  ].flatMap((lines): Case[] =>
    ['/admin/x', '/public/x'].map((target) => ({
      name: `refuses two Authorization headers on ${target}: ${printable(lines)}`,
      bytes: get(target, lines),
      expect: '400',
      source: 'RFC 9110 sections 5.3 and 11.6.2',
    })),
  ),
  ...['/schema', '/public/x'].flatMap((target): Case[] =>
    ['Content-Type: application/json', 'Content-Type: text/plain', 'content-type:'].map((second) => ({
      name: `refuses two Content-Type headers on ${target}: ${second}`,
      bytes: post(target, '{}', 'Content-Type: application/json', second),
      expect: '400',
      source: 'RFC 9110 section 8.3',
    })),
  ),
  ...[
    'gateway.test',
    'GATEWAY.TEST',
    'gateway.test:8080',
    'gateway.test:80',
    '127.0.0.1',
    '[::1]',
    '[::1]:443',
    'a_b.test',
    'xn--bcher-kva.test',
    'gateway.test.',
  ].map(
    (host): Case => ({
      name: `forwards a valid Host unchanged: ${host}`,
      bytes: request('GET /public/x HTTP/1.1', `Host: ${host}`),
      expect: 'forwarded',
      source: 'RFC 9110 section 7.2',
      forwardedHeaders: [`Host: ${host}`, `X-Forwarded-Host: ${host}`],
    }),
  ),
];

const TOKENS: Case[] = [
  ...[
    'Authorization:',
    'Authorization: Bearer',
    'Authorization: Bearer ',
    'Authorization: Bearer  {{token}}',
    'Authorization: Bearer\t{{token}}',
    'Authorization: Bearer {{token}} ',
    'Authorization: Bearer {{token}}x',
    'Authorization: Bearer {{token}},',
    'Authorization: Bearer {{token}}, Bearer {{token}}',
    'Authorization: Bearer "{{token}}"',
    'Authorization: Bearer={{token}}',
    'Authorization: Bearer: {{token}}',
    'Authorization: Basic YTpi',
    'Authorization: Basic YTpi, Bearer {{token}}',
    'Authorization: Token {{token}}',
    'Authorization: XBearer {{token}}',
    'Authorization: {{token}}',
    'Authorization: null',
    'Authorization: Bearer null',
    'Authorization: Bearer ..',
    'Authorization: Bearer a.b.c',
    'Authorization: Bearer \xe9',
    'Proxy-Authorization: Bearer {{token}}',
    'X-Authorization: Bearer {{token}}',
    'Authorization_: Bearer {{token}}',
    'X-Forwarded-Authorization: Bearer {{token}}',
    'Cookie: access_token={{token}}; Authorization=Bearer {{token}}',
    'X-Access-Token: {{token}}',
    'X-User: admin\r\nX-Role: admin\r\nX-Authenticated: true',
    'x-middleware-subrequest: middleware:middleware:middleware',
  ].map(
    (line): Case => ({
      name: `${line.endsWith('{{token}} ') ? 'accepts' : 'does not accept'} the credentials ${printable(line)}`,
      bytes: get('/admin/x', line),
      // Trailing whitespace is not part of a value.
      expect: line.endsWith('{{token}} ') ? 'forwarded' : '401',
      source: 'RFC 6750 sections 2.1 and 3; CVE-2025-29927',
    }),
  ),
  ...['?access_token={{token}}', '?authorization=Bearer%20{{token}}'].map(
    (query): Case => ({
      name: `does not accept a token in the query: ${query}`,
      bytes: get(`/admin/x${query}`),
      expect: '401',
      source: 'RFC 6750 section 2.3; RFC 9700 section 4.3.2',
    }),
  ),
  ...['bearer', 'BEARER', 'BeArEr'].map(
    (scheme): Case => ({
      name: `accepts the scheme in any letter case: ${scheme}`,
      bytes: get('/admin/x', `Authorization: ${scheme} {{token}}`),
      expect: 'forwarded',
      source: 'RFC 9110 section 11.1',
      forwardedHeaders: [`Authorization: ${scheme} {{token}}`],
    }),
  ),
];

const HEADER_LINES: Case[] = [
  ...(
    [
      ['obs-fold', 'X: a\r\n b', 'RFC 9112 section 5.2'],
      ['obs-fold with a tab', 'X: a\r\n\tb', 'RFC 9112 section 5.2'],
      ['obs-fold of an empty value', 'X:\r\n b', 'RFC 9112 section 5.2'],
      ['obs-fold that hides a header', `X: a\r\n ${TOKEN}`, 'RFC 9112 section 5.2'],
      ['obs-fold with only spaces', 'X: a\r\n  ', 'RFC 9112 section 5.2'],
      ['a space before the colon', 'X : a', 'RFC 9112 section 5.1'],
      ['a tab before the colon', 'X\t: a', 'RFC 9112 section 5.1'],
      ['an empty name', ': a', 'CVE-2023-25725'],
      ['an empty name and value', ':', 'CVE-2023-25725'],
      ['a space as its name', ' : a', 'CVE-2023-25725'],
      ['no colon', 'nothing', 'RFC 9112 section 5'],
      ['a space in a name', 'X Y: a', 'RFC 9110 section 5.1'],
      ['a NUL in a name', 'X\0: a', 'RFC 9110 section 5.1'],
      ['a control character in a name', 'X\x01: a', 'RFC 9110 section 5.1'],
      ['a non-ASCII byte in a name', 'X\xe9: a', 'RFC 9110 section 5.1'],
      ['a parenthesis in a name', 'X(y): a', 'RFC 9110 section 5.1'],
      ['a slash in a name', 'X/y: a', 'RFC 9110 section 5.1'],
      ['an at sign in a name', 'X@y: a', 'RFC 9110 section 5.1'],
      ['quotes in a name', '"X": a', 'RFC 9110 section 5.1'],
      ['a bracket in a name', '[X]: a', 'RFC 9110 section 5.1'],
      ['a semicolon in a name', 'X;y: a', 'RFC 9110 section 5.1'],
      ['an equals sign in a name', 'X=y: a', 'RFC 9110 section 5.1'],
      ['a backslash in a name', 'X\\y: a', 'RFC 9110 section 5.1'],
      ['a NUL in a value', 'X: a\0b', 'RFC 9110 section 5.5; CVE-2019-9900'],
      ['a control character in a value', 'X: a\x01b', 'RFC 9110 section 5.5'],
      ['an escape sequence in a value', 'X: a\x1b[31mb', 'RFC 9110 section 5.5'],
      ['a DEL in a value', 'X: a\x7fb', 'RFC 9110 section 5.5'],
      ['a vertical tab in a value', 'X: a\vb', 'RFC 9110 section 5.5'],
      ['a bare CR in a value', 'X: a\rb', 'RFC 9110 section 5.5; CVE-2023-30589'],
      ['a bare CR that begins a header', `X: a\r${TOKEN}`, 'CVE-2023-30589'],
      ['a bare LF in a value', 'X: a\nb', 'RFC 9110 section 5.5'],
      ['a bare LF that begins a header', `X: a\n${TOKEN}`, 'CVE-2022-32214; CVE-2019-16785'],
      ['a bare LF that ends the head', `X: a\n\n${SMUGGLED}`, 'CVE-2019-16785'],
      ['a bare CR that ends the head', `X: a\r\r${SMUGGLED}`, 'RFC 9112 section 2.2'],
      ['CR CR LF at the end', 'X: a\r', 'RFC 9112 section 2.2'],
      ['a CR as its value', 'X: \r', 'CVE-2022-35256'],
      ['the text of a request line', 'GET /admin/x HTTP/1.1', 'RFC 9112 section 2.2'],
    ] as const
  ).map(
    ([name, line, source]): Case => ({
      name: `refuses a header line with ${name}`,
      bytes: request('GET /public/x HTTP/1.1', HOST, line, 'X-Last: z'),
      expect: '400',
      source,
    }),
  ),
  {
    name: 'refuses leading whitespace before the first header',
    bytes: request('GET /public/x HTTP/1.1', ' X: a', HOST),
    expect: '400',
    source: 'RFC 9112 section 2.2',
  },
  {
    name: 'forwards unusual but valid names and values',
    bytes: get(
      '/public/x',
      "!#$%&'*+-.^`|~: odd",
      'X-Latin: caf\xe9 \x80\xff',
      'X-Empty:',
      'X-Tab: a\tb',
      'X-One: 1',
      'X-One: 2',
      'x-one: 1',
    ),
    expect: 'forwarded',
    source: 'RFC 9110 sections 5.1 and 5.5',
    forwardedHeaders: [
      "!#$%&'*+-.^`|~: odd",
      'X-Latin: caf\xe9 \x80\xff',
      'X-Empty: ',
      'X-Tab: a\tb',
      'X-One: 1',
      'X-One: 2',
      'x-one: 1',
    ],
  },
  {
    name: 'forwards names of built-in object properties',
    bytes: get('/public/x', '__proto__: a', 'constructor: b', 'toString: c', 'hasOwnProperty: d'),
    expect: 'forwarded',
    source: 'CWE-1321',
    forwardedHeaders: ['__proto__: a', 'constructor: b', 'toString: c'],
  },
];

const SIZES: Case[] = [
  ...(
    [
      ['101 headers', Array.from({ length: 101 }, (_, index) => `X-${index}: 1`)],
      ['2,000 headers', Array.from({ length: 2_000 }, () => 'X: 1')],
      ['5,000 empty headers', Array.from({ length: 5_000 }, () => 'X:')],
      ['one header of 17 kB', [`X: ${'a'.repeat(17_000)}`]],
      ['one header of 200 kB', [`X: ${'a'.repeat(200_000)}`]],
      ['a name of 17 kB', [`${'X'.repeat(17_000)}: a`]],
      ['a cookie of 20 kB', [`Cookie: ${'a=b; '.repeat(4_000)}`]],
      ['a token of 20 kB', [`Authorization: Bearer ${'a'.repeat(20_000)}`]],
      ['eight headers of 4 kB', Array.from({ length: 8 }, () => `X: ${'a'.repeat(4_000)}`)],
    ] as const
  ).map(
    ([name, headers]): Case => ({
      name: `refuses ${name}`,
      bytes: get('/public/x', ...headers),
      expect: '431',
      source: 'RFC 6585 section 5; CVE-2018-12121',
    }),
  ),
  {
    name: 'forwards or refuses 20 kB of whitespace before a value',
    bytes: get('/public/x', `X:${' '.repeat(20_000)}a`),
    expect: 'forwarded-or-refused',
    source: 'RFC 9110 section 5.5',
  },
  {
    name: 'refuses a target of 20 kB',
    bytes: get(`/public/x?${'a'.repeat(20_000)}`),
    expect: '431',
    source: 'RFC 6585 section 5',
  },
  {
    name: 'forwards 99 headers',
    bytes: get('/public/x', ...Array.from({ length: 98 }, (_, index) => `X-${index}: 1`)),
    expect: 'forwarded',
    source: 'RFC 9110 section 5.4',
  },
  {
    name: 'reads a token after many headers',
    bytes: get('/admin/x', ...Array.from({ length: 97 }, (_, index) => `X-${index}: 1`), TOKEN),
    expect: 'forwarded',
    source: 'RFC 9110 section 5.4',
    forwardedHeaders: [TOKEN],
  },
  {
    name: 'refuses a second Host after many headers',
    bytes: get('/public/x', ...Array.from({ length: 97 }, (_, index) => `X-${index}: 1`), 'Host: other.test'),
    expect: '400',
    source: 'RFC 9112 section 3.2',
  },
];

const HOP = 'RFC 9110 section 7.6.1';

const CONNECTION_HEADERS: Case[] = [
  ...(
    [
      ['Keep-Alive', 'timeout=5'],
      ['Proxy-Connection', 'keep-alive'],
      ['TE', 'trailers'],
      ['Upgrade', 'websocket'],
      ['HTTP2-Settings', 'AAMAAABkAAQCAAAAAAIAAAAA'],
      ['Trailer', 'X-Late'],
      ['keep-alive', 'timeout=5'],
      ['PROXY-CONNECTION', 'close'],
      ['te', 'deflate, trailers'],
    ] as const
  ).map(
    ([name, value]): Case => ({
      name: `does not forward ${name}`,
      bytes: get('/public/x', `${name}: ${value}`, 'X-Kept: 1'),
      expect: 'forwarded',
      source: HOP,
      forwardedHeaders: ['X-Kept: 1'],
      removedHeaders: [name.toLowerCase()],
    }),
  ),
  ...(
    [
      ['X-Strip', 'X-Strip: 1', 'x-strip'],
      ['x-strip', 'X-STRIP: 1', 'x-strip'],
      ['close, X-Strip', 'X-Strip: 1', 'x-strip'],
      ['X-A,,X-Strip , ', 'X-Strip: 1', 'x-strip'],
      ['\tX-Strip\t', 'X-Strip: 1', 'x-strip'],
      ['keep-alive\r\nConnection: X-Strip', 'X-Strip: 1', 'x-strip'],
      ['Cookie', 'Cookie: a=1', 'cookie'],
    ] as const
  ).map(
    ([named, header, removed]): Case => ({
      name: `removes ${removed} for Connection: ${printable(named)}`,
      bytes: get('/public/x', `Connection: ${named}`, header, 'X-Kept: 1'),
      expect: 'forwarded',
      source: HOP,
      forwardedHeaders: ['X-Kept: 1'],
      removedHeaders: [removed],
    }),
  ),
  ...[
    'Authorization',
    'authorization',
    'close, Authorization',
    'Host, Authorization, X',
    'AUTHORIZATION\r\nConnection: authorization',
  ].map(
    (named): Case => ({
      name: `forwards the token despite Connection: ${printable(named)}`,
      bytes: get('/admin/x', `Connection: ${named}`, TOKEN),
      expect: 'forwarded',
      source: `${HOP}; CVE-2022-31813`,
      forwardedHeaders: [TOKEN, HOST],
    }),
  ),
  ...[
    'X-Forwarded-For',
    'x-forwarded-host, x-forwarded-proto',
    'X-Request-Id',
    'close, X-Forwarded-For, X-Request-Id',
    'Host',
  ].map(
    (named): Case => ({
      name: `forwards its own headers despite Connection: ${named}`,
      bytes: get('/public/x', `Connection: ${named}`, 'X-Forwarded-For: evil', 'X-Forwarded-Host: evil'),
      expect: 'forwarded',
      source: `${HOP}; CVE-2022-31813`,
      forwardedHeaders: [
        HOST,
        'X-Forwarded-For: 127.0.0.1',
        'X-Forwarded-Proto: http',
        'X-Forwarded-Host: gateway.test',
      ],
    }),
  ),
  ...[
    'Content-Length',
    'content-length, close',
    'Content-Type',
    'Transfer-Encoding',
    'Expect',
    'Connection',
    'TE, Content-Length',
  ].map(
    (named): Case => ({
      name: `forwards the Content-Length of a body despite Connection: ${named}`,
      bytes: post('/public/x', SMUGGLED, `Connection: ${named}`, 'Content-Type: text/plain'),
      expect: 'forwarded',
      source: `${HOP}; RFC 9112 section 6`,
      forwardedHeaders: ['Content-Type: text/plain', `Content-Length: ${SMUGGLED.length}`],
    }),
  ),
  ...['Transfer-Encoding', 'transfer-encoding, close', 'Content-Length, Transfer-Encoding'].map(
    (named): Case => ({
      name: `forwards a chunked body despite Connection: ${named}`,
      bytes: postChunks(
        '/public/x',
        `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`,
        `Connection: ${named}`,
      ),
      expect: 'forwarded',
      source: `${HOP}; RFC 9112 section 6`,
      forwardedBody: SMUGGLED,
    }),
  ),
  {
    name: 'validates a body despite Connection: Content-Type',
    bytes: post('/schema', '[]', 'Connection: Content-Type', 'Content-Type: application/json'),
    expect: '400',
    source: HOP,
  },
  ...[
    'h2c',
    'h2c, HTTP2-Settings',
    'H2C',
    'h2',
    'websocket',
    'TLS/1.0',
    'HTTP/2.0',
    'foo',
    'h2c\r\nUpgrade: websocket',
  ].flatMap((protocol): Case[] =>
    (['forwarded', '401'] as const).map((expect) => ({
      name: `ignores Upgrade: ${printable(protocol)} (${expect})`,
      bytes: get(
        expect === 'forwarded' ? '/public/x' : '/admin/x',
        'Connection: Upgrade, HTTP2-Settings',
        `Upgrade: ${protocol}`,
        'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA',
      ),
      expect,
      source: 'RFC 9110 section 7.8; RFC 9113 section 3.1; Bishop Fox 2020 (h2c smuggling)',
      removedHeaders: ['upgrade', 'http2-settings', 'connection: upgrade'],
    })),
  ),
  ...(
    [
      ['GET', get('/public/x', 'Connection: Upgrade', 'Upgrade: h2c')],
      ['POST', post('/public/x', 'ab', 'Connection: Upgrade', 'Upgrade: h2c')],
    ] as const
  ).flatMap(([method, first]): Case[] => [
    {
      name: `checks a request after an Upgrade of ${method}`,
      bytes: first + get('/admin/y'),
      expect: ['forwarded', '401-or-closed'],
      source: 'RFC 9110 section 7.8',
      removedHeaders: ['upgrade'],
    },
    {
      name: `treats a body after an Upgrade of ${method} as a body`,
      bytes: [first + request('POST /public/y HTTP/1.1', HOST, 'Content-Length: 500'), get('/public/smuggled')],
      expect: ['forwarded', 'unfinished'],
      source: 'RFC 9110 section 7.8; RFC 9112 section 11.2',
      removedHeaders: ['upgrade'],
    },
  ]),
];

const SPELLINGS = 'RFC 3875 section 4.1.18; RFC 7239 section 8.1';

const IDENTITY: Case[] = [
  ...[
    'X-Forwarded-For',
    'x-forwarded-for',
    'X_Forwarded_For',
    'X-Forwarded_For',
    'X_FORWARDED-FOR',
    'X-Forwarded-Host',
    'X_Forwarded_Host',
    'X-Forwarded-Proto',
    'x_forwarded_proto',
    'X-Forwarded-Port',
    'X-Forwarded-Server',
    'X-Forwarded-Prefix',
    'X-Forwarded-Scheme',
    'X-Forwarded-Ssl',
    'X-Forwarded-User',
    'X_Forwarded_Email',
    'X-Forwarded-Client-Cert',
    'Forwarded',
    'FORWARDED',
    'X-Request-Id',
    'X_Request_Id',
    'x-request_id',
    // Some servers map every character of a name except letters and digits to `_`.
    'X.Forwarded.For',
    'X-Forwarded.For',
    'X+Forwarded+Host',
    "X'Forwarded'Proto",
    'X.Request.Id',
  ].map(
    (name): Case => ({
      name: `replaces ${name} from the client`,
      bytes: get('/public/x', `${name}: evil`, `${name}: evil`),
      expect: 'forwarded',
      source: SPELLINGS,
      forwardedHeaders: ['X-Forwarded-For: 127.0.0.1', 'X-Forwarded-Proto: http', 'X-Forwarded-Host: gateway.test'],
    }),
  ),
  ...[
    'Content_Length: 5',
    'Transfer_Encoding: chunked',
    'Proxy_Connection: evil',
    'Keep_Alive: evil',
    'HTTP2_Settings: evil',
    'Transfer.Encoding: chunked',
    'Content.Length: 5',
  ].map(
    (line): Case => ({
      name: `does not forward a connection header in another spelling: ${line}`,
      bytes: get('/public/x', line),
      expect: 'forwarded',
      source: 'RFC 3875 section 4.1.18',
      removedHeaders: [line.slice(0, line.indexOf(':')).toLowerCase()],
    }),
  ),
  ...[
    'Host_: gateway.test',
    'Authorization_: x',
    'X-Real-Name: z',
    'X-Forward: z',
    'X-Forwarded: z',
    'My_Header: z',
  ].map(
    (line): Case => ({
      name: `forwards a header with a similar name: ${line}`,
      bytes: get('/public/x', line),
      expect: 'forwarded',
      source: 'RFC 9110 section 5.1',
      forwardedHeaders: [line],
    }),
  ),
];

const OVERRIDES: Case[] = [
  ...[
    'X-Original-URL: /public/x',
    'X-Rewrite-URL: /public/x',
    'X-Original-URI: /public/x',
    'X-Forwarded-Uri: /public/x',
    'X-Forwarded-Path: /public/x',
    'X-Forwarded-Method: OPTIONS',
    'X-HTTP-Method-Override: OPTIONS',
    'X-HTTP-Method: OPTIONS',
    'X-Method-Override: OPTIONS',
    'X-Forwarded-Prefix: /public',
    'X-Envoy-Original-Path: /public/x',
    'X-Accel-Redirect: /public/x',
    'Content-Location: /public/x',
    'Referer: http://gateway.test/public/x',
    'Origin: http://gateway.test',
    'X-Forwarded-For: 127.0.0.1',
    'X-Real-IP: 127.0.0.1',
    'X-Custom-IP-Authorization: 127.0.0.1',
    'Client-IP: 127.0.0.1',
    'Forwarded: for=127.0.0.1',
    'X-Forwarded-Host: 127.0.0.1',
  ].map(
    (line): Case => ({
      name: `does not grant access to a protected path for ${line}`,
      bytes: get('/admin/x', line),
      expect: '401',
      source: 'CVE-2018-14773',
    }),
  ),
  ...[
    'X-Original-URL: /admin/x',
    'X-Rewrite-URL: /admin/x',
    'X-HTTP-Method-Override: DELETE',
    'X-Original-URL: /nowhere',
  ].map(
    (line): Case => ({
      name: `does not change the route or the method for ${line}`,
      bytes: get('/public/x?a=1', line),
      expect: 'forwarded',
      source: 'CVE-2018-14773',
    }),
  ),
  {
    name: 'ignores a method override header',
    bytes: request('DELETE /read HTTP/1.1', HOST, 'X-HTTP-Method-Override: GET'),
    expect: '405',
    source: 'RFC 9110 section 9.1',
  },
  {
    name: 'ignores a method in the query or the body',
    bytes: `${request('DELETE /read?_method=GET HTTP/1.1', HOST, 'Content-Length: 11')}_method=GET`,
    expect: '405',
    source: 'RFC 9110 section 9.1',
  },
];

export const HEADERS: readonly Case[] = [
  ...SINGLE_HEADERS,
  ...TOKENS,
  ...HEADER_LINES,
  ...SIZES,
  ...CONNECTION_HEADERS,
  ...IDENTITY,
  ...OVERRIDES,
];
