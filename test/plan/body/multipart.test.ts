import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { boundaryOf, MultipartValidator, type PartRule } from '../../../src/engine/validation/multipart.ts';
import { cases, runs } from '../../support/runs.ts';

const ANY: PartRule = {
  acceptsType: () => true,
  typesDescription: '',
  limitBytes: Number.POSITIVE_INFINITY,
  maxCount: 1_000,
  isRequired: false,
};
const RULES = new Map<string, PartRule>([
  ['a', ANY],
  ['b', ANY],
  ['one', { ...ANY, maxCount: 1, limitBytes: 4 }],
  ['image', { ...ANY, acceptsType: (type) => type.startsWith('image/'), typesDescription: 'image/*' }],
]);
const B = 'X-YZ';
const NAMED_A = 'Content-Disposition: form-data; name="a"';

const part = (head: string, body: string) => `--${B}\r\n${head}\r\n\r\n${body}\r\n`;
const form = (...parts: string[]) => `${parts.join('')}--${B}--\r\n`;

/** Validates a text in chunks of a length; returns `valid` or the violation. */
function validate(text: string | Buffer, chunkBytes = 1_000_000, rules: ReadonlyMap<string, PartRule> = RULES) {
  const bytes = Buffer.from(text as string);
  const validator = new MultipartValidator(B, rules);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const violation = validator.write(bytes.subarray(at, at + chunkBytes));
    if (violation !== undefined) return `${violation.pointer} ${violation.message}`;
  }
  const violation = validator.end();
  return violation === undefined ? 'valid' : `${violation.pointer} ${violation.message}`;
}

const VALID: [string, string][] = [
  ['one part', form(part(NAMED_A, '1'))],
  ['two parts', form(part(NAMED_A, '1'), part(NAMED_A.replace('"a"', '"b"'), '2'))],
  ['an empty part', form(part(NAMED_A, ''))],
  ['no line break at the end', form(part(NAMED_A, '1')).slice(0, -2)],
  ['line breaks and dashes inside', form(part(NAMED_A, `\r\n\r\n--\r\n--X-Y\r\n-${'-'.repeat(9)}\r\n`))],
  ['the boundary without its dashes inside', form(part(NAMED_A, `x\r\n-${B}\r\n${B}--`))],
  ['a name without quotes', form(part('content-disposition: FORM-DATA;NAME=a', '1'))],
  ['a file', form(part(`${NAMED_A}; filename="naïve; (1).pdf"\r\nContent-Type: application/pdf; a="b"`, '1'))],
  ['a file name in both notations', form(part(`${NAMED_A}; filename=a.pdf; filename*=utf-8''a.pdf`, '1'))],
  [
    'a file name of .NET',
    form(part(`${NAMED_A}; filename="=?utf-8?B?bmHDr3ZlLnBkZg==?="; filename*=utf-8''na%C3%AFve.pdf`, '1')),
  ],
  [
    'a file name in UTF-8 and its escapes',
    form(part(`${NAMED_A}; filename="naïve.pdf"; filename*=UTF-8'fr'na%c3%afve.pdf`, '1')),
  ],
  ['a semicolon at the end', form(part(`${NAMED_A} ; filename="a";`, '1'))],
  ['an empty file name', form(part(`${NAMED_A}; filename=""\r\nContent-Type: application/octet-stream`, ''))],
  ['the identity as encoding', form(part(`${NAMED_A}\r\nContent-Transfer-Encoding: BINARY`, '1'))],
  ['a correct length', form(part(`${NAMED_A}\r\nContent-Length: 3`, '1\r\n'))],
  ['a header of its own', form(part(`${NAMED_A}\r\nX-Own: é`, '1'))],
  ['an image', form(part('Content-Disposition: form-data; name="image"\r\nContent-Type: Image/PNG', '1'))],
  ['four bytes', form(part('Content-Disposition: form-data; name="one"', '1234'))],
];

const TWO_WAYS = ' has a part whose headers can be read in two ways';
const MISPLACED = ' contains its boundary where no part begins or ends';
const EVIL = 'Content-Disposition: form-data; name="b"\r\n\r\nevil';

const INVALID: [string, string | Buffer, string][] = [
  ['nothing', '', ' must not be empty'],
  ['something else', 'a=1&b=2', ' must begin with its boundary'],
  ['another boundary', form(part(NAMED_A, '1')).replaceAll(B, 'OTHER'), ' must begin with its boundary'],
  ['a longer boundary', form(part(NAMED_A, '1')).replaceAll(B, `${B}Z`), ' must begin with its boundary'],
  ['half of the boundary', `--${B.slice(0, 2)}`, ' ends before its last boundary'],
  ['the boundary alone', `--${B}\r\n`, ' ends before its last boundary'],
  ['no parts', `--${B}--\r\n`, ' must begin with its boundary'],
  ['a text before', `hello\r\n${form(part(NAMED_A, '1'))}`, ' must begin with its boundary'],
  ['a line break before', `\r\n${form(part(NAMED_A, '1'))}`, ' must begin with its boundary'],
  ['a text after the last boundary', `${form(part(NAMED_A, '1'))}x`, ' continues after its last boundary'],
  ['a second form', form(part(NAMED_A, '1')) + form(part(EVIL, '')), ' continues after its last boundary'],
  ['a line break too many', `${form(part(NAMED_A, '1'))}\r\n`, ' continues after its last boundary'],
  ['a line feed behind', `${form(part(NAMED_A, '1')).slice(0, -2)}\n`, ' continues after its last boundary'],
  ['a carriage return behind', `${form(part(NAMED_A, '1')).slice(0, -2)}\r`, ' ends before its last boundary'],
  ['no end', part(NAMED_A, '1'), ' ends before its last boundary'],
  ['an end without dashes', form(part(NAMED_A, '1')).slice(0, -4), ' ends before its last boundary'],
  ['line feeds alone', form(part(NAMED_A, '1')).replaceAll('\r\n', '\n'), ' must begin with its boundary'],
  ['a blank behind the boundary', form(part(NAMED_A, '1')).replace(B, `${B} `), ' must begin with its boundary'],
  ['a blank behind a later one', form(part(NAMED_A, '1'), part(EVIL, '').replace(B, `${B} `)), MISPLACED],
  ['a tab behind the last one', form(part(NAMED_A, '1')).replace(`${B}--`, `${B}\t--`), MISPLACED],
  ['one dash at the end', form(part(NAMED_A, '1')).replace(`${B}--`, `${B}-`), MISPLACED],
  ['a boundary in mid-line', form(part(NAMED_A, `x--${B}\r\n${EVIL}`)), MISPLACED],
  ['a boundary behind a line feed', form(part(NAMED_A, `x\n--${B}\r\n${EVIL}`)), MISPLACED],
  ['a boundary behind a carriage return', form(part(NAMED_A, `x\r--${B}\r\n${EVIL}`)), MISPLACED],
  ['a boundary before a line feed', form(part(NAMED_A, `x\r\n--${B}\n${EVIL}`)), MISPLACED],
  ['a boundary that goes on', form(part(NAMED_A, `x\r\n--${B}X\r\n${EVIL}`)), MISPLACED],
  ['a boundary right behind the headers', `--${B}\r\n${NAMED_A}\r\n\r\n--${B}--\r\n`, MISPLACED],
  ['a boundary among the headers', form(part(`${NAMED_A}\r\nX-A: --${B}`, '1')), TWO_WAYS],
  ['a boundary in a file name', form(part(`${NAMED_A}; filename="--${B}"`, '1')), TWO_WAYS],
  ['no headers', `--${B}\r\n\r\n1\r\n--${B}--\r\n`, ' ends before its last boundary'],
  ['no disposition', form(part('Content-Type: text/plain', '1')), TWO_WAYS],
  ['two dispositions', form(part(`${NAMED_A}\r\n${NAMED_A.replace('"a"', '"b"')}`, '1')), TWO_WAYS],
  ['two types', form(part(`${NAMED_A}\r\nContent-Type: a/b\r\nContent-Type: c/d`, '1')), TWO_WAYS],
  ['a folded header', form(part(NAMED_A.replace('; ', ';\r\n '), '1')), TWO_WAYS],
  ['a header without a colon', form(part(`${NAMED_A}\r\nnonsense`, '1')), TWO_WAYS],
  ['a blank before the colon', form(part(NAMED_A.replace(':', ' :'), '1')), TWO_WAYS],
  ['a line feed in a header', form(part(`${NAMED_A}\nX: y`, '1')), TWO_WAYS],
  ['a NUL', form(part(`${NAMED_A}; filename="a\0.php"`, '1')), TWO_WAYS],
  ['invalid UTF-8', Buffer.from(form(part(`${NAMED_A}; filename="\xe9"`, '1')), 'latin1'), TWO_WAYS],
  ['two names', form(part(`${NAMED_A}; name="b"`, '1')), TWO_WAYS],
  ['two file names', form(part(`${NAMED_A}; filename="a"; filename="b"`, '1')), TWO_WAYS],
  ['an extended file name alone', form(part(`${NAMED_A}; filename*=utf-8''b`, '1')), TWO_WAYS],
  [
    'an encoded name that differs',
    form(part(`${NAMED_A}; filename="=?utf-8?B?YQ==?="; filename*=utf-8''b`, '1')),
    TWO_WAYS,
  ],
  [
    'an extended file name in another charset',
    form(part(`${NAMED_A}; filename="a"; filename*=latin1''a`, '1')),
    TWO_WAYS,
  ],
  [
    'an extended file name that is not UTF-8',
    form(part(`${NAMED_A}; filename="a"; filename*=utf-8''%ff`, '1')),
    TWO_WAYS,
  ],
  [
    'two extended file names',
    form(part(`${NAMED_A}; filename=a; filename*=utf-8''a; filename*=utf-8''a`, '1')),
    TWO_WAYS,
  ],
  ['two semicolons', form(part(`${NAMED_A};; filename="a"`, '1')), TWO_WAYS],
  ['another extended file name', form(part(`${NAMED_A}; filename="a"; filename*=utf-8''b`, '1')), TWO_WAYS],
  ['an extended name', form(part(`Content-Disposition: form-data; name*=utf-8''a`, '1')), TWO_WAYS],
  ['a continued name', form(part('Content-Disposition: form-data; name*0="a"', '1')), TWO_WAYS],
  ['a backslash', form(part('Content-Disposition: form-data; name="a\\"b"', '1')), TWO_WAYS],
  ['an open quote', form(part('Content-Disposition: form-data; name="a', '1')), TWO_WAYS],
  ['no name', form(part('Content-Disposition: form-data', '1')), TWO_WAYS],
  ['an attachment', form(part('Content-Disposition: attachment; name="a"', '1')), TWO_WAYS],
  ['a form within', form(part(`${NAMED_A}\r\nContent-Type: multipart/mixed; boundary=q`, '1')), TWO_WAYS],
  ['a transfer encoding', form(part(`${NAMED_A}\r\nContent-Transfer-Encoding: base64`, 'MQ==')), TWO_WAYS],
  ['an invalid type', form(part(`${NAMED_A}\r\nContent-Type: a/b, c/d`, '1')), TWO_WAYS],
  [
    'a wrong length',
    form(part(`${NAMED_A}\r\nContent-Length: 1`, '12')),
    '/a has a different length than its headers declare',
  ],
  ['endless headers', `--${B}\r\n${'x'.repeat(5_000)}`, ' has a part whose headers are too long'],
  ['an unknown name', form(part(NAMED_A.replace('"a"', '"A"'), '1')), ' has an unknown part'],
  ['an escaped name', form(part(NAMED_A.replace('"a"', '"%61"'), '1')), ' has an unknown part'],
  ['a part that is too long', form(part(NAMED_A.replace('"a"', '"one"'), '12345')), '/one is longer than 4 bytes'],
  [
    'too many parts of a name',
    form(...['1', '2'].map((text) => part(NAMED_A.replace('"a"', '"one"'), text))),
    '/one appears more than once',
  ],
  ['another type', form(part(NAMED_A.replace('"a"', '"image"'), '1')), '/image must be image/*'],
];

describe.each([1, 2, 3, 7, 1_000_000])('a form in chunks of %i bytes', (chunkBytes) => {
  test.each(VALID)('is valid with %s', (_name, text) => expect(validate(text, chunkBytes)).toBe('valid'));
  test.each(INVALID)('is refused with %s', (_name, text, expected) =>
    expect(validate(text, chunkBytes)).toBe(expected),
  );
});

test('a form without a required part is refused', () => {
  const rules = new Map([...RULES, ['needed', { ...ANY, isRequired: true }]]);
  expect(validate(form(part(NAMED_A, '1')), 9, rules)).toBe('/needed is missing');
});

test('a missing part is reported at the last boundary, because servers may not wait for the end', () => {
  const validator = new MultipartValidator(
    B,
    new Map([
      ['a', ANY],
      ['needed', { ...ANY, isRequired: true }],
    ]),
  );
  expect(validator.write(Buffer.from(form(part(NAMED_A, '1')).slice(0, -2)))?.pointer).toBe('/needed');
});

test('a valid form has the same parts for another parser', async () => {
  const text = fc.array(fc.constantFrom('\r\n', '\r', '\n', '--', '-', `--${B}`, `--${B.slice(0, 3)}`, 'x', 'é', '"'), {
    maxLength: 8,
  });
  const parts = fc.array(fc.tuple(fc.constantFrom('a', 'b'), text), { minLength: 1, maxLength: 4 });
  let validCount = 0;
  await fc.assert(
    fc.asyncProperty(parts, fc.integer({ min: 1, max: 20 }), async (entries, chunkBytes) => {
      const sent = entries.map(([name, inside]) => [name, inside.join('')] as const);
      const bytes = form(
        ...sent.map(([name, inside]) => part(NAMED_A.replace('"a"', `"${name}"; filename="f"`), inside)),
      );
      const isValid = !sent.some(([, inside]) => inside.includes(`--${B}`));
      expect(validate(bytes, chunkBytes) === 'valid').toBe(isValid);
      if (!isValid) return;
      validCount += 1;
      const headers = { 'Content-Type': `multipart/form-data; boundary=${B}` };
      const parsed = [...(await new Response(bytes, { headers }).formData())];
      const texts = await Promise.all(parsed.map(async ([name, value]) => [name, await (value as File).text()]));
      expect(texts).toEqual(sent);
    }),
    { numRuns: runs(1_000) },
  );
  expect(validCount).toBeGreaterThan(cases(200));
});

test.each<[string, string | undefined]>([
  ['multipart/form-data; boundary=abc', 'abc'],
  ['multipart/form-data; BOUNDARY="a:b"; charset=utf-8', 'a:b'],
  ['multipart/form-data; boundary=----WebKitFormBoundaryAbC123', '----WebKitFormBoundaryAbC123'],
  ['multipart/form-data', undefined],
  ['multipart/form-data; charset="boundary=evil"; boundary=a', undefined],
  ['multipart/form-data; charset=boundary; boundary=a', undefined],
  ['multipart/form-data; boundary=a; charset=utf-16', undefined],
  ['multipart/form-data; boundary=', undefined],
  ['multipart/form-data; boundary=""', undefined],
  ['multipart/form-data; boundary=a; boundary=b', undefined],
  ['multipart/form-data; boundary=a; Boundary=a', undefined],
  ['multipart/form-data; boundary=a; boundary*0=b', undefined],
  ["multipart/form-data; boundary*=utf-8''a", undefined],
  ['multipart/form-data; boundary="a\\b"', undefined],
  ['multipart/form-data; boundary="a b"', undefined],
  ['multipart/form-data; boundary=a b', undefined],
  ['multipart/form-data; boundary="a\u00e9"', undefined],
  [`multipart/form-data; boundary=${'a'.repeat(71)}`, undefined],
])('boundaryOf(%s) is %s', (contentType, boundary) => expect(boundaryOf(contentType)).toBe(boundary));

test('a header with many spaces takes linear time', () => {
  const blanks = ' '.repeat(3_900);
  const many = new Map([['a', { ...ANY, maxCount: 1_000 }]]);
  const text = form(...Array.from({ length: 500 }, () => part(`${NAMED_A}\r\nX-A: a${blanks}b`, '')));
  const before = process.threadCpuUsage();
  expect(validate(text, 1_000_000, many)).toBe('valid');
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
});
