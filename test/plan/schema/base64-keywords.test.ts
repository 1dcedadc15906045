import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CONTENT_ENCODING, CONTENT_MAX_BYTES } from '../../../src/engine/schema/own-keywords.ts';
import { bodyRoute, loadText, manifestOf, violationsOf } from '../../manifest/support.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { runs } from '../../support/runs.ts';

function validatorOf(schema: string) {
  const loaded = loadText(manifestOf('', bodyRoute(schema)));
  return (value: unknown) => violationsOf(loaded, JSON.stringify(value)) ?? [];
}

const validate = validatorOf('{ contentEncoding: base64, contentMaxBytes: 4B }');
const LIMITED = [{ pointer: '', message: 'decodes to more than 4B' }];
const NOT_BASE64 = [{ pointer: '', message: 'must be base64, padded, without line breaks' }];

describe('contentEncoding: base64', () => {
  test.each(['', 'QQ==', 'QUI=', 'QUJD', 'QUJDRA==', '+/+/'])('accepts %j', (text) =>
    expect(validate(text)).toEqual([]),
  );

  test.each([
    'Q',
    'QQ',
    'QQ=',
    'QR==',
    'QUJ=',
    'QQ===',
    '=',
    '==',
    '====',
    'Q===',
    'QQ=Q',
    'Q=Q=',
    'QUJD\n',
    'QUJD\nQUJD',
    ' QUJD',
    'QU_-',
    'QUJé',
    'data:;base64,QUJD',
    '\u0000QUJ',
  ])('refuses %j', (text) => expect(validate(text)).toContainEqual(NOT_BASE64[0]));

  test('accepts exactly the texts that decoding and encoding again does not change', () => {
    const unlimited = validatorOf('{ contentEncoding: base64 }');
    const text = fc.string({ unit: fc.constantFrom('A', 'Q', 'g', 'w', '/', '+', '9', '=', '-', ' '), maxLength: 9 });
    fc.assert(
      fc.property(text, (any) => {
        const isSame = Buffer.from(any, 'base64').toString('base64') === any;
        expect([any, unlimited(any).length === 0]).toEqual([any, isSame]);
      }),
      { numRuns: runs(5_000) },
    );
  });

  test('ignores other types', () => expect(validate(1)).toEqual([]));
});

describe('contentMaxBytes', () => {
  test.each([0, 1, 2, 3, 4, 5, 6, 7, 300])('limits the size of %i bytes', (length) => {
    expect(validate(Buffer.alloc(length, 7).toString('base64'))).toEqual(length <= 4 ? [] : LIMITED);
  });

  test('measures 10 MB of text fast, without decoding it', () => {
    const text = Buffer.alloc(7_500_000).toString('base64');
    const start = cpuMs();
    expect(CONTENT_ENCODING.validate('base64', text)).toBe(true);
    expect(CONTENT_MAX_BYTES.compile('7500000B')(text)).toBe(true);
    expect(CONTENT_MAX_BYTES.compile('7499999B')(text)).toBe(false);
    expect(cpuMs() - start).toBeLessThan(1_000);
  });
});
