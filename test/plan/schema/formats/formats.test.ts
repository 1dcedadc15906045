import { describe, expect, test } from 'vitest';
import { NUMBER_FORMATS, TEXT_FORMATS } from '../../../../src/engine/schema/own-keywords.ts';

const L63 = 'l'.repeat(63);
const HOST_253 = `${L63}.${L63}.${L63}.${'l'.repeat(61)}`;

/** Valid texts, then invalid ones, by format. */
const CASES: Readonly<Record<string, readonly [valid: readonly string[], invalid: readonly string[]]>> = {
  'date-time': [
    [
      '2024-02-29T00:00:00Z',
      '2026-01-02t03:04:05.999999999999999z',
      '2016-12-31T18:29:60-05:30',
      '0000-01-01T00:00:00-00:00',
    ],
    [
      '2026-01-02T03:04:05',
      '2026-01-02T03:04:05+01',
      '2026-01-02 03:04:05Z',
      '2026-01-02T03:04:60Z',
      '2026-05-20T23:59:60Z',
      '2023-02-29T00:00:00Z',
      '2026-01-02T03:04:05.Z',
      '2026-01-02T03:04:05+0100',
      '2026-01-02T24:00:00Z',
      '2026-01-02T03:04:05Z\n',
      '２026-01-02T03:04:05Z',
    ],
  ],
  date: [
    ['2000-02-29', '9999-12-31'],
    ['1900-02-29', '2026-13-01', '2026-00-10', '2026-04-31', '2026-1-2', '12026-01-02'],
  ],
  time: [
    ['00:00:00Z', '23:59:60z', '00:29:60+00:30', '03:04:05.1+23:59'],
    ['00:00:00', '00:00:00+24:00', '00:59:60Z', '24:00:00Z', '00:00:00+01'],
  ],
  duration: [
    ['P1Y2M3DT4H5M6S', 'PT0S', 'P3W', 'P1M', 'P1YT1M', 'P007D'],
    ['P1Y2D', 'PT1H1S', 'P', 'PT', 'P1D1H', 'P1W1D', 'P1.5D', 'p1d', '-P1D', 'P1YT'],
  ],
  email: [
    [
      'a@b',
      'a.b+c@example.com',
      '"a b"@example.com',
      '"a\\"b"@example.com',
      'a@[127.0.0.1]',
      'a@[IPv6:::1]',
      `${'a'.repeat(64)}@example.com`,
    ],
    [
      'a',
      '@b',
      'a@',
      'a..b@c',
      '.a@b',
      'a b@c',
      '"a"b@c',
      'a@-b',
      'a@b.',
      'a@b_c',
      'a@[1.2.3.256]',
      'a@[tag:x]',
      'é@b',
      `${'a'.repeat(65)}@example.com`,
      'a@b@c',
      '"a@b',
      `a@${HOST_253}`,
    ],
  ],
  'idn-email': [
    ['é@b', 'a@bücher.example', '"é ü"@b', 'a@b'],
    ['é@b c', 'é@@b', 'a@-bücher', 'é..a@b'],
  ],
  hostname: [
    ['a', 'a-b.example', '1.2', 'a--b', HOST_253, L63, 'xn--bcher-kva'],
    [
      '',
      '.',
      'a.',
      '.a',
      'a..b',
      '-a',
      'a-',
      'a_b',
      'ä',
      'l'.repeat(64),
      `${HOST_253}l`,
      'xn--',
      'xn--a',
      'xn--bcher-kvä',
      'a b',
    ],
  ],
  'idn-hostname': [
    ['bücher.example', 'a', 'faß.de', '例え。テスト', 'l·l', 'אב'],
    [
      '',
      'bücher..example',
      '-bücher',
      'Bücher\u00ad',
      'l·a',
      '\u0301a',
      'אa',
      `${'ü'.repeat(60)}.example`,
      'a_b',
      '0a.אב',
    ],
  ],
  ipv4: [
    ['0.0.0.0', '255.255.255.255'],
    ['256.0.0.1', '01.2.3.4', '1.2.3', '1.2.3.4.5', '1.2.3.4/8', '1.2.3.٤', '0x1.2.3.4'],
  ],
  ipv6: [
    ['::', '::1', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4', '1::8', '1:2:3:4:5:6:1.2.3.4', 'ABCD::'],
    [
      '',
      ':',
      ':::',
      '1::2::3',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '1:2:3:4:5:6:7::8:9',
      'fe80::1%eth0',
      '12345::',
      '::1.2.3',
      '1.2.3.4::',
      '::01.2.3.4',
      ':1',
    ],
  ],
  uri: [
    [
      'http://a',
      'http://u:p@a:80/b?c#d',
      'urn:x:y',
      'http://[::1]:8',
      'http://[v1.a]',
      'a:',
      'http://a:',
      'file:///x',
      'http://%41',
      'mailto:a@b',
    ],
    [
      '',
      '/a',
      '//a',
      'http://a:b',
      'http://a b',
      'http://[::1',
      'http://[::1]a',
      'http://[g]',
      'http://a@b@c',
      'http://a/%',
      'http://a/%0g',
      '1a:b',
      'http://ä',
      'http://a/"',
      'http://a#b#c',
      'http:/[::1]',
      'http://[fe80::1%25a]',
    ],
  ],
  'uri-reference': [
    ['', 'a', '/a', '//a/b', '#x', '?x', './a:b', 'http://a'],
    ['a b', '\\a', 'a:b c', '1:2', '%', ':a', '#a#b'],
  ],
  iri: [
    ['http://ä/ö?ü#é', 'http://a/?\u{e000}', 'http://例え.テスト'],
    ['/ä', 'http://ä b', 'http://a/\u{e000}', 'http://a/\u202e', 'http://a/\ud800'],
  ],
  'iri-reference': [
    ['ä', '//ä', '#é', ''],
    ['ä b', 'ä<', '\\ä'],
  ],
  uuid: [
    ['0b7d8c9e-2f4a-4b1c-9d3e-5f6a7b8c9d0e', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'],
    [
      'urn:uuid:0b7d8c9e-2f4a-4b1c-9d3e-5f6a7b8c9d0e',
      '0b7d8c9e2f4a4b1c9d3e5f6a7b8c9d0e',
      '{0b7d8c9e-2f4a-4b1c-9d3e-5f6a7b8c9d0e}',
      '0b7d8c9e-2f4a-4b1c-9d3e-5f6a7b8c9d0g',
    ],
  ],
  'uri-template': [
    ['', '/a/{b}', '{+b,c*}', '{b:9999}', '{a.b}', '{?q,r:1}', 'ä', '%41', '{%41}'],
    ['{', '}', '{}', '{a', '{a,}', '{a:0}', '{a:10000}', '{a..b}', '{a b}', '{-a}', 'a b', '%4', '{a:1*}', '{{a}}'],
  ],
  'json-pointer': [
    ['', '/', '/a~0~1/0', '/ä'],
    ['a', '/~', '/~2', '#/a'],
  ],
  'relative-json-pointer': [
    ['0', '1/a', '0#', '0+1/a', '10-2'],
    ['', '/a', '01', '-1', '0##', '0a', '0#/a', '0/~'],
  ],
  regex: [
    ['^a$', '(?<n>a)\\k<n>', '\\p{L}', '(?=a)'],
    ['(', '[b-a]', '\\a', '(?P<n>a)', 'a**', '\\Z'],
  ],
  'iso-time': [
    ['00:00:00', '00:00:00Z'],
    ['00:00', '25:00:00', '00:00:00+01'],
  ],
  'iso-date-time': [
    ['2026-01-02T03:04:05', '2026-01-02 03:04:05Z'],
    ['2026-01-02', '2026-01-02_03:04:05', '2026-01-02T03:04:05ZZ'],
  ],
  'json-pointer-uri-fragment': [
    ['#', '#/a%20b', '#/~0'],
    ['', '/a', '#a', '#/ä', '#/~2', '#/%', '#/%7E2'],
  ],
};

describe('a format of texts', () => {
  test.each(Object.keys(TEXT_FORMATS))('%s has cases', (format) => expect(CASES).toHaveProperty([format]));

  const verdicts = Object.entries(CASES).flatMap(([format, [valid, invalid]]) => [
    ...valid.map((text) => [format, text, true] as const),
    ...invalid.map((text) => [format, text, false] as const),
  ]);
  test.each(verdicts)('%s of %j is %j', (format, text, expected) => {
    expect(TEXT_FORMATS[format]?.(text)).toBe(expected);
  });
});

const PARTS = [
  'a',
  '-',
  'a.',
  '0',
  'a/',
  '%41',
  '~0',
  '{a}',
  '{a',
  'a,',
  'a@',
  '1:',
  '[',
  '#',
  'é',
  '"',
  '\\',
  '\u200c',
  'א',
  '1Y',
  'xn--',
  '(',
];
const LENGTH = 250_000;

test.each(Object.entries(TEXT_FORMATS))('%s takes linear time', (_name, matches) => {
  for (const first of ['', 'http://', 'a@', '/', '{', 'P', '2020-01-01T00:00:00.', '"', '0'])
    for (const part of PARTS) {
      const text = `${first}${part.repeat(LENGTH / part.length)}!`;
      const start = process.cpuUsage();
      matches(text);
      const { user } = process.cpuUsage(start);
      // A quadratic search would take half a minute.
      expect([first, part, user < 2_000_000]).toEqual([first, part, true]);
    }
});

test('integers of a format have its range', () => {
  const { int32, int64 } = NUMBER_FORMATS;
  expect([2 ** 31 - 1, -(2 ** 31), 2 ** 31, 0.5].map((number) => int32?.(number))).toEqual([true, true, false, false]);
  expect([2 ** 62, -(2 ** 63), 2 ** 63, 1e300, 0.5].map((number) => int64?.(number))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
