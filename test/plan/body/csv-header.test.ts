import { describe, expect, test } from 'vitest';
import { CsvHeaderValidator } from '../../../src/plan/body/csv-header.ts';

function verdict(text: string | Buffer, pieceBytes: number, header = ['name', 'e-mail, or so'], delimiter = ',') {
  const bytes = Buffer.from(text as string);
  const inspector = new CsvHeaderValidator({ header, delimiter }, true);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const fault = inspector.write(bytes.subarray(at, at + pieceBytes));
    if (fault !== undefined) return fault.message;
  }
  return inspector.end()?.message ?? 'fits';
}

const HEADER = 'name,"e-mail, or so"';
const WRONG = 'must begin with the row name,e-mail, or so';

describe.each([1, 3, 1_000_000])('in pieces of %i bytes', (pieceBytes) => {
  test.each<[string | Buffer, string]>([
    [`${HEADER}\n`, 'fits'],
    [`${HEADER}\r\nEva,eva@partner.example\r\n`, 'fits'],
    [HEADER, 'fits'],
    [`\ufeff"name","e-mail, or so"\n"`, 'fits'],
    [Buffer.from(`${HEADER}\nB\xf6ll`, 'latin1'), 'fits'],
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
  ])('%j: %s', (text, expected) => expect(verdict(text, pieceBytes)).toBe(expected));
});

test('another delimiter', () => {
  expect(verdict('a;b\n', 1, ['a', 'b'], ';')).toBe('fits');
  expect(verdict('a,b\n', 1, ['a', 'b'], ';')).toBe('must begin with the row a;b');
});

test('a first row is refused as soon as it is longer than the stated one can be', () => {
  const inspector = new CsvHeaderValidator({ header: ['a', 'b'], delimiter: ',' }, true);
  expect(inspector.write(Buffer.from('a,'.repeat(20)))?.message).toBe('must begin with the row a,b');
  const quotes = '""'.repeat(50);
  expect(verdict(`\ufeff"${quotes}","b"\r\n`, 1, ['"'.repeat(50), 'b'])).toBe('fits');
});
