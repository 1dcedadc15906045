import { type Case, get, HOST, post, postChunks, printable, request, SMUGGLED, TOKEN, type Verdict } from './case.ts';

const AB = '2\r\nab\r\n0\r\n\r\n';

/** Builds requests with one of these header lines each. The bytes after the body look like another request. */
function lines(family: string, source: string, list: readonly string[], expect: Verdict = '400'): Case[] {
  return list.map((line) => ({
    name: `${family}: ${printable(line)}`,
    bytes: `${request('POST /public/x HTTP/1.1', HOST, line)}abcde${SMUGGLED}`,
    expect,
    source,
  }));
}

const LENGTHS: Case[] = [
  ...lines('refuses an invalid length', 'RFC 9112 section 6.3; RFC 9110 section 8.6', [
    'Content-Length: +5',
    'Content-Length: -5',
    'Content-Length: -0',
    'Content-Length: 0x5',
    'Content-Length: 5h',
    'Content-Length: 5.0',
    'Content-Length: 5e0',
    'Content-Length: 5_0',
    'Content-Length: 5;',
    'Content-Length: 5;x=1',
    'Content-Length: "5"',
    'Content-Length: 5 5',
    'Content-Length: 5\t5',
    'Content-Length: five',
    'Content-Length: NaN',
    'Content-Length: \xb2',
    'Content-Length: \xd9\xa5',
    'Content-Length: 5\v',
    'Content-Length: \x0b5',
    'Content-Length: 5\0',
  ]),
  ...lines('refuses an empty length', 'CVE-2023-40225; CVE-2023-40175', [
    'Content-Length:',
    'Content-Length: ',
    'Content-Length:\t',
    'Content-Length: ,',
  ]),
  ...lines('refuses a length with leading zeros', 'RFC 9110 section 8.6', [
    'Content-Length: 05',
    'Content-Length: 00',
    'Content-Length: 0000000005',
  ]),
  ...lines('refuses a length that overflows', 'RFC 9110 section 8.6', [
    'Content-Length: 18446744073709551621',
    'Content-Length: 4294967301000000000000000000000005',
    'Content-Length: 99999999999999999999',
    'Content-Length: 9223372036854775813',
  ]),
  ...lines('refuses a list of lengths', 'RFC 9110 section 8.6; CVE-2018-7159', [
    'Content-Length: 5, 5',
    'Content-Length: 5,5',
    'Content-Length: 5, 0',
    'Content-Length: 0, 5',
    'Content-Length: 5,',
    'Content-Length: ,5',
  ]),
  ...lines('refuses repeated lengths', 'RFC 9112 section 6.3; CVE-2019-16792', [
    'Content-Length: 5\r\nContent-Length: 5',
    'Content-Length: 5\r\nContent-Length: 0',
    'Content-Length: 0\r\nContent-Length: 5',
    'Content-Length: 5\r\ncontent-length: 6',
    'Content-Length: 5\r\nX: y\r\nCONTENT-LENGTH: 5',
    'Content-Length: 5\r\nContent-Length:',
  ]),
  ...lines('refuses a malformed length header name', 'RFC 9112 section 5.1; CVE-2024-27982; CVE-2021-22959', [
    'Content-Length : 5',
    'Content-Length\t: 5',
    ' Content-Length: 5',
    '\tContent-Length: 5',
    'Content-Length\x0b: 5',
    'Content-Length\0: 5',
    'Content-Length\xa0: 5',
    '"Content-Length": 5',
    'Content Length: 5',
    'Content-Length 5',
    'Content-Length=5',
  ]),
  ...[
    'Content-Length: 5 ',
    'Content-Length:5',
    'Content-Length:\t5\t',
    'CONTENT-LENGTH: 5',
    'content-length:   5  ',
  ].map(
    (line): Case => ({
      name: `forwards a length with valid whitespace and letter case: ${printable(line)}`,
      bytes: `${request('POST /public/x HTTP/1.1', HOST, line)}abcde`,
      expect: 'forwarded',
      source: 'RFC 9112 section 5',
    }),
  ),
  {
    name: 'ignores Content_Length and removes it for upstreams that normalize names',
    bytes: `${request('POST /public/x HTTP/1.1', HOST, 'Content_Length: 5')}${get('/public/y')}`,
    expect: ['forwarded', 'forwarded'],
    source: 'RFC 3875 section 4.1.18',
    removedHeaders: ['content_length'],
  },
];

const ENCODING = 'RFC 9112 section 6.1';

const ENCODINGS: Case[] = [
  ...lines('refuses length and encoding', `${ENCODING}; Linhart et al. 2005 (CL.TE, TE.CL)`, [
    'Content-Length: 5\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nContent-Length: 5',
    'Content-Length: 0\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nContent-Length: 0',
    'Transfer-Encoding: chunked\r\nX: y\r\ncontent-length: 5',
    'Content-Length: 5\r\nTransfer-Encoding: identity',
    'Content-Length: 5\r\nTransfer-Encoding: xchunked',
    'Content-Length: 5\r\nTransfer-Encoding:',
    'Content-Length: 5\r\nTransfer-Encoding: gzip, chunked',
    'Content-Length: 5\r\nTransfer-Encoding : chunked',
  ]),
  ...lines('refuses an encoding other than chunked', `${ENCODING}; CVE-2022-32213; CVE-2019-16786; CVE-2022-1705`, [
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding: chunkedx',
    'Transfer-Encoding: chunk',
    'Transfer-Encoding: chunked;q=1',
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding: identity, chunked',
    'Transfer-Encoding: chunked, chunked',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding: chunked, gzip',
    'Transfer-Encoding: chunked,',
    'Transfer-Encoding: ,chunked',
    'Transfer-Encoding: , chunked',
    'Transfer-Encoding: chunked chunked',
    'Transfer-Encoding: "chunked"',
    "Transfer-Encoding: 'chunked'",
    'Transfer-Encoding: identity',
    'Transfer-Encoding: gzip',
    'Transfer-Encoding: deflate',
    'Transfer-Encoding: cow',
    'Transfer-Encoding:',
    'Transfer-Encoding: false',
    'Transfer-Encoding: chun\xffked',
    'Transfer-Encoding: chun\x0bked',
    'Transfer-Encoding: [chunked]',
    'Transfer-Encoding: chunked\xa0',
    'Transfer-Encoding: chunk\xe9d',
  ]),
  ...lines(
    'refuses an encoding with control characters',
    `${ENCODING}; CVE-2019-18277; CVE-2019-15605; Kettle 2019 (TE.TE)`,
    [
      'Transfer-Encoding: \x0bchunked',
      'Transfer-Encoding: chunked\x0b',
      'Transfer-Encoding: \x0cchunked',
      'Transfer-Encoding: chunked\x0c',
      'Transfer-Encoding: chunked\0',
      'Transfer-Encoding: \0chunked',
      'Transfer-Encoding: \x01chunked',
      'Transfer-Encoding:\x7fchunked',
      'Transfer-Encoding: \bchunked',
    ],
  ),
  ...lines('refuses repeated encodings', `${ENCODING}; CVE-2020-8287; Kettle 2019 (TE.TE)`, [
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: cow',
    'Transfer-Encoding: cow\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\ntransfer-encoding:',
    'Transfer-Encoding: chunked\r\nX: y\r\nTRANSFER-ENCODING: gzip',
  ]),
  ...lines('refuses a malformed encoding header name', `RFC 9112 section 5.1; CVE-2019-16276; Kettle 2019`, [
    'Transfer-Encoding : chunked',
    'Transfer-Encoding\t: chunked',
    'Transfer-Encoding\x0b: chunked',
    'Transfer-Encoding\xa0: chunked',
    'Transfer-Encoding\0: chunked',
    ' Transfer-Encoding: chunked',
    '\tTransfer-Encoding: chunked',
    '\x0bTransfer-Encoding: chunked',
    'Transfer Encoding: chunked',
    'Transf\xe9r-Encoding: chunked',
    '"Transfer-Encoding": chunked',
    '[Transfer-Encoding]: chunked',
    'Transfer-Encoding chunked',
    'Transfer-Encoding=chunked',
    'Transfer-Encoding\r: chunked',
    'Transfer-Encoding\n: chunked',
    'Transfer-Encoding\r\n: chunked',
  ]),
  ...lines(
    'refuses an encoding on an injected line',
    `RFC 9112 sections 2.2 and 5.2; CVE-2022-32214; CVE-2022-32215; CVE-2022-35256`,
    [
      'Transfer-Encoding:\r\n chunked',
      'Transfer-Encoding:\r\n\tchunked',
      'Transfer-Encoding: chunked\r\n , identity',
      'Transfer-Encoding: chunked\r\n ',
      'Transfer-Encoding:\n chunked',
      'Transfer-Encoding: \n\tchunked',
      'X: y\nTransfer-Encoding: chunked',
      'X: y\rTransfer-Encoding: chunked',
      'X: y\r\rTransfer-Encoding: chunked',
      'X: y\r\n Transfer-Encoding: chunked',
      'X: y\n\rTransfer-Encoding: chunked',
      'Transfer-Encoding: chunked\nX: y',
      'Transfer-Encoding: chunked\rX: y',
      'X: \nTransfer-Encoding: chunked',
      'Foo: bar\0\r\nTransfer-Encoding: chunked\0',
    ],
  ),
  ...['chunked', 'Chunked', 'CHUNKED', 'chunKed', 'chunked ', '  chunked', '\tchunked'].map(
    (value): Case => ({
      name: `forwards an encoding with valid whitespace and letter case: ${printable(value)}`,
      bytes: request('POST /public/x HTTP/1.1', HOST, `Transfer-Encoding: ${value}`) + AB,
      expect: 'forwarded',
      source: ENCODING,
      forwardedBody: 'ab',
    }),
  ),
  ...['chunked\t', 'Chunked \t '].map(
    (value): Case => ({
      name: `refuses an encoding with a tab behind it, which llhttp does not read as chunked: ${printable(value)}`,
      bytes: request('POST /public/x HTTP/1.1', HOST, `transfer-encoding:${value}`) + AB,
      expect: '400',
      source: ENCODING,
    }),
  ),
  {
    name: 'ignores Transfer_Encoding and removes it for upstreams that normalize names',
    bytes: `${request('POST /public/x HTTP/1.1', HOST, 'Transfer_Encoding: chunked')}${get('/public/y')}`,
    expect: ['forwarded', 'forwarded'],
    source: 'RFC 3875 section 4.1.18',
    removedHeaders: ['transfer_encoding'],
  },
  ...['chunked', 'identity', 'gzip', 'chunked, chunked'].map(
    (value): Case => ({
      name: `refuses a transfer encoding on HTTP/1.0: ${value}`,
      bytes: request('POST /public/x HTTP/1.0', HOST, `Transfer-Encoding: ${value}`) + AB,
      expect: '400',
      source: ENCODING,
    }),
  ),
  ...['/public/x', '/schema', '/admin/x'].map(
    (target): Case => ({
      name: `refuses length and encoding where one of the bodies hides a request: ${target}`,
      bytes: `${request(
        `POST ${target} HTTP/1.1`,
        HOST,
        'Content-Type: application/json',
        'Content-Length: 4',
        'Transfer-Encoding: chunked',
      )}${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`,
      expect: '400',
      source: 'Linhart et al. 2005 (TE.CL)',
    }),
  ),
];

const CHUNK = 'RFC 9112 section 7.1';

/** Invalid chunks. The test appends bytes that look like a request. */
const BAD_CHUNKS: readonly (readonly [name: string, chunks: string, source: string])[] = [
  ['a size in hexadecimal notation', '0x2\r\nab\r\n0\r\n\r\n', 'CVE-2022-24761; CVE-2022-24801'],
  ['a size with a plus sign', '+2\r\nab\r\n0\r\n\r\n', 'CVE-2022-24761'],
  ['a negative size', '-2\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a negative last size', '2\r\nab\r\n-0\r\n\r\n', CHUNK],
  ['a size with an underscore', '0_2\r\nab\r\n0\r\n\r\n', 'CVE-2022-24801'],
  ['a missing size', '\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size that is not a number', 'xyz\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size in letters beyond f', '2g\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a space before a size', ' 2\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a tab before a size', '\t2\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size with a decimal point', '2.0\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size in quotes', '"2"\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size with a comma', '2,2\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size with a NUL', '2\0\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size in non-ASCII bytes', '\xb2\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size beyond 64 bits', `${'f'.repeat(17)}\r\nab\r\n0\r\n\r\n`, CHUNK],
  ['a size that wraps to 2', '10000000000000002\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size of 200 digits', `${'f'.repeat(200)}\r\nab\r\n0\r\n\r\n`, CHUNK],
  ['a size that ends in a bare LF', '2\nab\r\n0\r\n\r\n', 'RFC 9112 section 7.1; CVE-2025-22871; CVE-2025-58056'],
  ['a size that ends in a bare CR', '2\rab\r\n0\r\n\r\n', CHUNK],
  ['a size that ends in CR CR LF', '2\r\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size that ends in LF CR', '2\n\rab\r\n0\r\n\r\n', CHUNK],
  ['data that ends in a bare LF', '2\r\nab\n0\r\n\r\n', 'RFC 9112 section 7.1; CVE-2025-43859'],
  ['data that ends in a bare CR', '2\r\nab\r0\r\n\r\n', CHUNK],
  ['data without a line ending', '2\r\nab0\r\n\r\n', CHUNK],
  ['data that ends in two bytes other than CR LF', '2\r\nabXX0\r\n\r\n', 'CVE-2025-43859'],
  ['data that is longer than its size', '2\r\nabc\r\n0\r\n\r\n', CHUNK],
  ['data that is shorter than its size', '4\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a body that ends in bare LFs', '2\r\nab\r\n0\n\n', CHUNK],
  ['a body that ends in CR LF LF', '2\r\nab\r\n0\r\n\n', 'RFC 9112 section 2.2'],
  ['a body that ends in LF CR LF', '2\r\nab\r\n0\n\r\n', CHUNK],
  ['a body that ends in CR CR', '2\r\nab\r\n0\r\n\r\r', CHUNK],
  ['an extension that ends in a bare LF', '2;\nab\r\n0\r\n\r\n', 'CVE-2025-55315'],
  ['an extension with a bare LF inside', '2;a=b\nab\r\n0\r\n\r\n', 'CVE-2025-55315; CVE-2024-52304'],
  ['an extension with a bare CR inside', '2;a\rb\r\nab\r\n0\r\n\r\n', 'CVE-2025-55315'],
  ['an extension with a quoted LF', '2;a="\n"\r\nab\r\n0\r\n\r\n', 'RFC 9112 section 7.1.1'],
  ['an extension with a quoted line ending', '2;a="\r\n"\r\nab\r\n0\r\n\r\n', 'RFC 9112 section 7.1.1'],
  ['an extension with a NUL', '2;a=\0\r\nab\r\n0\r\n\r\n', 'CVE-2021-22960'],
  ['an extension with a control character', '2;a\x01=b\r\nab\r\n0\r\n\r\n', 'CVE-2021-22960'],
  ['an extension with a DEL', '2;a=\x7f\r\nab\r\n0\r\n\r\n', 'CVE-2021-22960'],
  ['an extension without a semicolon', '2 a=b\r\nab\r\n0\r\n\r\n', 'RFC 9112 section 7.1.1'],
  ['an extension that is too long', `2;${'a'.repeat(70_000)}\r\nab\r\n0\r\n\r\n`, 'CVE-2024-22019'],
  ['an extension of the last chunk with a bare LF', '2\r\nab\r\n0;\n\r\n', 'CVE-2025-55315'],
  ['a trailer with a space before its colon', '2\r\nab\r\n0\r\nX : y\r\n\r\n', 'RFC 9112 section 7.1.2'],
  ['a folded trailer', '2\r\nab\r\n0\r\nX: y\r\n z\r\n\r\n', 'RFC 9112 section 5.2'],
  ['a trailer that ends in a bare LF', '2\r\nab\r\n0\r\nX: y\n\r\n', 'RFC 9112 section 2.2'],
  ['a trailer with a NUL', '2\r\nab\r\n0\r\nX: a\0b\r\n\r\n', 'RFC 9110 section 5.5'],
  ['a trailer without a name', '2\r\nab\r\n0\r\n: y\r\n\r\n', 'CVE-2023-25725'],
  ['a trailer without a colon', '2\r\nab\r\n0\r\nX\r\n\r\n', 'CVE-2023-46589'],
  ['trailers that are too long', `2\r\nab\r\n0\r\n${'X: aaaaaaaaaaaa\r\n'.repeat(2_000)}\r\n`, 'CVE-2023-46589'],
];

const CHUNKS: Case[] = [
  ...BAD_CHUNKS.map(
    ([name, chunks, source]): Case => ({
      name: `refuses chunks with ${name} while it streams the body`,
      bytes: postChunks('/public/x', chunks) + SMUGGLED.repeat(4),
      expect: '400-in-body',
      source,
    }),
  ),
  ...BAD_CHUNKS.map(
    ([name, chunks, source]): Case => ({
      name: `refuses chunks with ${name} in a buffered body`,
      bytes: postChunks('/schema', chunks, 'Content-Type: application/json') + SMUGGLED.repeat(4),
      expect: name.startsWith('trailers') ? '431' : '400',
      source,
    }),
  ),
  ...(
    [
      ['leading zeros', '0002\r\nab\r\n000\r\n\r\n'],
      ['a size in upper case', `A\r\n${'ab'.repeat(5)}\r\n0\r\n\r\n`],
      ['an extension', '2;a\r\nab\r\n0\r\n\r\n'],
      ['an extension with a value', '2;a=b\r\nab\r\n0;c=d\r\n\r\n'],
      ['an extension with a quoted value', '2;a="b;c"\r\nab\r\n0\r\n\r\n'],
      ['several extensions', '2;a=1;b=2;c\r\nab\r\n0\r\n\r\n'],
      ['one byte in each chunk', '1\r\na\r\n1\r\nb\r\n0\r\n\r\n'],
    ] as const
  ).map(
    ([name, chunks]): Case => ({
      name: `forwards valid chunks: ${name}`,
      bytes: postChunks('/public/x', chunks),
      expect: 'forwarded',
      source: CHUNK,
      forwardedBody: name.includes('upper') ? 'ab'.repeat(5) : 'ab',
    }),
  ),
  ...(
    [
      ['an empty extension', '2;\r\nab\r\n0\r\n\r\n'],
      ['spaces around an extension', '2 ; a = b\r\nab\r\n0\r\n\r\n'],
      ['a space after the size', '2 \r\nab\r\n0\r\n\r\n'],
      ['an extension with non-ASCII bytes', '2;a=\xe9\r\nab\r\n0\r\n\r\n'],
      ['extensions with a large total size', `1;${'a'.repeat(9_000)}\r\na\r\n1;${'a'.repeat(9_000)}\r\nb\r\n0\r\n\r\n`],
      ['an extension with an unterminated quote', '2;a="b\r\nab\r\n0\r\n\r\n'],
      ['a size with 30 leading zeros', `${'0'.repeat(30)}2\r\nab\r\n0\r\n\r\n`],
    ] as const
  ).map(
    ([name, chunks]): Case => ({
      name: `forwards or refuses chunks that parsers disagree on: ${name}`,
      bytes: postChunks('/public/x', chunks),
      expect: 'forwarded-or-refused',
      source: 'RFC 9112 section 7.1.1',
      forwardedBody: 'ab',
    }),
  ),
  ...[
    'Authorization: Bearer {{token}}',
    'Host: other.test',
    'Content-Length: 9',
    'Transfer-Encoding: chunked',
    'X-Forwarded-For: evil',
    'X-Late: 1',
  ].map(
    (trailer): Case => ({
      name: `does not forward a trailer as a header: ${trailer}`,
      bytes: postChunks('/public/x', `2\r\nab\r\n0\r\n${trailer}\r\n\r\n`, 'Trailer: X-Late'),
      expect: trailer.startsWith('Content') || trailer.startsWith('Transfer') ? 'forwarded-or-refused' : 'forwarded',
      source: 'RFC 9110 section 6.5.1',
      forwardedBody: 'ab',
      removedHeaders: ['authorization', 'x-late', 'trailer', 'content-length'],
    }),
  ),
  {
    name: 'does not accept a token in a trailer',
    bytes: postChunks('/admin/x', `2\r\nab\r\n0\r\n${TOKEN}\r\n\r\n`, 'Trailer: Authorization'),
    expect: '401',
    source: 'RFC 9110 section 6.5.1',
  },
];

const BODIES: Case[] = ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'PUT', 'PATCH'].flatMap((method): Case[] => [
  {
    name: `treats a Content-Length body of ${method} that looks like a request as a body`,
    bytes: request(`${method} /public/x HTTP/1.1`, HOST, `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
    expect: 'forwarded-or-refused',
    source: 'RFC 9110 section 9.3.1; Kettle 2022 (CL.0)',
  },
  {
    name: `treats a chunked body of ${method} that looks like a request as a body`,
    bytes: `${request(`${method} /public/x HTTP/1.1`, HOST, 'Transfer-Encoding: chunked')}${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`,
    expect: 'forwarded-or-refused',
    source: 'RFC 9110 section 9.3.5; Kettle 2022 (TE.0)',
    forwardedBody: SMUGGLED,
  },
  {
    name: `accepts or refuses ${method} with an empty chunked body`,
    bytes: `${request(`${method} /public/x HTTP/1.1`, HOST, 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    expect: 'forwarded-or-refused',
    source: 'RFC 9112 section 6.3',
    forwardedBody: '',
  },
  {
    name: `treats bytes after ${method} without framing as the next request`,
    bytes: `${request(`${method} /public/x HTTP/1.1`, HOST)}${SMUGGLED}`,
    expect: ['forwarded', '401'],
    source: 'RFC 9112 section 6.3',
  },
]);

const LINE = 'RFC 9112 section 2.2';

const START_LINES: Case[] = [
  ...(
    [
      ['HTTP/0.9', 'GET /public/x\r\n\r\n'],
      ['HTTP/0.9 for a protected path', 'GET /admin/x\r\n\r\n'],
      ['HTTP/0.9 with headers', 'GET /public/x\r\nHost: gateway.test\r\n\r\n'],
      ['HTTP/0.9 with a version', get('/public/x').replace('HTTP/1.1', 'HTTP/0.9')],
      ['HTTP/2.0', get('/public/x').replace('HTTP/1.1', 'HTTP/2.0')],
      ['HTTP/2', get('/public/x').replace('HTTP/1.1', 'HTTP/2')],
      ['HTTP/3.0', get('/public/x').replace('HTTP/1.1', 'HTTP/3.0')],
      ['HTTP/1.2', get('/public/x').replace('HTTP/1.1', 'HTTP/1.2')],
      ['HTTP/1.10', get('/public/x').replace('HTTP/1.1', 'HTTP/1.10')],
      ['HTTP/1.01', get('/public/x').replace('HTTP/1.1', 'HTTP/1.01')],
      ['HTTP/01.1', get('/public/x').replace('HTTP/1.1', 'HTTP/01.1')],
      ['HTTP/1.', get('/public/x').replace('HTTP/1.1', 'HTTP/1.')],
      ['HTTP/1', get('/public/x').replace('HTTP/1.1', 'HTTP/1')],
      ['HTTP/11', get('/public/x').replace('HTTP/1.1', 'HTTP/11')],
      ['HTTP/+1.1', get('/public/x').replace('HTTP/1.1', 'HTTP/+1.1')],
      ['http/1.1', get('/public/x').replace('HTTP/1.1', 'http/1.1')],
      ['HTTPS/1.1', get('/public/x').replace('HTTP/1.1', 'HTTPS/1.1')],
      ['ICE/1.0', get('/public/x').replace('HTTP/1.1', 'ICE/1.0')],
      ['HTTP/1.1 with text after it', get('/public/x').replace('HTTP/1.1', 'HTTP/1.1 x')],
      ['HTTP/1.1 twice', get('/public/x').replace('HTTP/1.1', 'HTTP/1.1 HTTP/1.1')],
      ['the HTTP/2 connection preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ] as const
  ).map(
    ([name, bytes]): Case => ({
      name: `refuses an unsupported version: ${name}`,
      bytes,
      expect: '505-or-400',
      source: 'RFC 9112 section 2.3; RFC 9110 section 2.5',
    }),
  ),
  ...(
    [
      ['a tab before the target', 'GET\t/public/x HTTP/1.1', LINE],
      ['a tab before the version', 'GET /public/x\tHTTP/1.1', LINE],
      ['a space in the target', 'GET /public/x y HTTP/1.1', 'RFC 9112 section 3.2'],
      ['a request within the target', 'GET /public/x HTTP/1.1 /admin/x HTTP/1.1', 'RFC 9112 section 3'],
      ['a space at the end', 'GET /public/x HTTP/1.1 ', LINE],
      ['a space at the start', ' GET /public/x HTTP/1.1', LINE],
      ['no space before the version', 'GET /public/xHTTP/1.1', LINE],
      ['no target', 'GET HTTP/1.1', 'RFC 9112 section 3'],
      ['an empty target', 'GET  HTTP/1.1', 'RFC 9112 section 3'],
      ['no method', '/public/x HTTP/1.1', 'RFC 9112 section 3'],
      ['a vertical tab', 'GET\v/public/x HTTP/1.1', LINE],
      ['a bare CR before the version', 'GET /public/x\rHTTP/1.1', LINE],
      ['a bare CR at the end', 'GET /public/x HTTP/1.1\rX: y', LINE],
      ['a bare LF at the end', 'GET /public/x HTTP/1.1\nX: y', LINE],
      ['a NUL at the end', 'GET /public/x HTTP/1.1\0', LINE],
      ['a folded line', 'GET /public/x\r\n HTTP/1.1', LINE],
      ['a byte order mark', '\xef\xbb\xbfGET /public/x HTTP/1.1', LINE],
      ['a garbage byte', '\x80GET /public/x HTTP/1.1', LINE],
    ] as const
  ).map(
    ([name, line, source]): Case => ({
      name: `refuses a request line with ${name}`,
      bytes: request(line, HOST) + SMUGGLED,
      expect: '400',
      source,
    }),
  ),
  ...(
    [
      ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
      ['SSH', 'SSH-2.0-OpenSSH_9.0\r\n\r\n'],
      ['the PROXY protocol', `PROXY TCP4 10.0.0.1 10.0.0.2 1 80\r\n${get('/public/x')}`],
      ['the PROXY protocol, version 2', `\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c${get('/public/x')}`],
      ['NUL bytes', '\0'.repeat(64)],
      ['a response', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
      ['a header line only', 'Host: gateway.test\r\n\r\n'],
      ['chunks', `5\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`],
      ['SMTP', 'EHLO gateway.test\r\n\r\n'],
      ['a Flash policy request', '<policy-file-request/>\0'],
    ] as const
  ).map(
    ([name, bytes]): Case => ({
      name: `refuses bytes that are not a request: ${name}`,
      bytes,
      expect: '400',
      source: 'RFC 9112 section 2.2',
    }),
  ),
  ...(
    [
      // Node's parser reads all of these as HTTP/1.0.
      ['GET, RTSP/1.0', get('/public/x').replace('HTTP/1.1', 'RTSP/1.0')],
      ['GET of a protected path, RTSP/1.0', get('/admin/x').replace('HTTP/1.1', 'RTSP/1.0')],
      ['OPTIONS, RTSP/1.0', request('OPTIONS /public/x RTSP/1.0', HOST)],
      ['POST, RTSP/1.0', post('/public/x', 'ab').replace('HTTP/1.1', 'RTSP/1.0')],
      ['DESCRIBE, RTSP/1.0', request('DESCRIBE /public/x RTSP/1.0', HOST)],
      ['SOURCE, ICE/1.0', request('SOURCE /public/x ICE/1.0', HOST)],
      ['GET, ICE/1.0', request('GET /public/x ICE/1.0', HOST)],
      ['two spaces before the target', request('GET  /public/x HTTP/1.1', HOST)],
      ['four spaces before the target', request('GET    /public/x HTTP/1.1', HOST)],
      ['two spaces before the version', request('GET /public/x  HTTP/1.1', HOST)],
      ['two spaces before the version, in absolute form', request('GET http://gateway.test/x  HTTP/1.1', HOST)],
      ['repeated spaces in separate writes', ['GET ', ' ', '/public/x HTTP/1.1\r\n', `${HOST}\r\n\r\n`]],
      ['RTSP in separate writes', ['GET /public/x R', 'TSP/1.0\r\n', `${HOST}\r\n\r\n`]],
      ['two empty lines before the request', `\r\n\r\n${get('/public/x')}`],
      ['a bare LF before the request', `\n${get('/public/x')}`],
      ['a bare CR before the request', `\r${get('/public/x')}`],
    ] as const
  ).map(
    ([name, bytes]): Case => ({
      name: `refuses a request line that other parsers accept: ${name}`,
      bytes,
      expect: '400',
      source: LINE,
    }),
  ),
  {
    name: 'accepts one empty line before a request',
    bytes: `\r\n${get('/public/x')}`,
    expect: 'forwarded-or-refused',
    source: 'RFC 9112 section 2.2',
    forwardedBody: '',
  },
  ...(
    [
      ['a bare LF at each line', get('/public/x').replaceAll('\r\n', '\n')],
      ['a bare LF at the end of the head', `GET /public/x HTTP/1.1\r\n${HOST}\r\n\n${SMUGGLED}`],
      ['LF CR LF at the end of the head', `GET /public/x HTTP/1.1\r\n${HOST}\n\r\n${SMUGGLED}`],
      ['CR LF CR and another byte at the end of the head', `GET /public/x HTTP/1.1\r\n${HOST}\r\n\rX${SMUGGLED}`],
      ['a bare CR at each line', get('/public/x').replaceAll('\r\n', '\r')],
    ] as const
  ).map(
    ([name, bytes]): Case => ({
      name: `refuses ${name}`,
      bytes,
      expect: '400',
      source: 'RFC 9112 section 2.2; CVE-2025-23167; CVE-2019-16785',
    }),
  ),
];

const METHODS: Case[] = [
  ...[
    'TRACE',
    'TRACK',
    'DEBUG',
    'CONNECT',
    'FOO',
    'get',
    'Get',
    'GETX',
    'G',
    'PRI',
    'SEARCH',
    'PROPFIND',
    'MKCOL',
    'LINK',
    'PURGE',
    'QUERY',
    'M-SEARCH',
    'SOURCE',
    'GE T',
    'GET,POST',
    'G\xe9T',
    'GET\0',
    'post',
    'DELETEX',
    '__proto__',
    'constructor',
  ].map(
    (method): Case => ({
      name: `refuses the method ${printable(method)}`,
      bytes: request(`${method} /public/x HTTP/1.1`, HOST),
      expect: '405-or-400',
      source: 'RFC 9110 sections 9.1, 9.3.8 and 15.5.6',
    }),
  ),
  ...[
    'gateway.test:80',
    '127.0.0.1:22',
    '[::1]:80',
    '/public/x',
    '*',
    'gateway.test',
    'http://gateway.test/public/x',
  ].map(
    (target): Case => ({
      name: `refuses CONNECT ${target}`,
      bytes:
        request(`CONNECT ${target} HTTP/1.1`, `Host: ${target.includes(':') ? '127.0.0.1:80' : 'gateway.test'}`) +
        SMUGGLED,
      expect: '405-or-400',
      source: 'RFC 9110 section 9.3.6',
    }),
  ),
  {
    name: 'refuses TRACE with a token',
    bytes: request('TRACE /admin/x HTTP/1.1', HOST, TOKEN),
    expect: '405-or-400',
    source: 'RFC 9110 section 9.3.8',
  },
  {
    name: 'refuses TRACE with a body that looks like a request',
    bytes: request('TRACE /public/x HTTP/1.1', HOST, `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
    expect: '405-or-400',
    source: 'RFC 9110 section 9.3.8',
  },
  {
    name: 'refuses a method that the route does not accept',
    bytes: request('DELETE /read HTTP/1.1', HOST),
    expect: '405',
    source: 'RFC 9110 section 15.5.6',
  },
  {
    name: 'forwards HEAD on a route for GET',
    bytes: request('HEAD /read HTTP/1.1', HOST),
    expect: 'forwarded',
    source: 'RFC 9110 section 9.3.2',
  },
];

const PIPELINES: Case[] = [
  {
    name: 'checks a pipelined protected request after a public one',
    bytes: get('/public/1') + get('/admin/2'),
    expect: ['forwarded', '401'],
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'does not reuse the token of an earlier pipelined request',
    bytes: get('/admin/1', TOKEN) + get('/admin/2') + get('/admin/3', TOKEN),
    expect: ['forwarded', '401', 'forwarded'],
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'does not reuse the role of an earlier pipelined request',
    bytes: get('/admin/1', TOKEN) + get('/admin/2', 'Authorization: Bearer {{guest}}') + get('/public/3'),
    expect: ['forwarded', '403', 'forwarded'],
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'responds in order to pipelined requests with 404, 405, 401 and 200',
    bytes: get('/nowhere') + request('DELETE /read HTTP/1.1', HOST) + get('/files/secret') + get('/files/x'),
    expect: ['404', '405', '401', 'forwarded'],
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'closes the connection after a pipelined request with an ambiguous path',
    bytes: get('/public/1') + get('/public/../admin/2') + get('/public/3'),
    expect: ['forwarded', '400'],
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'closes the connection after pipelined bytes that are not a request',
    bytes: `${get('/public/1')}garbage\r\n\r\n${get('/public/2')}`,
    expect: ['forwarded', '400-or-closed'],
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'refuses a pipelined CONNECT',
    bytes: `${get('/public/1')}CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n${get('/public/2')}`,
    expect: ['forwarded', '405-or-closed'],
    source: 'RFC 9110 section 9.3.6',
  },
  {
    name: 'refuses a pipelined malformed head after a POST',
    bytes: `${post('/public/1', 'ab')}GET /public/2 HTTP/1.1\r\nHost : x\r\n\r\n`,
    expect: ['forwarded', '400-or-closed'],
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'forwards a body that looks like a request and then the next request',
    bytes: post('/public/1', SMUGGLED) + get('/public/2'),
    expect: ['forwarded', 'forwarded'],
    source: 'RFC 9112 section 6.3',
  },
  {
    name: 'handles a pipelined request after a body of zero bytes',
    bytes: post('/public/1', '') + get('/admin/2') + get('/public/3'),
    expect: ['forwarded', '401', 'forwarded'],
    source: 'RFC 9112 section 6.3',
  },
  {
    name: 'responds in order to twenty pipelined requests of which every second one is refused',
    bytes: Array.from({ length: 20 }, (_, index) => get(index % 2 === 0 ? `/public/${index}` : `/admin/${index}`)).join(
      '',
    ),
    expect: Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'forwarded' : '401')),
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'ignores a request after Connection: close',
    bytes: get('/public/1', 'Connection: close') + get('/public/2'),
    expect: 'forwarded',
    source: 'RFC 9112 section 9.6',
  },
  {
    name: 'ignores a second request on HTTP/1.0 without keep-alive',
    bytes: request('GET /public/1 HTTP/1.0', HOST) + get('/admin/2'),
    expect: 'forwarded',
    source: 'RFC 9112 section 9.3',
  },
  ...(
    [
      ['401', '/admin/x'],
      ['404', '/nowhere'],
      ['405', '/read'],
      ['400', '/public/../admin/x'],
    ] as const
  ).flatMap(([expect, target]): Case[] => [
    {
      name: `refuses (${expect}) a request and does not run the request in its Content-Length body`,
      bytes: post(target, get('/public/smuggled')),
      expect,
      source: 'RFC 9112 section 9.3; Kettle 2022 (CL.0)',
    },
    {
      name: `refuses (${expect}) a request and does not run the request in its delayed Content-Length body`,
      bytes: [
        request(`POST ${target} HTTP/1.1`, HOST, 'Content-Length: 500'),
        get('/public/smuggled'),
        get('/public/smuggled-2'),
      ],
      expect,
      source: 'RFC 9112 section 9.3',
    },
    {
      name: `refuses (${expect}) a request and does not run the request in its delayed chunked body`,
      bytes: [postChunks(target, '1f4\r\n'), get('/public/smuggled'), get('/public/smuggled-2')],
      expect,
      source: 'RFC 9112 section 9.3',
    },
  ]),
  {
    name: 'refuses a body over the limit and does not run the request in it',
    bytes: post('/small', get('/public/smuggled').padEnd(80, 'x')) + get('/public/y'),
    expect: '413',
    source: 'RFC 9110 section 15.5.14',
  },
  {
    name: 'refuses a chunked body over the limit',
    bytes: postChunks('/small', `28\r\n${'x'.repeat(40)}\r\n0\r\n\r\n`),
    expect: 'forwarded-or-refused',
    source: 'RFC 9110 section 15.5.14',
  },
  {
    name: 'refuses a body of another content type and does not run the request in it',
    bytes: post('/schema', get('/public/smuggled'), 'Content-Type: text/plain'),
    expect: '415',
    source: 'RFC 9110 section 15.5.16',
  },
  {
    name: 'reads a request that arrives in single bytes',
    bytes: [...post('/public/x', 'ab')].slice(0, 40).concat(post('/public/x', 'ab').slice(40)),
    expect: 'forwarded',
    source: 'RFC 9112 section 2.2',
  },
  {
    name: 'reads a head whose CR and LF arrive separately',
    bytes: ['GET /public/x HTTP/1.1\r', '\nHost: gateway.test\r', '\n\r', '\n'],
    expect: 'forwarded',
    source: 'RFC 9112 section 2.2',
  },
];

const CONTINUE = 'RFC 9110 section 10.1.1';

const EXPECTATIONS: Case[] = [
  {
    name: 'sends 100 Continue and does not forward Expect',
    bytes: [request('POST /public/x HTTP/1.1', HOST, 'Expect: 100-continue', 'Content-Length: 2'), 'ab'],
    expect: 'forwarded',
    source: CONTINUE,
    removedHeaders: ['expect'],
    expectsContinue: true,
  },
  {
    name: 'sends 100 Continue for a chunked body',
    bytes: [request('POST /public/x HTTP/1.1', HOST, 'expect: 100-Continue', 'Transfer-Encoding: chunked'), AB],
    expect: 'forwarded',
    source: CONTINUE,
    forwardedBody: 'ab',
    removedHeaders: ['expect'],
    expectsContinue: true,
  },
  {
    name: 'sends 100 Continue for a body that arrives immediately',
    bytes: post('/public/x', 'ab', 'Expect: 100-continue'),
    expect: 'forwarded',
    source: CONTINUE,
    removedHeaders: ['expect'],
    expectsContinue: true,
  },
  {
    name: 'ignores Expect on a request without a body',
    bytes: get('/public/x', 'Expect: 100-continue'),
    expect: 'forwarded',
    source: CONTINUE,
    removedHeaders: ['expect'],
  },
  {
    name: 'ignores Expect on HTTP/1.0',
    bytes: `${request('POST /public/x HTTP/1.0', HOST, 'Expect: 100-continue', 'Content-Length: 2')}ab`,
    expect: 'forwarded',
    source: CONTINUE,
    removedHeaders: ['expect'],
  },
  ...(
    [
      ['401', '/admin/x', []],
      ['403', '/admin/x', ['Authorization: Bearer {{guest}}']],
      ['404', '/nowhere', []],
      ['405', '/read', []],
      ['413', '/small', []],
      ['415', '/schema', []],
      ['400', '/public/..;/x', []],
    ] as const
  ).flatMap(([expect, target, headers]): Case[] => [
    {
      name: `does not send 100 Continue to a request that it refuses (${expect})`,
      bytes: request(`POST ${target} HTTP/1.1`, HOST, 'Expect: 100-continue', 'Content-Length: 100', ...headers),
      expect,
      source: CONTINUE,
    },
    {
      name: `does not run the request in the body of a request with Expect that it refuses (${expect})`,
      bytes: [
        request(`POST ${target} HTTP/1.1`, HOST, 'Expect: 100-continue', 'Content-Length: 100', ...headers),
        get('/public/smuggled').repeat(3),
      ],
      expect,
      source: `${CONTINUE}; Kettle 2025 (0.CL)`,
    },
  ]),
  ...['200-ok', '100 continue', '100-continuex', 'x', '100', '100-continue=1', 'evil'].map(
    (value): Case => ({
      name: `does not forward an unknown expectation: ${value}`,
      bytes: post('/public/x', 'ab', `Expect: ${value}`),
      expect: '417-or-forwarded',
      source: 'RFC 9110 section 15.5.18; Kettle 2025',
      removedHeaders: ['expect'],
    }),
  ),
  ...['y 100-continue', '100-continue, x', '100-continue;q=1', '"100-continue"', '100-continue\r\nExpect: x'].map(
    (value): Case => ({
      name: `forwards or refuses an obfuscated expectation: ${printable(value)}`,
      bytes: post('/public/x', 'ab', `Expect: ${value}`),
      expect: 'forwarded-or-refused',
      source: 'Kettle 2025 (obfuscated Expect)',
      removedHeaders: ['expect'],
    }),
  ),
];

export const FRAMING: readonly Case[] = [
  ...LENGTHS,
  ...ENCODINGS,
  ...CHUNKS,
  ...BODIES,
  ...START_LINES,
  ...METHODS,
  ...PIPELINES,
  ...EXPECTATIONS,
];
