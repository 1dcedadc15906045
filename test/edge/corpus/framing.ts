import { type Case, get, HOST, post, postChunks, request, SMUGGLED, TOKEN, type Verdict, visible } from './case.ts';

const AB = '2\r\nab\r\n0\r\n\r\n';

/** Refused for a header line that stands beside a usual head; what follows looks like a request. */
function lines(family: string, source: string, list: readonly string[], expect: Verdict = 'R400'): Case[] {
  return list.map((line) => ({
    name: `${family}: ${visible(line)}`,
    bytes: `${request('POST /public/x HTTP/1.1', HOST, line)}abcde${SMUGGLED}`,
    expect,
    source,
  }));
}

const LENGTHS: Case[] = [
  ...lines('a length that is none', 'RFC 9112 section 6.3; RFC 9110 section 8.6', [
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
  ...lines('an empty length', 'CVE-2023-40225; CVE-2023-40175', [
    'Content-Length:',
    'Content-Length: ',
    'Content-Length:\t',
    'Content-Length: ,',
  ]),
  ...lines('leading zeros', 'RFC 9110 section 8.6', [
    'Content-Length: 05',
    'Content-Length: 00',
    'Content-Length: 0000000005',
  ]),
  ...lines('a length that overflows', 'RFC 9110 section 8.6', [
    'Content-Length: 18446744073709551621',
    'Content-Length: 4294967301000000000000000000000005',
    'Content-Length: 99999999999999999999',
    'Content-Length: 9223372036854775813',
  ]),
  ...lines('listed lengths', 'RFC 9110 section 8.6; CVE-2018-7159', [
    'Content-Length: 5, 5',
    'Content-Length: 5,5',
    'Content-Length: 5, 0',
    'Content-Length: 0, 5',
    'Content-Length: 5,',
    'Content-Length: ,5',
  ]),
  ...lines('repeated lengths', 'RFC 9112 section 6.3; CVE-2019-16792', [
    'Content-Length: 5\r\nContent-Length: 5',
    'Content-Length: 5\r\nContent-Length: 0',
    'Content-Length: 0\r\nContent-Length: 5',
    'Content-Length: 5\r\ncontent-length: 6',
    'Content-Length: 5\r\nX: y\r\nCONTENT-LENGTH: 5',
    'Content-Length: 5\r\nContent-Length:',
  ]),
  ...lines('a length whose name is odd', 'RFC 9112 section 5.1; CVE-2024-27982; CVE-2021-22959', [
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
      name: `blanks and letter case, which are allowed: ${visible(line)}`,
      bytes: `${request('POST /public/x HTTP/1.1', HOST, line)}abcde`,
      expect: 'FWD',
      source: 'RFC 9112 section 5',
    }),
  ),
  {
    name: 'Content_Length is no length here, and none for an upstream that folds names',
    bytes: `${request('POST /public/x HTTP/1.1', HOST, 'Content_Length: 5')}${get('/public/y')}`,
    expect: ['FWD', 'FWD'],
    source: 'RFC 3875 section 4.1.18',
    lacks: ['content_length'],
  },
];

const ENCODING = 'RFC 9112 section 6.1';

const ENCODINGS: Case[] = [
  ...lines('length and encoding', `${ENCODING}; Linhart et al. 2005 (CL.TE, TE.CL)`, [
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
  ...lines('an encoding that is not exactly chunked', `${ENCODING}; CVE-2022-32213; CVE-2019-16786; CVE-2022-1705`, [
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
  ...lines('an encoding beside controls', `${ENCODING}; CVE-2019-18277; CVE-2019-15605; Kettle 2019 (TE.TE)`, [
    'Transfer-Encoding: \x0bchunked',
    'Transfer-Encoding: chunked\x0b',
    'Transfer-Encoding: \x0cchunked',
    'Transfer-Encoding: chunked\x0c',
    'Transfer-Encoding: chunked\0',
    'Transfer-Encoding: \0chunked',
    'Transfer-Encoding: \x01chunked',
    'Transfer-Encoding:\x7fchunked',
    'Transfer-Encoding: \bchunked',
  ]),
  ...lines('repeated encodings', `${ENCODING}; CVE-2020-8287; Kettle 2019 (TE.TE)`, [
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: cow',
    'Transfer-Encoding: cow\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\ntransfer-encoding:',
    'Transfer-Encoding: chunked\r\nX: y\r\nTRANSFER-ENCODING: gzip',
  ]),
  ...lines('an encoding whose name is odd', `RFC 9112 section 5.1; CVE-2019-16276; Kettle 2019`, [
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
    'an encoding on a line of its own making',
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
  ...['chunked', 'Chunked', 'CHUNKED', 'chunKed', 'chunked ', '  chunked'].map(
    (value): Case => ({
      name: `letter case and blanks, which are allowed: ${visible(value)}`,
      bytes: request('POST /public/x HTTP/1.1', HOST, `Transfer-Encoding: ${value}`) + AB,
      expect: 'FWD',
      source: ENCODING,
      body: 'ab',
    }),
  ),
  {
    name: 'Transfer_Encoding is no encoding here, and none for an upstream that folds names',
    bytes: `${request('POST /public/x HTTP/1.1', HOST, 'Transfer_Encoding: chunked')}${get('/public/y')}`,
    expect: ['FWD', 'FWD'],
    source: 'RFC 3875 section 4.1.18',
    lacks: ['transfer_encoding'],
  },
  ...['chunked', 'identity', 'gzip', 'chunked, chunked'].map(
    (value): Case => ({
      name: `HTTP/1.0 with an encoding: ${value}`,
      bytes: request('POST /public/x HTTP/1.0', HOST, `Transfer-Encoding: ${value}`) + AB,
      expect: 'R400',
      source: ENCODING,
    }),
  ),
  ...['/public/x', '/schema', '/admin/x'].map(
    (target): Case => ({
      name: `length and encoding, the body of one framing hiding a request: ${target}`,
      bytes: `${request(
        `POST ${target} HTTP/1.1`,
        HOST,
        'Content-Type: application/json',
        'Content-Length: 4',
        'Transfer-Encoding: chunked',
      )}${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`,
      expect: 'R400',
      source: 'Linhart et al. 2005 (TE.CL)',
    }),
  ),
];

const CHUNK = 'RFC 9112 section 7.1';

/** Chunks that break off the one reading of a body, each followed by what looks like a request. */
const BAD_CHUNKS: readonly (readonly [name: string, chunks: string, source: string])[] = [
  ['a size in hexadecimal notation', '0x2\r\nab\r\n0\r\n\r\n', 'CVE-2022-24761; CVE-2022-24801'],
  ['a size with a plus', '+2\r\nab\r\n0\r\n\r\n', 'CVE-2022-24761'],
  ['a negative size', '-2\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a negative last size', '2\r\nab\r\n-0\r\n\r\n', CHUNK],
  ['a size with an underscore', '0_2\r\nab\r\n0\r\n\r\n', 'CVE-2022-24801'],
  ['no size', '\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size that is no number', 'xyz\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size in letters beyond f', '2g\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a blank before a size', ' 2\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a tab before a size', '\t2\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size with a decimal point', '2.0\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size in quotes', '"2"\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size and a comma', '2,2\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size and a NUL', '2\0\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size in bytes beyond ASCII', '\xb2\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size beyond 64 bits', `${'f'.repeat(17)}\r\nab\r\n0\r\n\r\n`, CHUNK],
  ['a size that wraps to 2', '10000000000000002\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size of 200 digits', `${'f'.repeat(200)}\r\nab\r\n0\r\n\r\n`, CHUNK],
  ['a size that ends in a bare LF', '2\nab\r\n0\r\n\r\n', 'RFC 9112 section 7.1; CVE-2025-22871; CVE-2025-58056'],
  ['a size that ends in a bare CR', '2\rab\r\n0\r\n\r\n', CHUNK],
  ['a size that ends in two CR', '2\r\r\nab\r\n0\r\n\r\n', CHUNK],
  ['a size that ends in LF CR', '2\n\rab\r\n0\r\n\r\n', CHUNK],
  ['data that ends in a bare LF', '2\r\nab\n0\r\n\r\n', 'RFC 9112 section 7.1; CVE-2025-43859'],
  ['data that ends in a bare CR', '2\r\nab\r0\r\n\r\n', CHUNK],
  ['data that ends in nothing', '2\r\nab0\r\n\r\n', CHUNK],
  ['data that ends in two other bytes', '2\r\nabXX0\r\n\r\n', 'CVE-2025-43859'],
  ['data that is longer than its size', '2\r\nabc\r\n0\r\n\r\n', CHUNK],
  ['data that is shorter than its size', '4\r\nab\r\n0\r\n\r\n', CHUNK],
  ['an end of bare LF', '2\r\nab\r\n0\n\n', CHUNK],
  ['an end of CR LF LF', '2\r\nab\r\n0\r\n\n', 'RFC 9112 section 2.2'],
  ['an end of LF CR LF', '2\r\nab\r\n0\n\r\n', CHUNK],
  ['an end of CR CR', '2\r\nab\r\n0\r\n\r\r', CHUNK],
  ['an extension that ends in a bare LF', '2;\nab\r\n0\r\n\r\n', 'CVE-2025-55315'],
  ['an extension with a bare LF inside', '2;a=b\nab\r\n0\r\n\r\n', 'CVE-2025-55315; CVE-2024-52304'],
  ['an extension with a bare CR inside', '2;a\rb\r\nab\r\n0\r\n\r\n', 'CVE-2025-55315'],
  ['an extension with a LF in quotes', '2;a="\n"\r\nab\r\n0\r\n\r\n', 'RFC 9112 section 7.1.1'],
  ['an extension with a line end in quotes', '2;a="\r\n"\r\nab\r\n0\r\n\r\n', 'RFC 9112 section 7.1.1'],
  ['an extension with a NUL', '2;a=\0\r\nab\r\n0\r\n\r\n', 'CVE-2021-22960'],
  ['an extension with a control', '2;a\x01=b\r\nab\r\n0\r\n\r\n', 'CVE-2021-22960'],
  ['an extension with a DEL', '2;a=\x7f\r\nab\r\n0\r\n\r\n', 'CVE-2021-22960'],
  ['an extension without a semicolon', '2 a=b\r\nab\r\n0\r\n\r\n', 'RFC 9112 section 7.1.1'],
  ['an extension that is over-long', `2;${'a'.repeat(70_000)}\r\nab\r\n0\r\n\r\n`, 'CVE-2024-22019'],
  ['an extension of the last chunk with a bare LF', '2\r\nab\r\n0;\n\r\n', 'CVE-2025-55315'],
  ['a trailer with a blank before its colon', '2\r\nab\r\n0\r\nX : y\r\n\r\n', 'RFC 9112 section 7.1.2'],
  ['a trailer that is folded', '2\r\nab\r\n0\r\nX: y\r\n z\r\n\r\n', 'RFC 9112 section 5.2'],
  ['a trailer that ends in a bare LF', '2\r\nab\r\n0\r\nX: y\n\r\n', 'RFC 9112 section 2.2'],
  ['a trailer with a NUL', '2\r\nab\r\n0\r\nX: a\0b\r\n\r\n', 'RFC 9110 section 5.5'],
  ['a trailer without a name', '2\r\nab\r\n0\r\n: y\r\n\r\n', 'CVE-2023-25725'],
  ['a trailer without a colon', '2\r\nab\r\n0\r\nX\r\n\r\n', 'CVE-2023-46589'],
  ['trailers that are over-long', `2\r\nab\r\n0\r\n${'X: aaaaaaaaaaaa\r\n'.repeat(2_000)}\r\n`, 'CVE-2023-46589'],
];

const CHUNKS: Case[] = [
  ...BAD_CHUNKS.map(
    ([name, chunks, source]): Case => ({
      name: `${name}, streamed`,
      bytes: postChunks('/public/x', chunks) + SMUGGLED.repeat(4),
      expect: 'R400-body',
      source,
    }),
  ),
  ...BAD_CHUNKS.map(
    ([name, chunks, source]): Case => ({
      name: `${name}, where the body is read first`,
      bytes: postChunks('/schema', chunks, 'Content-Type: application/json') + SMUGGLED.repeat(4),
      expect: name.startsWith('trailers') ? '431' : 'R400',
      source,
    }),
  ),
  ...(
    [
      ['leading zeros', '0002\r\nab\r\n000\r\n\r\n'],
      ['a size in upper case', `A\r\n${'ab'.repeat(5)}\r\n0\r\n\r\n`],
      ['an extension', '2;a\r\nab\r\n0\r\n\r\n'],
      ['an extension with a value', '2;a=b\r\nab\r\n0;c=d\r\n\r\n'],
      ['an extension in quotes', '2;a="b;c"\r\nab\r\n0\r\n\r\n'],
      ['several extensions', '2;a=1;b=2;c\r\nab\r\n0\r\n\r\n'],
      ['one byte in each chunk', '1\r\na\r\n1\r\nb\r\n0\r\n\r\n'],
    ] as const
  ).map(
    ([name, chunks]): Case => ({
      name: `chunks, which are allowed: ${name}`,
      bytes: postChunks('/public/x', chunks),
      expect: 'FWD',
      source: CHUNK,
      body: name.includes('upper') ? 'ab'.repeat(5) : 'ab',
    }),
  ),
  ...(
    [
      ['an empty extension', '2;\r\nab\r\n0\r\n\r\n'],
      ['blanks around an extension', '2 ; a = b\r\nab\r\n0\r\n\r\n'],
      ['a blank after the size', '2 \r\nab\r\n0\r\n\r\n'],
      ['an extension with bytes beyond ASCII', '2;a=\xe9\r\nab\r\n0\r\n\r\n'],
      ['extensions that are long together', `1;${'a'.repeat(9_000)}\r\na\r\n1;${'a'.repeat(9_000)}\r\nb\r\n0\r\n\r\n`],
      ['a quoted extension that does not end', '2;a="b\r\nab\r\n0\r\n\r\n'],
      ['a size with 30 leading zeros', `${'0'.repeat(30)}2\r\nab\r\n0\r\n\r\n`],
    ] as const
  ).map(
    ([name, chunks]): Case => ({
      name: `chunks, on the border: ${name}`,
      bytes: postChunks('/public/x', chunks),
      expect: 'framed-or-refused',
      source: 'RFC 9112 section 7.1.1',
      body: 'ab',
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
      name: `a trailer is no header: ${trailer}`,
      bytes: postChunks('/public/x', `2\r\nab\r\n0\r\n${trailer}\r\n\r\n`, 'Trailer: X-Late'),
      expect: trailer.startsWith('Content') || trailer.startsWith('Transfer') ? 'framed-or-refused' : 'FWD',
      source: 'RFC 9110 section 6.5.1',
      body: 'ab',
      lacks: ['authorization', 'x-late', 'trailer', 'content-length'],
    }),
  ),
  {
    name: 'a trailer is no token',
    bytes: postChunks('/admin/x', `2\r\nab\r\n0\r\n${TOKEN}\r\n\r\n`, 'Trailer: Authorization'),
    expect: '401',
    source: 'RFC 9110 section 6.5.1',
  },
];

const BODIES: Case[] = ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'PUT', 'PATCH'].flatMap((method): Case[] => [
  {
    name: `${method} with a counted body that looks like a request`,
    bytes: request(`${method} /public/x HTTP/1.1`, HOST, `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
    expect: 'framed-or-refused',
    source: 'RFC 9110 section 9.3.1; Kettle 2022 (CL.0)',
  },
  {
    name: `${method} with a chunked body that looks like a request`,
    bytes: `${request(`${method} /public/x HTTP/1.1`, HOST, 'Transfer-Encoding: chunked')}${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`,
    expect: 'framed-or-refused',
    source: 'RFC 9110 section 9.3.5; Kettle 2022 (TE.0)',
    body: SMUGGLED,
  },
  {
    name: `${method} with an empty chunked body`,
    bytes: `${request(`${method} /public/x HTTP/1.1`, HOST, 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    expect: 'framed-or-refused',
    source: 'RFC 9112 section 6.3',
    body: '',
  },
  {
    name: `${method} with a body that it did not announce`,
    bytes: `${request(`${method} /public/x HTTP/1.1`, HOST)}${SMUGGLED}`,
    expect: ['FWD', '401'],
    source: 'RFC 9112 section 6.3',
  },
]);

const LINE = 'RFC 9112 section 2.2';

const START_LINES: Case[] = [
  ...(
    [
      ['HTTP/0.9', 'GET /public/x\r\n\r\n'],
      ['HTTP/0.9 for a protected path', 'GET /admin/x\r\n\r\n'],
      ['HTTP/0.9 with a head', 'GET /public/x\r\nHost: gateway.test\r\n\r\n'],
      ['HTTP/0.9 by name', get('/public/x').replace('HTTP/1.1', 'HTTP/0.9')],
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
      ['HTTP/1.1 and more', get('/public/x').replace('HTTP/1.1', 'HTTP/1.1 x')],
      ['HTTP/1.1, twice', get('/public/x').replace('HTTP/1.1', 'HTTP/1.1 HTTP/1.1')],
      ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ] as const
  ).map(
    ([name, bytes]): Case => ({
      name: `a version: ${name}`,
      bytes,
      expect: '505-or-400',
      source: 'RFC 9112 section 2.3; RFC 9110 section 2.5',
    }),
  ),
  ...(
    [
      ['a tab before the target', 'GET\t/public/x HTTP/1.1', LINE],
      ['a tab before the version', 'GET /public/x\tHTTP/1.1', LINE],
      ['a blank in the target', 'GET /public/x y HTTP/1.1', 'RFC 9112 section 3.2'],
      ['a request within the target', 'GET /public/x HTTP/1.1 /admin/x HTTP/1.1', 'RFC 9112 section 3'],
      ['a blank at the end', 'GET /public/x HTTP/1.1 ', LINE],
      ['a blank at the start', ' GET /public/x HTTP/1.1', LINE],
      ['no blank before the version', 'GET /public/xHTTP/1.1', LINE],
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
      name: `a request line with ${name}`,
      bytes: request(line, HOST) + SMUGGLED,
      expect: 'R400',
      source,
    }),
  ),
  ...(
    [
      ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
      ['SSH', 'SSH-2.0-OpenSSH_9.0\r\n\r\n'],
      ['the PROXY protocol', `PROXY TCP4 10.0.0.1 10.0.0.2 1 80\r\n${get('/public/x')}`],
      ['the PROXY protocol, version 2', `\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c${get('/public/x')}`],
      ['zeros', '\0'.repeat(64)],
      ['an answer', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
      ['a header alone', 'Host: gateway.test\r\n\r\n'],
      ['chunks', `5\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`],
      ['SMTP', 'EHLO gateway.test\r\n\r\n'],
      ['a Flash policy request', '<policy-file-request/>\0'],
    ] as const
  ).map(
    ([name, bytes]): Case => ({
      name: `bytes that are no request: ${name}`,
      bytes,
      expect: 'R400',
      source: 'RFC 9112 section 2.2',
    }),
  ),
  ...(
    [
      // Node's parser takes all of these for HTTP/1.0.
      ['GET, RTSP/1.0', get('/public/x').replace('HTTP/1.1', 'RTSP/1.0')],
      ['GET of a protected path, RTSP/1.0', get('/admin/x').replace('HTTP/1.1', 'RTSP/1.0')],
      ['OPTIONS, RTSP/1.0', request('OPTIONS /public/x RTSP/1.0', HOST)],
      ['POST, RTSP/1.0', post('/public/x', 'ab').replace('HTTP/1.1', 'RTSP/1.0')],
      ['DESCRIBE, RTSP/1.0', request('DESCRIBE /public/x RTSP/1.0', HOST)],
      ['SOURCE, ICE/1.0', request('SOURCE /public/x ICE/1.0', HOST)],
      ['GET, ICE/1.0', request('GET /public/x ICE/1.0', HOST)],
      ['two blanks before the target', request('GET  /public/x HTTP/1.1', HOST)],
      ['four blanks before the target', request('GET    /public/x HTTP/1.1', HOST)],
      ['two blanks before the version', request('GET /public/x  HTTP/1.1', HOST)],
      ['two blanks before the version, in an absolute form', request('GET http://gateway.test/x  HTTP/1.1', HOST)],
      ['blanks in pieces', ['GET ', ' ', '/public/x HTTP/1.1\r\n', `${HOST}\r\n\r\n`]],
      ['RTSP in pieces', ['GET /public/x R', 'TSP/1.0\r\n', `${HOST}\r\n\r\n`]],
      ['two empty lines before it', `\r\n\r\n${get('/public/x')}`],
      ['a bare LF before it', `\n${get('/public/x')}`],
      ['a bare CR before it', `\r${get('/public/x')}`],
    ] as const
  ).map(
    ([name, bytes]): Case => ({
      name: `a request line that is not exact: ${name}`,
      bytes,
      expect: 'R400',
      source: LINE,
    }),
  ),
  {
    name: 'an empty line before a request is forgiven',
    bytes: `\r\n${get('/public/x')}`,
    expect: 'framed-or-refused',
    source: 'RFC 9112 section 2.2',
    body: '',
  },
  ...(
    [
      ['a bare LF at each line', get('/public/x').replaceAll('\r\n', '\n')],
      ['a bare LF at the end of the head', `GET /public/x HTTP/1.1\r\n${HOST}\r\n\n${SMUGGLED}`],
      ['a LF CR LF at the end of the head', `GET /public/x HTTP/1.1\r\n${HOST}\n\r\n${SMUGGLED}`],
      ['CR LF CR and a byte at the end of the head', `GET /public/x HTTP/1.1\r\n${HOST}\r\n\rX${SMUGGLED}`],
      ['a bare CR at each line', get('/public/x').replaceAll('\r\n', '\r')],
    ] as const
  ).map(
    ([name, bytes]): Case => ({
      name,
      bytes,
      expect: 'R400',
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
      name: `the method ${visible(method)}`,
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
      name: `CONNECT ${target}`,
      bytes:
        request(`CONNECT ${target} HTTP/1.1`, `Host: ${target.includes(':') ? '127.0.0.1:80' : 'gateway.test'}`) +
        SMUGGLED,
      expect: '405-or-400',
      source: 'RFC 9110 section 9.3.6',
    }),
  ),
  {
    name: 'TRACE with a token',
    bytes: request('TRACE /admin/x HTTP/1.1', HOST, TOKEN),
    expect: '405-or-400',
    source: 'RFC 9110 section 9.3.8',
  },
  {
    name: 'TRACE with a body that looks like a request',
    bytes: request('TRACE /public/x HTTP/1.1', HOST, `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
    expect: '405-or-400',
    source: 'RFC 9110 section 9.3.8',
  },
  {
    name: 'a method that a route does not take',
    bytes: request('DELETE /read HTTP/1.1', HOST),
    expect: '405',
    source: 'RFC 9110 section 15.5.6',
  },
  {
    name: 'HEAD where GET is taken',
    bytes: request('HEAD /read HTTP/1.1', HOST),
    expect: 'FWD',
    source: 'RFC 9110 section 9.3.2',
  },
];

const PIPELINES: Case[] = [
  {
    name: 'public, then protected without a token',
    bytes: get('/public/1') + get('/admin/2'),
    expect: ['FWD', '401'],
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'with a token, then without',
    bytes: get('/admin/1', TOKEN) + get('/admin/2') + get('/admin/3', TOKEN),
    expect: ['FWD', '401', 'FWD'],
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'an allowed role, then one that is not',
    bytes: get('/admin/1', TOKEN) + get('/admin/2', 'Authorization: Bearer {{guest}}') + get('/public/3'),
    expect: ['FWD', '403', 'FWD'],
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'unknown, wrong method, protected, public',
    bytes: get('/nowhere') + request('DELETE /read HTTP/1.1', HOST) + get('/files/secret') + get('/files/x'),
    expect: ['404', '405', '401', 'FWD'],
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'public, then a path of two readings, then nothing more',
    bytes: get('/public/1') + get('/public/../admin/2') + get('/public/3'),
    expect: ['FWD', 'R400'],
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'public, then no request at all',
    bytes: `${get('/public/1')}garbage\r\n\r\n${get('/public/2')}`,
    expect: ['FWD', 'R400-or-cut'],
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'public, then CONNECT',
    bytes: `${get('/public/1')}CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n${get('/public/2')}`,
    expect: ['FWD', '405-or-cut'],
    source: 'RFC 9110 section 9.3.6',
  },
  {
    name: 'a POST, then a head that is malformed',
    bytes: `${post('/public/1', 'ab')}GET /public/2 HTTP/1.1\r\nHost : x\r\n\r\n`,
    expect: ['FWD', 'R400-or-cut'],
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'a counted body that is a request, then a request',
    bytes: post('/public/1', SMUGGLED) + get('/public/2'),
    expect: ['FWD', 'FWD'],
    source: 'RFC 9112 section 6.3',
  },
  {
    name: 'a length of zero, then a request',
    bytes: post('/public/1', '') + get('/admin/2') + get('/public/3'),
    expect: ['FWD', '401', 'FWD'],
    source: 'RFC 9112 section 6.3',
  },
  {
    name: 'twenty at once, each second one refused',
    bytes: Array.from({ length: 20 }, (_, index) => get(index % 2 === 0 ? `/public/${index}` : `/admin/${index}`)).join(
      '',
    ),
    expect: Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'FWD' : '401')),
    source: 'RFC 9112 section 9.3.2',
  },
  {
    name: 'the client says close, and goes on all the same',
    bytes: get('/public/1', 'Connection: close') + get('/public/2'),
    expect: 'FWD',
    source: 'RFC 9112 section 9.6',
  },
  {
    name: 'HTTP/1.0 without keep-alive goes on all the same',
    bytes: request('GET /public/1 HTTP/1.0', HOST) + get('/admin/2'),
    expect: 'FWD',
    source: 'RFC 9112 section 9.3',
  },
  ...(
    [
      ['401', '/admin/x'],
      ['404', '/nowhere'],
      ['405', '/read'],
      ['R400', '/public/../admin/x'],
    ] as const
  ).flatMap(([expect, target]): Case[] => [
    {
      name: `refused (${expect}), its counted body is a request`,
      bytes: post(target, get('/public/smuggled')),
      expect,
      source: 'RFC 9112 section 9.3; Kettle 2022 (CL.0)',
    },
    {
      name: `refused (${expect}), its counted body is a request and comes later`,
      bytes: [
        request(`POST ${target} HTTP/1.1`, HOST, 'Content-Length: 500'),
        get('/public/smuggled'),
        get('/public/smuggled-2'),
      ],
      expect,
      source: 'RFC 9112 section 9.3',
    },
    {
      name: `refused (${expect}), its chunked body is a request and comes later`,
      bytes: [postChunks(target, '1f4\r\n'), get('/public/smuggled'), get('/public/smuggled-2')],
      expect,
      source: 'RFC 9112 section 9.3',
    },
  ]),
  {
    name: 'a body over the limit that is a request',
    bytes: post('/small', get('/public/smuggled').padEnd(80, 'x')) + get('/public/y'),
    expect: '413',
    source: 'RFC 9110 section 15.5.14',
  },
  {
    name: 'a chunked body over the limit',
    bytes: postChunks('/small', `28\r\n${'x'.repeat(40)}\r\n0\r\n\r\n`),
    expect: 'framed-or-refused',
    source: 'RFC 9110 section 15.5.14',
  },
  {
    name: 'a body of another content type that is a request',
    bytes: post('/schema', get('/public/smuggled'), 'Content-Type: text/plain'),
    expect: '415',
    source: 'RFC 9110 section 15.5.16',
  },
  {
    name: 'in single bytes',
    bytes: [...post('/public/x', 'ab')].slice(0, 40).concat(post('/public/x', 'ab').slice(40)),
    expect: 'FWD',
    source: 'RFC 9112 section 2.2',
  },
  {
    name: 'a head whose CR and LF come apart',
    bytes: ['GET /public/x HTTP/1.1\r', '\nHost: gateway.test\r', '\n\r', '\n'],
    expect: 'FWD',
    source: 'RFC 9112 section 2.2',
  },
];

const CONTINUE = 'RFC 9110 section 10.1.1';

const EXPECTS: Case[] = [
  {
    name: 'Expect: 100-continue asks for the body and goes no further',
    bytes: [request('POST /public/x HTTP/1.1', HOST, 'Expect: 100-continue', 'Content-Length: 2'), 'ab'],
    expect: 'FWD',
    source: CONTINUE,
    lacks: ['expect'],
    continues: true,
  },
  {
    name: 'Expect: 100-Continue before chunks',
    bytes: [request('POST /public/x HTTP/1.1', HOST, 'expect: 100-Continue', 'Transfer-Encoding: chunked'), AB],
    expect: 'FWD',
    source: CONTINUE,
    body: 'ab',
    lacks: ['expect'],
    continues: true,
  },
  {
    name: 'Expect where the body comes at once',
    bytes: post('/public/x', 'ab', 'Expect: 100-continue'),
    expect: 'FWD',
    source: CONTINUE,
    lacks: ['expect'],
    continues: true,
  },
  {
    name: 'Expect without a body',
    bytes: get('/public/x', 'Expect: 100-continue'),
    expect: 'FWD',
    source: CONTINUE,
    lacks: ['expect'],
  },
  {
    name: 'Expect on HTTP/1.0 is nothing',
    bytes: `${request('POST /public/x HTTP/1.0', HOST, 'Expect: 100-continue', 'Content-Length: 2')}ab`,
    expect: 'FWD',
    source: CONTINUE,
    lacks: ['expect'],
  },
  ...(
    [
      ['401', '/admin/x', []],
      ['403', '/admin/x', ['Authorization: Bearer {{guest}}']],
      ['404', '/nowhere', []],
      ['405', '/read', []],
      ['413', '/small', []],
      ['415', '/schema', []],
      ['R400', '/public/..;/x', []],
    ] as const
  ).flatMap(([expect, target, headers]): Case[] => [
    {
      name: `Expect where the head is refused (${expect}): no 100`,
      bytes: request(`POST ${target} HTTP/1.1`, HOST, 'Expect: 100-continue', 'Content-Length: 100', ...headers),
      expect,
      source: CONTINUE,
    },
    {
      name: `Expect where the head is refused (${expect}), and the body is a request that comes all the same`,
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
      name: `Expect: ${value}`,
      bytes: post('/public/x', 'ab', `Expect: ${value}`),
      expect: '417-or-FWD',
      source: 'RFC 9110 section 15.5.18; Kettle 2025',
      lacks: ['expect'],
    }),
  ),
  ...['y 100-continue', '100-continue, x', '100-continue;q=1', '"100-continue"', '100-continue\r\nExpect: x'].map(
    (value): Case => ({
      name: `an expectation that is nearly met: ${visible(value)}`,
      bytes: post('/public/x', 'ab', `Expect: ${value}`),
      expect: 'framed-or-refused',
      source: 'Kettle 2025 (obfuscated Expect)',
      lacks: ['expect'],
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
  ...EXPECTS,
];
