import { printable } from './case.ts';

/** The outcome for the client. */
export type ClientOutcome =
  /** An upstream error with this status. It contains nothing from the upstream. */
  | '502'
  | '503'
  | '504'
  /** At most the beginning of the response, and no clean end. */
  | 'aborted'
  /** The response, exactly as a strict parser reads it. */
  | 'forwarded';

/** The behavior of an upstream towards one request. */
export interface HostileResponse {
  readonly name: string;
  /** Latin-1. The upstream writes the entries of a list one by one, with a pause between them. */
  readonly bytes: string | readonly string[];
  /** The upstream's next step. Default: it keeps the connection open. */
  readonly after?: 'close' | 'reset' | 'silence';
  /** Bytes that the upstream writes on the idle connection after the exchange. */
  readonly lateBytes?: string;
  /** True if the gateway must close the connection because of the late bytes. */
  readonly isLateSurplus?: true;
  readonly expect: readonly ClientOutcome[];
  readonly source: string;
  /** The method of the request. Default: GET. */
  readonly method?: string;
  /** The Content-Length of the request. The client sends only the first hundred bytes. */
  readonly uploadBytes?: number;
  /** The forwarded first line and body if a strict parser cannot read the bytes. */
  readonly forwardedAs?: readonly [line: string, body: string];
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const POISON = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison';
const STALE = 'X-Stale: 1\r\nSet-Cookie: stale=1\r\nContent-Encoding: gzip\r\n';

/** Returns a response of two bytes with this status line. */
function withStatusLine(line: string): string {
  return `${line}\r\n${STALE}Content-Length: 2\r\n\r\nok`;
}

/** Returns a response with these header lines before its framing. */
function withHeaders(lines: string): string {
  return `HTTP/1.1 200 OK\r\n${STALE}${lines}\r\nContent-Length: 2\r\n\r\nok`;
}

/** Returns a response with these framing headers. */
function withFraming(lines: string, body = 'ok'): string {
  return `HTTP/1.1 200 OK\r\n${STALE}${lines}\r\n\r\n${body}`;
}

function chunked(chunks: string): string {
  return withFraming('Transfer-Encoding: chunked', chunks);
}

const STATUS = 'RFC 9112 section 4';

const STATUS_LINES: HostileResponse[] = [
  ...[
    'HTTP/1.1 000 OK',
    'HTTP/1.1 099 OK',
    'HTTP/1.1 1000 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2 OK',
    'HTTP/1.1 abc OK',
    'HTTP/1.1 2x0 OK',
    'HTTP/1.1 -200 OK',
    'HTTP/1.1 +200 OK',
    'HTTP/1.1 0200 OK',
    'HTTP/1.1 0x1 OK',
    'HTTP/1.1 200OK',
    'HTTP/1.1 200,OK',
    'HTTP/1.1 2 00 OK',
    'HTTP/1.1\t200 OK',
    'HTTP/1.1200 OK',
    'HTTP/1.1',
    'HTTP/1.1 ',
    'HTTP/1.1 OK',
    'HTTP/2 200 OK',
    'HTTP/3.0 200 OK',
    'HTTP/1.9 200 OK',
    'HTTP/1.10 200 OK',
    'HTTP/7.3 200 OK',
    'HTTP 200 OK',
    'http/1.1 200 OK',
    'HTTPS/1.1 200 OK',
    'XHTTP/1.1 200 OK',
    'ICY 200 OK',
    ' HTTP/1.1 200 OK',
    '\0HTTP/1.1 200 OK',
    '\xef\xbb\xbfHTTP/1.1 200 OK',
    'GET / HTTP/1.1',
    'garbage',
  ].map(
    (line): HostileResponse => ({
      name: `refuses an invalid status line: ${printable(line)}`,
      bytes: withStatusLine(line),
      expect: ['502'],
      source: STATUS,
    }),
  ),
  ...[
    'HTTP/2.0 200 OK',
    'HTTP/0.9 200 OK',
    'RTSP/1.0 200 OK',
    'HTTP/1.1  200 OK',
    '\r\nHTTP/1.1 200 OK',
    'HTTP/1.1 200',
  ].map(
    (line): HostileResponse => ({
      name: `refuses or forwards a status line that some parsers accept: ${printable(line)}`,
      bytes: withStatusLine(line),
      expect: ['502', 'forwarded'],
      source: STATUS,
      forwardedAs: [line === 'HTTP/1.1 200' ? 'HTTP/1.1 200 ' : 'HTTP/1.1 200 OK', 'ok'],
    }),
  ),
  ...['\x01', '\0', '\x1b[31m', '\x7f', '\r', '\n', '\rX: 1', '\nX: 1', '\v', '\b'].map(
    (control): HostileResponse => ({
      name: `refuses a control character in the reason: ${printable(control)}`,
      bytes: withStatusLine(`HTTP/1.1 200 O${control}K`),
      expect: ['502'],
      source: 'RFC 9112 section 4; RFC 9112 section 11.1',
    }),
  ),
  ...[
    '200 OK',
    '200 ',
    '200 Tab\there',
    '200 caf\xc3\xa9',
    '200 \xe4\xb8\xad\xe6\x96\x87',
    '201 Created',
    '299 Odd',
    '302 Found',
    '400 Bad',
    '401 No',
    '404 Nope',
    '429 Slow',
    '500 Oops',
    '502 Mine',
    '503 Later',
    '504 Late',
    '599 Z',
    '600 Beyond',
    '999 Far',
  ].map(
    (line): HostileResponse => ({
      name: `forwards an unusual or error status unchanged: ${printable(line)}`,
      bytes: withStatusLine(`HTTP/1.1 ${line}`),
      expect: ['forwarded'],
      source: 'RFC 9110 section 15',
    }),
  ),
  {
    name: 'forwards a reason that is not UTF-8',
    bytes: withStatusLine('HTTP/1.1 200 caf\xe9'),
    expect: ['forwarded'],
    source: 'RFC 9112 section 4',
  },
  ...(
    [
      ['TLS', '\x16\x03\x01\0\x05\x01\0\0\x01\0'],
      ['SSH', 'SSH-2.0-OpenSSH_9.0\r\n'],
      ['SMTP', '220 mail.test ESMTP\r\n'],
      ['HTML without headers', '<html><body>hello</body></html>\r\n\r\n'],
      ['JSON without headers', '{"ok":true}\r\n\r\n'],
      ['NUL bytes', '\0'.repeat(100)],
      ['the HTTP/2 connection preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      ['an HTTP/2 SETTINGS frame', '\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x80'],
      ['only empty lines', '\r\n\r\n\r\n'],
    ] as const
  ).map(
    ([name, bytes]): HostileResponse => ({
      name: `refuses bytes that are not a response: ${name}`,
      bytes,
      after: 'close',
      expect: ['502'],
      source: STATUS,
    }),
  ),
];

const FRAMING = 'RFC 9112 sections 6.1 and 6.3';
const CHUNKS = '2\r\nok\r\n0\r\n\r\n';

const FRAMINGS: HostileResponse[] = [
  ...(
    [
      ['Content-Length: 2\r\nTransfer-Encoding: chunked', CHUNKS],
      ['Transfer-Encoding: chunked\r\nContent-Length: 2', CHUNKS],
      ['Content-Length: 12\r\nTransfer-Encoding: identity', CHUNKS],
      ['Content-Length: 2\r\nContent-Length: 3', 'ok!'],
      ['Content-Length: 2\r\nContent-Length: 2', 'ok'],
      ['Content-Length: 3\r\ncontent-length: 2', 'ok!'],
      ['Content-Length: 2, 2', 'ok'],
      ['Content-Length: 2,3', 'ok!'],
      ['Content-Length: -2', 'ok'],
      ['Content-Length: +2', 'ok'],
      ['Content-Length: 0x2', 'ok'],
      ['Content-Length: 2 2', 'ok'],
      ['Content-Length: 2;', 'ok'],
      ['Content-Length: 2.0', 'ok'],
      ['Content-Length: two', 'ok'],
      ['Content-Length:', 'ok'],
      ['Content-Length: 99999999999999999999', 'ok'],
      ['Content-Length : 2', 'ok'],
      ['Transfer-Encoding: gzip, chunked', CHUNKS],
      ['Transfer-Encoding: chunked, gzip', CHUNKS],
      ['Transfer-Encoding: chunked, chunked', CHUNKS],
      ['Transfer-Encoding: identity', CHUNKS],
      ['Transfer-Encoding: xchunked', CHUNKS],
      ['Transfer-Encoding: gzip', CHUNKS],
      ['Transfer-Encoding: "chunked"', CHUNKS],
      ['Transfer-Encoding: chunked;q=1', CHUNKS],
      ['Transfer-Encoding:', CHUNKS],
      ['Transfer-Encoding: \x0bchunked', CHUNKS],
      ['Transfer-Encoding : chunked', CHUNKS],
      ['Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', CHUNKS],
      ['Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked', CHUNKS],
      ['Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip', CHUNKS],
      ['Transfer-Encoding:\r\n chunked', CHUNKS],
    ] as const
  ).map(
    ([lines, body]): HostileResponse => ({
      name: `refuses invalid framing: ${printable(lines)}`,
      bytes: withFraming(lines, body),
      after: 'close',
      expect: ['502'],
      source: FRAMING,
    }),
  ),
  {
    name: 'refuses or forwards a length with leading zeros',
    bytes: withFraming('Content-Length: 002'),
    expect: ['502', 'forwarded'],
    source: FRAMING,
  },
  {
    name: 'refuses or forwards chunks on HTTP/1.0',
    bytes: withFraming('Transfer-Encoding: chunked', CHUNKS).replace('HTTP/1.1', 'HTTP/1.0'),
    after: 'close',
    expect: ['502', 'forwarded'],
    source: FRAMING,
    forwardedAs: ['HTTP/1.1 200 OK', 'ok'],
  },
  ...(
    [
      ['a size that is not a number', 'zz\r\nok\r\n0\r\n\r\n'],
      ['a size in hexadecimal notation', '0x2\r\nok\r\n0\r\n\r\n'],
      ['a negative size', '-2\r\nok\r\n0\r\n\r\n'],
      ['a size beyond 64 bits', '10000000000000002\r\nok\r\n0\r\n\r\n'],
      ['a size that ends in a bare LF', '2\nok\r\n0\r\n\r\n'],
      ['a missing size', '\r\nok\r\n0\r\n\r\n'],
      ['data longer than its size', '2\r\nok!\r\n0\r\n\r\n'],
      ['data that ends in a bare LF', '2\r\nok\n0\r\n\r\n'],
      ['data without a line ending', '2\r\nok0\r\n\r\n'],
      ['an extension with a bare LF', '2;a\nok\r\n0\r\n\r\n'],
      ['an extension with a NUL', '2;a=\0\r\nok\r\n0\r\n\r\n'],
      ['a body that ends in bare LFs', '2\r\nok\r\n0\n\n'],
      ['a trailer without a colon', '2\r\nok\r\n0\r\nX\r\n\r\n'],
      ['a trailer with a NUL', '2\r\nok\r\n0\r\nX: a\0\r\n\r\n'],
      ['a folded trailer', '2\r\nok\r\n0\r\nX: a\r\n b\r\n\r\n'],
      ['a trailer of 20 kB', `2\r\nok\r\n0\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`],
      ['a response instead of a size', POISON],
    ] as const
  ).flatMap(([name, chunks]): HostileResponse[] => [
    {
      name: `does not forward chunks with ${name}`,
      bytes: chunked(chunks),
      expect: ['502', 'aborted'],
      source: 'RFC 9112 section 7.1',
    },
    {
      name: `aborts the response for later chunks with ${name}`,
      bytes: [chunked('5\r\nhello\r\n'), chunks],
      expect: ['aborted'],
      source: 'RFC 9112 section 7.1',
    },
  ]),
  ...(
    [
      ['extensions', '2;a=b;c="d"\r\nok\r\n0;e\r\n\r\n'],
      ['leading zeros', '0002\r\nok\r\n000\r\n\r\n'],
      ['an uppercase size', `A\r\n${'ok'.repeat(5)}\r\n0\r\n\r\n`],
      ['one byte each', '1\r\no\r\n1\r\nk\r\n0\r\n\r\n'],
    ] as const
  ).map(
    ([name, chunks]): HostileResponse => ({
      name: `forwards chunks with ${name}`,
      bytes: chunked(chunks),
      expect: ['forwarded'],
      source: 'RFC 9112 section 7.1',
      forwardedAs: ['HTTP/1.1 200 OK', name === 'an uppercase size' ? 'ok'.repeat(5) : 'ok'],
    }),
  ),
];

const ABORTS: HostileResponse[] = [
  ...(['close', 'reset'] as const).flatMap((after): HostileResponse[] => [
    ...(
      [
        ['before the first byte', ''],
        ['in the status line', 'HTTP/1.1 2'],
        ['after the status line', 'HTTP/1.1 200 OK\r\n'],
        ['in a header', `HTTP/1.1 200 OK\r\n${STALE}Content-`],
        ['before the empty line', `HTTP/1.1 200 OK\r\n${STALE}Content-Length: 2\r\n`],
        ['within the empty line', `HTTP/1.1 200 OK\r\n${STALE}Content-Length: 2\r\n\r`],
        ['after a 1xx response', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
      ] as const
    ).map(
      ([where, bytes]): HostileResponse => ({
        name: `responds 502 to a ${after} ${where}`,
        bytes,
        after,
        expect: ['502'],
        source: 'RFC 9110 section 15.6.3',
      }),
    ),
    ...(
      [
        ['a Content-Length body', withFraming('Content-Length: 100', 'half')],
        [
          'a Content-Length body with Connection: close',
          withFraming('Connection: close\r\nContent-Length: 100', 'half'),
        ],
        [
          'a chunked body with Connection: close',
          withFraming('Connection: close\r\nTransfer-Encoding: chunked', '4\r\nhalf\r\n'),
        ],
        [
          'a chunk with Connection: close',
          withFraming('Connection: close\r\nTransfer-Encoding: chunked', '64\r\nhalf'),
        ],
        [
          'the last chunk with Connection: close',
          withFraming('Connection: close\r\nTransfer-Encoding: chunked', '4\r\nhalf\r\n0\r\n'),
        ],
        ['a Content-Length body of HTTP/1.0', withFraming('Content-Length: 100', 'half').replace('1.1', '1.0')],
        ['a Content-Length body before its first byte', withFraming('Content-Length: 100', '')],
        ['a Content-Length body before its last byte', withFraming('Content-Length: 5', 'half')],
        ['a chunk', chunked('64\r\nhalf')],
        ['a chunked body between two chunks', chunked('4\r\nhalf\r\n')],
        ['a chunk size', chunked('4\r\nhalf\r\n4')],
        ['the last chunk', chunked('4\r\nhalf\r\n0\r\n')],
        ['the trailers', chunked('4\r\nhalf\r\n0\r\nX: y\r\n')],
      ] as const
    ).flatMap(([where, bytes]): HostileResponse[] => [
      {
        name: `aborts or refuses the response for a ${after} in ${where}`,
        bytes,
        after,
        expect: ['502', 'aborted'],
        source: 'RFC 9112 section 8',
      },
      {
        name: `aborts the response for a later ${after} in ${where}`,
        bytes: [bytes, ''],
        after,
        expect: ['aborted'],
        source: 'RFC 9112 section 8',
      },
    ]),
  ]),
  {
    name: 'ends a body without framing when the upstream closes the connection',
    bytes: withFraming('X: y', 'hello'),
    after: 'close',
    expect: ['forwarded'],
    source: 'RFC 9112 section 6.3',
  },
  {
    name: 'forwards a body without framing that arrives in two writes',
    bytes: [withFraming('X: y', 'hel'), 'lo'],
    after: 'close',
    expect: ['forwarded'],
    source: 'RFC 9112 section 6.3',
  },
  {
    name: 'aborts a body without framing after a reset',
    bytes: [withFraming('X: y', 'hello'), ''],
    after: 'reset',
    expect: ['aborted'],
    source: 'RFC 9112 section 8',
  },
  {
    name: 'aborts a body with Connection: close and without framing after a reset',
    bytes: [withFraming('Connection: close', 'hello'), ''],
    after: 'reset',
    expect: ['aborted'],
    source: 'RFC 9112 section 8',
  },
  {
    name: 'aborts an HTTP/1.0 response without framing after a reset',
    bytes: ['HTTP/1.0 200 OK\r\n\r\nhello', ''],
    after: 'reset',
    expect: ['aborted'],
    source: 'RFC 9112 section 8',
  },
  {
    name: 'forwards an HTTP/1.0 response without framing',
    bytes: 'HTTP/1.0 200 OK\r\n\r\nold',
    after: 'close',
    expect: ['forwarded'],
    source: 'RFC 9112 section 6.3',
  },
  {
    name: 'forwards a complete response before an immediate close',
    bytes: OK,
    after: 'close',
    expect: ['forwarded'],
    source: 'RFC 9112 section 9.6',
  },
  {
    name: 'forwards a response with Connection: close if the upstream does not close',
    bytes: withHeaders('Connection: close'),
    expect: ['forwarded'],
    source: 'RFC 9112 section 9.6',
  },
  ...(
    [
      ['before the first byte', ''],
      ['in the status line', 'HTTP/1.1 2'],
      ['in the headers', `HTTP/1.1 200 OK\r\n${STALE}`],
      ['after a 1xx response', 'HTTP/1.1 102 Processing\r\n\r\n'],
      ['after many 1xx responses', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(50)],
    ] as const
  ).map(
    ([where, bytes]): HostileResponse => ({
      name: `responds 504 to silence ${where}`,
      bytes,
      after: 'silence',
      expect: ['504'],
      source: 'RFC 9110 section 15.6.5',
    }),
  ),
  ...(
    [
      ['a Content-Length body', withFraming('Content-Length: 100', 'half')],
      ['a Content-Length body before its first byte', withFraming('Content-Length: 100', '')],
      ['a chunk', chunked('64\r\nhalf')],
      ['the last chunk', chunked('4\r\nhalf\r\n0\r\n')],
      ['a body without framing', withFraming('X: y', 'half')],
    ] as const
  ).map(
    ([where, bytes]): HostileResponse => ({
      name: `aborts the response after silence in ${where}`,
      bytes,
      after: 'silence',
      expect: ['aborted'],
      source: 'RFC 9112 section 8',
    }),
  ),
];

const SURPLUS = 'RFC 9112 section 9.2; RFC 9112 section 11.1';

const SURPLUSES: HostileResponse[] = [
  ...(
    [
      ['another response', POISON],
      ['two other responses', POISON + POISON],
      ['half of another response', POISON.slice(0, 30)],
      ['text', 'extra'],
      ['an empty line', '\r\n'],
      ['a NUL', '\0'],
      ['an interim response', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
      ['100 kB', 'x'.repeat(100_000)],
      ['a 101 response', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
      ['a 408 response', 'HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'],
    ] as const
  ).flatMap(([name, extra]): HostileResponse[] => [
    {
      name: `does not forward surplus bytes after a Content-Length body: ${name}`,
      bytes: OK + extra,
      expect: ['forwarded', '502', 'aborted'],
      source: SURPLUS,
    },
    {
      name: `does not forward surplus bytes after chunks: ${name}`,
      bytes: chunked(CHUNKS) + extra,
      expect: ['forwarded', '502', 'aborted'],
      source: SURPLUS,
    },
    {
      name: `does not forward surplus bytes after an empty body: ${name}`,
      bytes: withFraming('Content-Length: 0', extra),
      expect: ['forwarded', '502', 'aborted'],
      source: SURPLUS,
    },
    {
      name: `does not forward surplus bytes shortly after a body: ${name}`,
      bytes: [OK, extra],
      isLateSurplus: true,
      expect: ['forwarded'],
      source: SURPLUS,
    },
    {
      name: `does not forward surplus bytes from an idle upstream connection: ${name}`,
      bytes: OK,
      lateBytes: extra,
      isLateSurplus: true,
      expect: ['forwarded'],
      source: SURPLUS,
    },
  ]),
  ...(['204 No Content', '304 Not Modified'] as const).flatMap((line): HostileResponse[] =>
    (
      [
        ['a Content-Length body', 'Content-Length: 5\r\n\r\nhello'],
        ['chunks', `Transfer-Encoding: chunked\r\n\r\n${CHUNKS}`],
        ['a body without framing', '\r\nhello'],
        ['another response as its body', `Content-Length: ${POISON.length}\r\n\r\n${POISON}`],
        ['nothing', '\r\n'],
      ] as const
    ).map(([name, rest]) => ({
      name: name === 'nothing' ? `forwards ${line} without a body` : `does not forward the body of ${line}: ${name}`,
      bytes: `HTTP/1.1 ${line}\r\nX-Kept: 1\r\n${rest}`,
      expect: name === 'nothing' ? ['forwarded'] : ['forwarded', '502', 'aborted'],
      source: 'RFC 9110 sections 15.3.5 and 15.4.5',
    })),
  ),
  ...(
    [
      ['a Content-Length body', withFraming('Content-Length: 5', 'hello')],
      ['chunks', chunked(CHUNKS)],
      ['another response as its body', withFraming(`Content-Length: ${POISON.length}`, POISON)],
    ] as const
  ).map(
    ([name, bytes]): HostileResponse => ({
      name: `does not forward the body of a response to HEAD: ${name}`,
      bytes,
      method: 'HEAD',
      expect: ['forwarded', '502', 'aborted'],
      source: 'RFC 9110 section 9.3.2',
    }),
  ),
  {
    name: 'forwards a response to HEAD with a Content-Length',
    bytes: withFraming('Content-Length: 12345', ''),
    method: 'HEAD',
    expect: ['forwarded'],
    source: 'RFC 9110 section 9.3.2',
  },
];

const INTERIM = 'RFC 9110 section 15.2';

const INTERIMS: HostileResponse[] = [
  ...[101, 1_000].map(
    (count): HostileResponse => ({
      name: `refuses a response after ${count} 1xx responses`,
      bytes: 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(count) + OK,
      expect: ['502'],
      source: INTERIM,
    }),
  ),
  {
    name: 'responds 504 to an upstream that sends only 100 Continue',
    bytes: Array.from({ length: 40 }, () => 'HTTP/1.1 100 Continue\r\n\r\n'),
    expect: ['504'],
    source: INTERIM,
  },
  {
    name: 'refuses a 100 response with a body',
    bytes: `HTTP/1.1 100 Continue\r\nContent-Length: 2\r\n\r\nok${OK}`,
    expect: ['502'],
    source: INTERIM,
  },
  {
    name: 'ignores Transfer-Encoding on a 103 response',
    bytes: `HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n${OK}`,
    expect: ['forwarded'],
    source: INTERIM,
  },
  ...(
    [
      ['103', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
      ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
      ['fifty times 102', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(50)],
      ['199', 'HTTP/1.1 199 Odd\r\nX-Kept: 1\r\n\r\n'],
      ['100 without Expect', 'HTTP/1.1 100 Continue\r\n\r\n'],
      ['100 without a reason', 'HTTP/1.1 100 \r\n\r\n'],
      ['100 with headers', 'HTTP/1.1 100 Continue\r\nX-A: 1\r\nConnection: keep-alive\r\n\r\n'],
      ['100 with an upgrade', 'HTTP/1.1 100 Continue\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n'],
      ['100 twice', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(2)],
      [
        '100 between two other interim responses',
        '103 Early Hints,100 Continue,102 Processing'.replaceAll(/([^,]+),?/g, 'HTTP/1.1 $1\r\n\r\n'),
      ],
      ['103 with repeated headers', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nlink: </b>; x="caf\xe9"\r\n\r\n'],
      [
        '103 with connection headers',
        'HTTP/1.1 103 Early Hints\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=9\r\nLink: </a>\r\n\r\n',
      ],
      ['103 with a length', 'HTTP/1.1 103 Early Hints\r\nContent-Length: 0\r\n\r\n'],
      ['103 with a Trailer header', 'HTTP/1.1 103 Early Hints\r\nTrailer: X\r\n\r\n'],
      ['a hundred times 103', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)],
    ] as const
  ).map(
    ([name, before]): HostileResponse => ({
      name: `forwards a response after interim responses: ${name}`,
      bytes: before + OK,
      expect: ['forwarded'],
      source: INTERIM,
    }),
  ),
  ...(
    [
      ['with a protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello'],
      ['without a protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\nhello'],
      ['to h2c', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n\0\0\0\x04\0\0\0\0\0'],
      [
        'with a response after it',
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n${POISON}`,
      ],
      ['with a length', 'HTTP/1.1 101 Switching Protocols\r\nContent-Length: 5\r\n\r\nhello'],
    ] as const
  ).map(
    ([name, bytes]): HostileResponse => ({
      name: `refuses a 101 response to a request without Upgrade, ${name}`,
      bytes,
      expect: ['502'],
      source: 'RFC 9110 section 15.2.2; CVE-2024-23326',
    }),
  ),
  {
    name: 'forwards or refuses a response that offers an upgrade',
    bytes: withHeaders('Connection: Upgrade\r\nUpgrade: h2c, websocket'),
    expect: ['forwarded', '502'],
    source: 'RFC 9110 section 7.8',
  },
  {
    name: 'forwards or refuses a 426 response that offers an upgrade',
    bytes: withStatusLine('HTTP/1.1 426 Upgrade Required').replace(STALE, 'Upgrade: h2c\r\nConnection: upgrade\r\n'),
    expect: ['forwarded', '502'],
    source: 'RFC 9110 section 15.5.22',
  },
];

const HEADER_LINES: HostileResponse[] = [
  ...[
    'Bad Name: x',
    ': x',
    ' : x',
    'nothing',
    'X : x',
    'X\t: x',
    'X\0: x',
    'X\x01: x',
    'X\xe9: x',
    'X(y): x',
    'X/y: x',
    '"X": x',
    'X: a\0b',
    'X: a\x01b',
    'X: a\x7fb',
    'X: a\x1b[31mb',
    'X: a\rb',
    'X: a\rSet-Cookie: injected=1',
    'X: a\r\n folded',
    'X: a\r\n\tfolded',
    ' Leading: x',
    'HTTP/1.1 200 OK',
  ].map(
    (line): HostileResponse => ({
      name: `refuses an invalid header line: ${printable(line)}`,
      bytes: withHeaders(line),
      expect: ['502'],
      source: 'RFC 9112 section 5; RFC 9110 section 5.5',
    }),
  ),
  ...['X: a\nb', 'X: a\nSet-Cookie: injected=1', 'X: a\n\nok'].map(
    (line): HostileResponse => ({
      name: `refuses an invalid header line: ${printable(line)}`,
      bytes: withHeaders(line),
      expect: ['502'],
      source: 'RFC 9112 section 2.2',
    }),
  ),
  {
    name: 'refuses a bare LF at the end of each line',
    bytes: OK.replaceAll('\r\n', '\n'),
    expect: ['502'],
    source: 'RFC 9112 section 2.2',
  },
  {
    name: 'refuses one header of 20 kB',
    bytes: withHeaders(`X: ${'a'.repeat(20_000)}`),
    expect: ['502'],
    source: 'RFC 9110 section 5.4',
  },
  {
    name: 'refuses 20 kB of small headers',
    bytes: withHeaders(Array.from({ length: 1_600 }, () => 'X: aaaaaaaaaaaa').join('\r\n')),
    expect: ['502'],
    source: 'RFC 9110 section 5.4',
  },
  {
    name: 'refuses headers that never end',
    bytes: `HTTP/1.1 200 OK\r\n${'X: aaaaaaaa\r\n'.repeat(20_000)}`,
    expect: ['502'],
    source: 'RFC 9110 section 5.4',
  },
  {
    name: 'forwards 200 headers',
    bytes: withHeaders(Array.from({ length: 200 }, (_, index) => `X-${index}: 1`).join('\r\n')),
    expect: ['forwarded'],
    source: 'RFC 9110 section 5.4',
  },
  {
    name: 'forwards repeated headers unchanged',
    bytes: withHeaders(
      'Set-Cookie: a=1\r\nset-cookie: b=2, c\r\nVary: Accept\r\nVary: Origin\r\nLink: </a>\r\nWWW-Authenticate: Basic\r\nWWW-Authenticate: Bearer\r\nX-Latin: caf\xe9\r\nX-Empty:',
    ),
    expect: ['forwarded'],
    source: 'RFC 9110 section 5.3',
  },
  {
    name: 'forwards names of built-in object properties',
    bytes: withHeaders('__proto__: a\r\nconstructor: b\r\ntoString: c\r\nhasOwnProperty: d'),
    expect: ['forwarded'],
    source: 'CWE-1321',
  },
  ...['Content-Length', 'Set-Cookie', 'Transfer-Encoding, X-Hop', 'close, Content-Type', 'keep-alive, X-Hop'].map(
    (named): HostileResponse => ({
      name: `removes connection headers for Connection: ${named}`,
      bytes: withHeaders(`Connection: ${named}\r\nX-Hop: 1\r\nContent-Type: text/plain`),
      expect: ['forwarded'],
      source: 'RFC 9110 section 7.6.1',
    }),
  ),
  {
    name: 'forwards or refuses a response with only connection headers',
    bytes: withHeaders('Keep-Alive: timeout=99\r\nProxy-Connection: x\r\nTE: x\r\nUpgrade: h2c'),
    expect: ['forwarded', '502'],
    source: 'RFC 9110 section 7.6.1',
  },
  {
    name: 'forwards or refuses a Trailer header with Content-Length',
    bytes: withHeaders('Trailer: X-Sum'),
    expect: ['forwarded', '502'],
    source: 'RFC 9110 section 6.6.2',
  },
  {
    name: 'forwards trailers',
    bytes: withFraming('Transfer-Encoding: chunked\r\nTrailer: X-Sum', '2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n'),
    expect: ['forwarded'],
    source: 'RFC 9110 section 6.5',
  },
  ...[
    'Content-Length: 5',
    'Transfer-Encoding: chunked',
    'Set-Cookie: injected=1',
    'Content-Type: text/html',
    'Connection: close',
    'connection: x,Close',
    'Connection: x\r\nConnection: close',
    'Connection: upgrade\r\nUpgrade: h2c',
    'Host: x',
  ].map(
    (trailer): HostileResponse => ({
      name: `handles a header that is not allowed as a trailer: ${trailer}`,
      bytes: chunked(`2\r\nok\r\n0\r\n${trailer}\r\n\r\n`),
      expect: ['forwarded', '502', 'aborted'],
      source: 'RFC 9110 section 6.5.1',
    }),
  ),
];

const UPLOADS: HostileResponse[] = [
  ...(
    [
      [
        '413 and a close',
        'HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlarge',
        'close',
      ],
      ['413 on an open connection', 'HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge', undefined],
      ['200 on an open connection', OK, undefined],
      [
        '401 in chunks',
        'HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
        undefined,
      ],
    ] as const
  ).map(
    ([name, bytes, after]): HostileResponse => ({
      name: `forwards a response before the end of the upload: ${name}`,
      bytes,
      ...(after === undefined ? {} : { after }),
      method: 'POST',
      uploadBytes: 100_000,
      expect: ['forwarded'],
      source: 'RFC 9110 section 15.5.14; RFC 9112 section 9.5',
    }),
  ),
  ...(
    [
      ['a reset', '', 'reset'],
      ['a close', '', 'close'],
      ['garbage', 'garbage\r\n\r\n', undefined],
    ] as const
  ).map(
    ([name, bytes, after]): HostileResponse => ({
      name: `responds 502 to an upstream failure before the end of the upload: ${name}`,
      bytes,
      ...(after === undefined ? {} : { after }),
      method: 'POST',
      uploadBytes: 100_000,
      expect: ['502'],
      source: 'RFC 9112 section 9.5',
    }),
  ),
];

export const HOSTILE_RESPONSES: readonly HostileResponse[] = [
  ...STATUS_LINES,
  ...FRAMINGS,
  ...ABORTS,
  ...SURPLUSES,
  ...INTERIMS,
  ...HEADER_LINES,
  ...UPLOADS,
];
