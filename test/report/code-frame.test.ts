import { describe, expect, test } from 'vitest';
import type { Problem } from '../../src/engine/problem/problem.ts';
import { codeFrame, linesOf, redactSource } from '../../src/report/code-frame.ts';

const range = (line: number, column: number, endLine = line, endColumn = column + 1) => ({
  line,
  column,
  endLine,
  endColumn,
});
const framed = (text: string, place: ReturnType<typeof range>) => codeFrame(linesOf(text), place).split('\n');

describe('a code frame', () => {
  test('shows two lines before, and a caret under the culprit', () => {
    expect(framed('a\nb\nc\nmethd: x', range(4, 1, 4, 6))).toEqual(['2 │ b', '3 │ c', '4 │ methd: x', '  │ ^^^^^']);
  });

  test('lines up the numbers', () => {
    const text = Array.from({ length: 10 }, (_, index) => `l${index + 1}`).join('\n');
    expect(framed(text, range(10, 2))).toEqual([' 8 │ l8', ' 9 │ l9', '10 │ l10', '   │  ^']);
  });

  test('at the first line', () => expect(framed('ab', range(1, 2))).toEqual(['1 │ ab', '  │  ^']));
  test('of an empty text', () => expect(framed('', range(1, 1, 1, 1))).toEqual(['1 │', '  │ ^']));
  test('after the last character', () => expect(framed('ab', range(1, 3, 1, 3))).toEqual(['1 │ ab', '  │   ^']));

  test('of several lines ends with its first', () => {
    expect(framed('  ab c  \nd', range(1, 3, 2, 2))).toEqual(['1 │   ab c', '  │   ^^^^']);
  });

  test('with CRLF, tabs and a byte order mark', () => {
    expect(framed('\uFEFFa:\tb\r\nc', range(1, 4))).toEqual(['1 │ a: b', '  │    ^']);
  });

  test('shows nothing that steers a terminal', () => {
    expect(framed('a\x1b[2J\0\x9b\u202eb', range(1, 9))).toEqual([
      '1 │ a\uFFFD[2J\uFFFD\uFFFD\uFFFDb',
      '  │         ^',
    ]);
  });

  test('of a long line shows the part that it is about', () => {
    const text = `${'x'.repeat(500)}HERE${'y'.repeat(500)}`;
    const [line = '', caret = ''] = framed(text, range(1, 501, 1, 505));
    expect(line.slice(caret.indexOf('^'), caret.lastIndexOf('^') + 1)).toBe('HERE');
    expect(line.length).toBeLessThanOrEqual(124);
  });

  test('of a long culprit stays short', () => {
    const [line = '', caret = ''] = framed('x'.repeat(500), range(1, 1, 1, 501));
    expect(line).toHaveLength(124);
    expect(caret).toHaveLength(124);
  });

  test('of one text after another', () => {
    expect(framed('one', range(1, 1))[0]).toBe('1 │ one');
    expect(framed('two', range(1, 1))[0]).toBe('1 │ two');
  });
});

describe('what is shown of secrets', () => {
  const secretAt = (...place: Parameters<typeof range>): Problem => ({
    ...{ rule: 'a', severity: 'warning', file: 'f', message: 'm' },
    range: range(...place),
    isSecret: true,
  });

  test('is how long they are', () => {
    expect(redactSource('a: one\r\nb: two # c\r\n', [secretAt(2, 4, 2, 7)])).toBe('a: one\r\nb: ••• # c\r\n');
  });

  test('behind a byte order mark, and over several lines', () => {
    expect(redactSource('\uFEFFk: |\n  ab\n  cd\nx: y', [secretAt(1, 4, 3, 5)])).toBe('\uFEFFk: •\n  ••\n  ••\nx: y');
  });

  test('goes for every frame of the text, and for what two problems are about', () => {
    expect(redactSource('k: abc', [secretAt(1, 4, 1, 7), secretAt(1, 4, 1, 7)])).toBe('k: •••');
  });

  test('goes for user and password of a URL, whatever the problem is about', () => {
    expect(redactSource('u: http://me:pass@host/x@y # a@b', [])).toBe('u: http://•••••••@host/x@y # a@b');
  });
});
