import { describe, expect, test } from 'vitest';
import { createCsvHeaderValidator } from '../../../src/engine/validation/csv-header.ts';

/** Validates a text in chunks of a length; returns `valid` or the message of the violation. */
function validate(text: string | Buffer, chunkBytes: number, header = ['name', 'e-mail, or so'], delimiter = ',') {
  const bytes = Buffer.from(text as string);
  const validator = createCsvHeaderValidator({ header, delimiter }, true);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const violation = validator.write(bytes.subarray(at, at + chunkBytes));
    if (violation !== undefined) return violation.message;
  }
  return validator.end()?.message ?? 'valid';
}

const HEADER = 'name,"e-mail, or so"';
const WRONG = 'must begin with the row name,e-mail, or so';

describe.each([1, 3, 1_000_000])('a CSV body in chunks of %i bytes', (chunkBytes) => {
  test.each<[string | Buffer, string]>([
    [`${HEADER}\n`, 'valid'],
    [`${HEADER}\r\nEva,eva@partner.example\r\n`, 'valid'],
    [HEADER, 'valid'],
    [`\ufeff"name","e-mail, or so"\n"`, 'valid'],
    [Buffer.from(`${HEADER}\nB\xf6ll`, 'latin1'), 'valid'],
    ['', 'must not be empty'],
    ['\n', 'must not be empty'],
    ['name\n', WRONG],
    [`${HEADER},phone\n`, WRONG],
    ['"e-mail, or so",name\n', WRONG],
    ['Name,"e-mail, or so"\n', WRONG],
    [' name,"e-mail, or so"\n', WRONG],
    [`\n${HEADER}\n`, 'must not be empty'],
    ['name;e-mail, or so\n', WRONG],
    [`${HEADER}\rEva,eva@partner.example\n`, WRONG],
    ['name,"e-mail, or so\n"\n', WRONG],
    ['name,"e-mail, or so', WRONG],
    ['na"me,"e-mail, or so"\n', WRONG],
    [Buffer.from('n\xe4me,x\n', 'latin1'), 'must be UTF-8'],
    [Buffer.from(`${HEADER}\n`, 'utf16le'), WRONG],
    [`"${'a'.repeat(70_000)}`, WRONG],
  ])('%j gives: %s', (text, expected) => expect(validate(text, chunkBytes)).toBe(expected));
});

test('the header may have another delimiter', () => {
  expect(validate('a;b\n', 1, ['a', 'b'], ';')).toBe('valid');
  expect(validate('a,b\n', 1, ['a', 'b'], ';')).toBe('must begin with the row a;b');
});

test('a first row is refused as soon as it exceeds the longest form of the header', () => {
  const validator = createCsvHeaderValidator({ header: ['a', 'b'], delimiter: ',' }, true);
  expect(validator.write(Buffer.from('a,'.repeat(20)))?.message).toBe('must begin with the row a,b');
  const quotes = '""'.repeat(50);
  expect(validate(`\ufeff"${quotes}","b"\r\n`, 1, ['"'.repeat(50), 'b'])).toBe('valid');
});
