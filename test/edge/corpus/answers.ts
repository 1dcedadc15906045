import { visible } from './case.ts';

/** What the client may come to see of an upstream's answer. */
export type Sight =
  /** A refusal of the gateway with this status, and nothing of the upstream's in it. */
  | '502'
  | '503'
  | '504'
  /** The beginning of the answer at most, and then no clean end. */
  | 'cut'
  /** The answer, exactly as a strict reader reads it. */
  | 'passes';

/** What an upstream does with a request. */
export interface HostileAnswer {
  readonly name: string;
  /** Latin-1. A list is written piece by piece, with a pause between. */
  readonly bytes: string | readonly string[];
  /** What comes after the bytes; by default the connection is kept. */
  readonly after?: 'close' | 'reset' | 'silence';
  /** Written on the kept connection when the exchange has long been over. */
  readonly late?: string;
  /** What comes late answers nothing: the gateway lets the connection go. What comes after its next use it cannot tell. */
  readonly isSurplus?: true;
  readonly sees: readonly Sight[];
  readonly source: string;
  /** Of the request; by default GET. */
  readonly method?: string;
  /** The request has a body of this many bytes, of which the client sends no more than the first hundred. */
  readonly uploadBytes?: number;
  /** What passes, where a strict reader finds no reading: first line and body. */
  readonly reads?: readonly [line: string, body: string];
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const POISON = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison';
const STALE = 'X-Stale: 1\r\nSet-Cookie: stale=1\r\nContent-Encoding: gzip\r\n';

/** An answer of two bytes with this status line. */
function status(line: string): string {
  return `${line}\r\n${STALE}Content-Length: 2\r\n\r\nok`;
}

/** An answer with these header lines before its framing. */
function headed(lines: string): string {
  return `HTTP/1.1 200 OK\r\n${STALE}${lines}\r\nContent-Length: 2\r\n\r\nok`;
}

/** An answer that is framed by these lines. */
function framed(lines: string, body = 'ok'): string {
  return `HTTP/1.1 200 OK\r\n${STALE}${lines}\r\n\r\n${body}`;
}

function chunked(chunks: string): string {
  return framed('Transfer-Encoding: chunked', chunks);
}

/** Empty lines before an answer are skipped (RFC 9112 section 2.2): they are no surplus. */
function surplus(name: string): { isSurplus?: true } {
  return name === 'an empty line' ? {} : { isSurplus: true };
}

const STATUS = 'RFC 9112 section 4';

const STATUS_LINES: HostileAnswer[] = [
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
    (line): HostileAnswer => ({
      name: `a status line: ${visible(line)}`,
      bytes: status(line),
      sees: ['502'],
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
    (line): HostileAnswer => ({
      name: `a status line that some parsers forgive: ${visible(line)}`,
      bytes: status(line),
      sees: ['502', 'passes'],
      source: STATUS,
      reads: [line === 'HTTP/1.1 200' ? 'HTTP/1.1 200 ' : 'HTTP/1.1 200 OK', 'ok'],
    }),
  ),
  ...['\x01', '\0', '\x1b[31m', '\x7f', '\r', '\n', '\rX: 1', '\nX: 1', '\v', '\b'].map(
    (control): HostileAnswer => ({
      name: `a control in the reason: ${visible(control)}`,
      bytes: status(`HTTP/1.1 200 O${control}K`),
      sees: ['502'],
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
    (line): HostileAnswer => ({
      name: `a status that is odd or an error, and goes on as it is: ${visible(line)}`,
      bytes: status(`HTTP/1.1 ${line}`),
      sees: ['passes'],
      source: 'RFC 9110 section 15',
    }),
  ),
  {
    name: 'a reason that is no UTF-8',
    bytes: status('HTTP/1.1 200 caf\xe9'),
    sees: ['passes'],
    source: 'RFC 9112 section 4',
  },
  ...(
    [
      ['TLS', '\x16\x03\x01\0\x05\x01\0\0\x01\0'],
      ['SSH', 'SSH-2.0-OpenSSH_9.0\r\n'],
      ['SMTP', '220 mail.test ESMTP\r\n'],
      ['HTML without a head', '<html><body>hello</body></html>\r\n\r\n'],
      ['JSON without a head', '{"ok":true}\r\n\r\n'],
      ['zeros', '\0'.repeat(100)],
      ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      ['the settings of HTTP/2', '\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x80'],
      ['empty lines alone, then the end', '\r\n\r\n\r\n'],
    ] as const
  ).map(
    ([name, bytes]): HostileAnswer => ({
      name: `no answer at all: ${name}`,
      bytes,
      after: 'close',
      sees: ['502'],
      source: STATUS,
    }),
  ),
];

const FRAMING = 'RFC 9112 sections 6.1 and 6.3';
const CHUNKS = '2\r\nok\r\n0\r\n\r\n';

const FRAMINGS: HostileAnswer[] = [
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
    ([lines, body]): HostileAnswer => ({
      name: `framed by ${visible(lines)}`,
      bytes: framed(lines, body),
      after: 'close',
      sees: ['502'],
      source: FRAMING,
    }),
  ),
  {
    name: 'framed by leading zeros',
    bytes: framed('Content-Length: 002'),
    sees: ['502', 'passes'],
    source: FRAMING,
  },
  {
    name: 'chunks on HTTP/1.0',
    bytes: framed('Transfer-Encoding: chunked', CHUNKS).replace('HTTP/1.1', 'HTTP/1.0'),
    after: 'close',
    sees: ['502', 'passes'],
    source: FRAMING,
    reads: ['HTTP/1.1 200 OK', 'ok'],
  },
  ...(
    [
      ['a size that is no number', 'zz\r\nok\r\n0\r\n\r\n'],
      ['a size in hexadecimal notation', '0x2\r\nok\r\n0\r\n\r\n'],
      ['a negative size', '-2\r\nok\r\n0\r\n\r\n'],
      ['a size beyond 64 bits', '10000000000000002\r\nok\r\n0\r\n\r\n'],
      ['a size that ends in a bare LF', '2\nok\r\n0\r\n\r\n'],
      ['no size', '\r\nok\r\n0\r\n\r\n'],
      ['data longer than its size', '2\r\nok!\r\n0\r\n\r\n'],
      ['data that ends in a bare LF', '2\r\nok\n0\r\n\r\n'],
      ['data that ends in nothing', '2\r\nok0\r\n\r\n'],
      ['an extension with a bare LF', '2;a\nok\r\n0\r\n\r\n'],
      ['an extension with a NUL', '2;a=\0\r\nok\r\n0\r\n\r\n'],
      ['an end of bare LF', '2\r\nok\r\n0\n\n'],
      ['a trailer without a colon', '2\r\nok\r\n0\r\nX\r\n\r\n'],
      ['a trailer with a NUL', '2\r\nok\r\n0\r\nX: a\0\r\n\r\n'],
      ['a trailer that is folded', '2\r\nok\r\n0\r\nX: a\r\n b\r\n\r\n'],
      ['a trailer of 20 kB', `2\r\nok\r\n0\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`],
      ['an answer in place of a size', POISON],
    ] as const
  ).flatMap(([name, chunks]): HostileAnswer[] => [
    {
      name: `chunks with ${name}`,
      bytes: chunked(chunks),
      sees: ['502', 'cut'],
      source: 'RFC 9112 section 7.1',
    },
    {
      name: `chunks, and later ${name}`,
      bytes: [chunked('5\r\nhello\r\n'), chunks],
      sees: ['cut'],
      source: 'RFC 9112 section 7.1',
    },
  ]),
  ...(
    [
      ['extensions', '2;a=b;c="d"\r\nok\r\n0;e\r\n\r\n'],
      ['leading zeros', '0002\r\nok\r\n000\r\n\r\n'],
      ['upper case', `A\r\n${'ok'.repeat(5)}\r\n0\r\n\r\n`],
      ['single bytes', '1\r\no\r\n1\r\nk\r\n0\r\n\r\n'],
    ] as const
  ).map(
    ([name, chunks]): HostileAnswer => ({
      name: `chunks with ${name} are chunks`,
      bytes: chunked(chunks),
      sees: ['passes'],
      source: 'RFC 9112 section 7.1',
      reads: ['HTTP/1.1 200 OK', name === 'upper case' ? 'ok'.repeat(5) : 'ok'],
    }),
  ),
];

const ENDS: HostileAnswer[] = [
  ...(['close', 'reset'] as const).flatMap((after): HostileAnswer[] => [
    ...(
      [
        ['without a byte', ''],
        ['in the status line', 'HTTP/1.1 2'],
        ['after the status line', 'HTTP/1.1 200 OK\r\n'],
        ['in a header', `HTTP/1.1 200 OK\r\n${STALE}Content-`],
        ['before the empty line', `HTTP/1.1 200 OK\r\n${STALE}Content-Length: 2\r\n`],
        ['in the middle of it', `HTTP/1.1 200 OK\r\n${STALE}Content-Length: 2\r\n\r`],
        ['after a 1xx', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
      ] as const
    ).map(
      ([where, bytes]): HostileAnswer => ({
        name: `a ${after} ${where}`,
        bytes,
        after,
        sees: ['502'],
        source: 'RFC 9110 section 15.6.3',
      }),
    ),
    ...(
      [
        ['a counted body', framed('Content-Length: 100', 'half')],
        ['a counted body before an announced close', framed('Connection: close\r\nContent-Length: 100', 'half')],
        [
          'chunks before an announced close',
          framed('Connection: close\r\nTransfer-Encoding: chunked', '4\r\nhalf\r\n'),
        ],
        ['a chunk before an announced close', framed('Connection: close\r\nTransfer-Encoding: chunked', '64\r\nhalf')],
        [
          'the last chunk before an announced close',
          framed('Connection: close\r\nTransfer-Encoding: chunked', '4\r\nhalf\r\n0\r\n'),
        ],
        ['a counted body of HTTP/1.0', framed('Content-Length: 100', 'half').replace('1.1', '1.0')],
        ['a counted body of which nothing came', framed('Content-Length: 100', '')],
        ['a counted body that lacks one byte', framed('Content-Length: 5', 'half')],
        ['a chunk', chunked('64\r\nhalf')],
        ['between two chunks', chunked('4\r\nhalf\r\n')],
        ['a chunk size', chunked('4\r\nhalf\r\n4')],
        ['the last chunk', chunked('4\r\nhalf\r\n0\r\n')],
        ['the trailers', chunked('4\r\nhalf\r\n0\r\nX: y\r\n')],
      ] as const
    ).flatMap(([where, bytes]): HostileAnswer[] => [
      { name: `a ${after} in ${where}`, bytes, after, sees: ['502', 'cut'], source: 'RFC 9112 section 8' },
      {
        name: `a ${after}, later, in ${where}`,
        bytes: [bytes, ''],
        after,
        sees: ['cut'],
        source: 'RFC 9112 section 8',
      },
    ]),
  ]),
  {
    name: 'a body without framing ends where the connection closes',
    bytes: framed('X: y', 'hello'),
    after: 'close',
    sees: ['passes'],
    source: 'RFC 9112 section 6.3',
  },
  {
    name: 'a body without framing that comes in pieces',
    bytes: [framed('X: y', 'hel'), 'lo'],
    after: 'close',
    sees: ['passes'],
    source: 'RFC 9112 section 6.3',
  },
  {
    name: 'a body without framing is not whole after a reset',
    bytes: [framed('X: y', 'hello'), ''],
    after: 'reset',
    sees: ['cut'],
    source: 'RFC 9112 section 8',
  },
  {
    name: 'a body without framing that announces a close is not whole after a reset',
    bytes: [framed('Connection: close', 'hello'), ''],
    after: 'reset',
    sees: ['cut'],
    source: 'RFC 9112 section 8',
  },
  {
    name: 'an answer of HTTP/1.0 without framing is not whole after a reset',
    bytes: ['HTTP/1.0 200 OK\r\n\r\nhello', ''],
    after: 'reset',
    sees: ['cut'],
    source: 'RFC 9112 section 8',
  },
  {
    name: 'an answer of HTTP/1.0 without framing',
    bytes: 'HTTP/1.0 200 OK\r\n\r\nold',
    after: 'close',
    sees: ['passes'],
    source: 'RFC 9112 section 6.3',
  },
  {
    name: 'a close right after a whole answer',
    bytes: OK,
    after: 'close',
    sees: ['passes'],
    source: 'RFC 9112 section 9.6',
  },
  {
    name: 'an announced close that does not come',
    bytes: headed('Connection: close'),
    sees: ['passes'],
    source: 'RFC 9112 section 9.6',
  },
  ...(
    [
      ['without a byte', ''],
      ['in the status line', 'HTTP/1.1 2'],
      ['in the head', `HTTP/1.1 200 OK\r\n${STALE}`],
      ['after a 1xx', 'HTTP/1.1 102 Processing\r\n\r\n'],
      ['after many 1xx', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(50)],
    ] as const
  ).map(
    ([where, bytes]): HostileAnswer => ({
      name: `silence ${where}`,
      bytes,
      after: 'silence',
      sees: ['504'],
      source: 'RFC 9110 section 15.6.5',
    }),
  ),
  ...(
    [
      ['a counted body', framed('Content-Length: 100', 'half')],
      ['a counted body of which nothing came', framed('Content-Length: 100', '')],
      ['a chunk', chunked('64\r\nhalf')],
      ['the last chunk', chunked('4\r\nhalf\r\n0\r\n')],
      ['a body without framing', framed('X: y', 'half')],
    ] as const
  ).map(
    ([where, bytes]): HostileAnswer => ({
      name: `silence in ${where}`,
      bytes,
      after: 'silence',
      sees: ['cut'],
      source: 'RFC 9112 section 8',
    }),
  ),
];

const EXTRA = 'RFC 9112 section 9.2; RFC 9112 section 11.1';

const EXTRAS: HostileAnswer[] = [
  ...(
    [
      ['another answer', POISON],
      ['two other answers', POISON + POISON],
      ['half of another answer', POISON.slice(0, 30)],
      ['text', 'extra'],
      ['an empty line', '\r\n'],
      ['a NUL', '\0'],
      ['an interim answer', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
      ['100 kB', 'x'.repeat(100_000)],
      ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
      ['a timeout', 'HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'],
    ] as const
  ).flatMap(([name, extra]): HostileAnswer[] => [
    { name: `after a counted body ${name}`, bytes: OK + extra, sees: ['passes', '502', 'cut'], source: EXTRA },
    { name: `after chunks ${name}`, bytes: chunked(CHUNKS) + extra, sees: ['passes', '502', 'cut'], source: EXTRA },
    {
      name: `after an empty body ${name}`,
      bytes: framed('Content-Length: 0', extra),
      sees: ['passes', '502', 'cut'],
      source: EXTRA,
    },
    {
      name: `a moment after a counted body ${name}`,
      bytes: [OK, extra],
      ...surplus(name),
      sees: ['passes'],
      source: EXTRA,
    },
    {
      name: `long after a counted body ${name}`,
      bytes: OK,
      late: extra,
      ...surplus(name),
      sees: ['passes'],
      source: EXTRA,
    },
  ]),
  ...(['204 No Content', '304 Not Modified'] as const).flatMap((line): HostileAnswer[] =>
    (
      [
        ['a counted body', 'Content-Length: 5\r\n\r\nhello'],
        ['chunks', `Transfer-Encoding: chunked\r\n\r\n${CHUNKS}`],
        ['a body without framing', '\r\nhello'],
        ['another answer for a body', `Content-Length: ${POISON.length}\r\n\r\n${POISON}`],
        ['nothing', '\r\n'],
      ] as const
    ).map(([name, rest]) => ({
      name: `${line} with ${name}`,
      bytes: `HTTP/1.1 ${line}\r\nX-Kept: 1\r\n${rest}`,
      sees: name === 'nothing' ? ['passes'] : ['passes', '502', 'cut'],
      source: 'RFC 9110 sections 15.3.5 and 15.4.5',
    })),
  ),
  ...(
    [
      ['a counted body', framed('Content-Length: 5', 'hello')],
      ['chunks', chunked(CHUNKS)],
      ['another answer for a body', framed(`Content-Length: ${POISON.length}`, POISON)],
    ] as const
  ).map(
    ([name, bytes]): HostileAnswer => ({
      name: `to HEAD with ${name}`,
      bytes,
      method: 'HEAD',
      sees: ['passes', '502', 'cut'],
      source: 'RFC 9110 section 9.3.2',
    }),
  ),
  {
    name: 'to HEAD as it should be',
    bytes: framed('Content-Length: 12345', ''),
    method: 'HEAD',
    sees: ['passes'],
    source: 'RFC 9110 section 9.3.2',
  },
];

const INTERIM = 'RFC 9110 section 15.2';

const INTERIMS: HostileAnswer[] = [
  ...[101, 1_000].map(
    (count): HostileAnswer => ({
      name: `1xx: ${count} of them, then the answer`,
      bytes: 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(count) + OK,
      sees: ['502'],
      source: INTERIM,
    }),
  ),
  {
    name: '1xx: 100 again and again, which is no answer',
    bytes: Array.from({ length: 40 }, () => 'HTTP/1.1 100 Continue\r\n\r\n'),
    sees: ['504'],
    source: INTERIM,
  },
  {
    name: '1xx: 100 that a body follows',
    bytes: `HTTP/1.1 100 Continue\r\nContent-Length: 2\r\n\r\nok${OK}`,
    sees: ['502'],
    source: INTERIM,
  },
  {
    name: '1xx: 103 that says it has chunks',
    bytes: `HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n${OK}`,
    sees: ['passes'],
    source: INTERIM,
  },
  ...(
    [
      ['103, then the answer', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
      ['102, then the answer', 'HTTP/1.1 102 Processing\r\n\r\n'],
      ['fifty, then the answer', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(50)],
      ['199, then the answer', 'HTTP/1.1 199 Odd\r\nX-Kept: 1\r\n\r\n'],
      ['100 unasked, then the answer', 'HTTP/1.1 100 Continue\r\n\r\n'],
      ['100 without a reason', 'HTTP/1.1 100 \r\n\r\n'],
      ['100 with headers', 'HTTP/1.1 100 Continue\r\nX-A: 1\r\nConnection: keep-alive\r\n\r\n'],
      ['100 with an upgrade', 'HTTP/1.1 100 Continue\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n'],
      ['100 twice', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(2)],
      [
        '100 between two others',
        '103 Early Hints,100 Continue,102 Processing'.replaceAll(/([^,]+),?/g, 'HTTP/1.1 $1\r\n\r\n'),
      ],
      ['103 with repeated headers', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nlink: </b>; x="caf\xe9"\r\n\r\n'],
      [
        '103 with headers of the connection',
        'HTTP/1.1 103 Early Hints\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=9\r\nLink: </a>\r\n\r\n',
      ],
      ['103 with a length, then the answer', 'HTTP/1.1 103 Early Hints\r\nContent-Length: 0\r\n\r\n'],
      ['103 with a trailer announced', 'HTTP/1.1 103 Early Hints\r\nTrailer: X\r\n\r\n'],
      ['a hundred, then the answer', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)],
    ] as const
  ).map(
    ([name, before]): HostileAnswer => ({
      name: `1xx: ${name}`,
      bytes: before + OK,
      sees: ['passes'],
      source: INTERIM,
    }),
  ),
  ...(
    [
      ['with a protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello'],
      ['without a protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\nhello'],
      ['to h2c', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n\0\0\0\x04\0\0\0\0\0'],
      ['and an answer', `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n${POISON}`],
      ['with a length', 'HTTP/1.1 101 Switching Protocols\r\nContent-Length: 5\r\n\r\nhello'],
    ] as const
  ).map(
    ([name, bytes]): HostileAnswer => ({
      name: `101 unasked, ${name}`,
      bytes,
      sees: ['502'],
      source: 'RFC 9110 section 15.2.2; CVE-2024-23326',
    }),
  ),
  {
    name: 'an upgrade that is offered and not made',
    bytes: headed('Connection: Upgrade\r\nUpgrade: h2c, websocket'),
    sees: ['passes', '502'],
    source: 'RFC 9110 section 7.8',
  },
  {
    name: 'an upgrade in a 426',
    bytes: status('HTTP/1.1 426 Upgrade Required').replace(STALE, 'Upgrade: h2c\r\nConnection: upgrade\r\n'),
    sees: ['passes', '502'],
    source: 'RFC 9110 section 15.5.22',
  },
];

const HEADER_LINES: HostileAnswer[] = [
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
    (line): HostileAnswer => ({
      name: `a header line: ${visible(line)}`,
      bytes: headed(line),
      sees: ['502'],
      source: 'RFC 9112 section 5; RFC 9110 section 5.5',
    }),
  ),
  ...['X: a\nb', 'X: a\nSet-Cookie: injected=1', 'X: a\n\nok'].map(
    (line): HostileAnswer => ({
      name: `a header line: ${visible(line)}`,
      bytes: headed(line),
      sees: ['502'],
      source: 'RFC 9112 section 2.2',
    }),
  ),
  { name: 'bare LF at each line', bytes: OK.replaceAll('\r\n', '\n'), sees: ['502'], source: 'RFC 9112 section 2.2' },
  {
    name: 'one header of 20 kB',
    bytes: headed(`X: ${'a'.repeat(20_000)}`),
    sees: ['502'],
    source: 'RFC 9110 section 5.4',
  },
  {
    name: '20 kB of small headers',
    bytes: headed(Array.from({ length: 1_600 }, () => 'X: aaaaaaaaaaaa').join('\r\n')),
    sees: ['502'],
    source: 'RFC 9110 section 5.4',
  },
  {
    name: 'a head that never ends',
    bytes: `HTTP/1.1 200 OK\r\n${'X: aaaaaaaa\r\n'.repeat(20_000)}`,
    sees: ['502'],
    source: 'RFC 9110 section 5.4',
  },
  {
    name: '200 headers',
    bytes: headed(Array.from({ length: 200 }, (_, index) => `X-${index}: 1`).join('\r\n')),
    sees: ['passes'],
    source: 'RFC 9110 section 5.4',
  },
  {
    name: 'repeated headers stay repeated',
    bytes: headed(
      'Set-Cookie: a=1\r\nset-cookie: b=2, c\r\nVary: Accept\r\nVary: Origin\r\nLink: </a>\r\nWWW-Authenticate: Basic\r\nWWW-Authenticate: Bearer\r\nX-Latin: caf\xe9\r\nX-Empty:',
    ),
    sees: ['passes'],
    source: 'RFC 9110 section 5.3',
  },
  {
    name: 'names that an object already has',
    bytes: headed('__proto__: a\r\nconstructor: b\r\ntoString: c\r\nhasOwnProperty: d'),
    sees: ['passes'],
    source: 'CWE-1321',
  },
  ...['Content-Length', 'Set-Cookie', 'Transfer-Encoding, X-Hop', 'close, Content-Type', 'keep-alive, X-Hop'].map(
    (named): HostileAnswer => ({
      name: `Connection: ${named}`,
      bytes: headed(`Connection: ${named}\r\nX-Hop: 1\r\nContent-Type: text/plain`),
      sees: ['passes'],
      source: 'RFC 9110 section 7.6.1',
    }),
  ),
  {
    name: 'headers of the connection alone',
    bytes: headed('Keep-Alive: timeout=99\r\nProxy-Connection: x\r\nTE: x\r\nUpgrade: h2c'),
    sees: ['passes', '502'],
    source: 'RFC 9110 section 7.6.1',
  },
  {
    name: 'Trailer with Content-Length',
    bytes: headed('Trailer: X-Sum'),
    sees: ['passes', '502'],
    source: 'RFC 9110 section 6.6.2',
  },
  {
    name: 'trailers go on',
    bytes: framed('Transfer-Encoding: chunked\r\nTrailer: X-Sum', '2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n'),
    sees: ['passes'],
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
    (trailer): HostileAnswer => ({
      name: `a trailer that must be no trailer: ${trailer}`,
      bytes: chunked(`2\r\nok\r\n0\r\n${trailer}\r\n\r\n`),
      sees: ['passes', '502', 'cut'],
      source: 'RFC 9110 section 6.5.1',
    }),
  ),
];

const UPLOADS: HostileAnswer[] = [
  ...(
    [
      [
        '413, and a close',
        'HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlarge',
        'close',
      ],
      ['413, and nothing more', 'HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge', undefined],
      ['200, and nothing more', OK, undefined],
      [
        '401 in chunks',
        'HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
        undefined,
      ],
    ] as const
  ).map(
    ([name, bytes, after]): HostileAnswer => ({
      name: `before the upload is done: ${name}`,
      bytes,
      ...(after === undefined ? {} : { after }),
      method: 'POST',
      uploadBytes: 100_000,
      sees: ['passes'],
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
    ([name, bytes, after]): HostileAnswer => ({
      name: `before the upload is done: ${name}`,
      bytes,
      ...(after === undefined ? {} : { after }),
      method: 'POST',
      uploadBytes: 100_000,
      sees: ['502'],
      source: 'RFC 9112 section 9.5',
    }),
  ),
];

export const ANSWERS: readonly HostileAnswer[] = [
  ...STATUS_LINES,
  ...FRAMINGS,
  ...ENDS,
  ...EXTRAS,
  ...INTERIMS,
  ...HEADER_LINES,
  ...UPLOADS,
];
