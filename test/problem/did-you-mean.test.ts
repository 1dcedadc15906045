import { describe, expect, test } from 'vitest';
import { didYouMean, suggestion } from '../../src/engine/problem/did-you-mean.ts';

describe('the nearest word', () => {
  test.each([
    ['methd', ['id', 'method', 'path'], 'method'],
    ['auht', ['auth'], 'auth'],
    ['maxbytes', ['maxBytes'], 'maxBytes'],
    ['max_bytes', ['maxBytes'], 'maxBytes'],
    ['max-bytes', ['maxBytes'], 'maxBytes'],
    ['allowed', ['claim', 'allow'], 'allow'],
    ['max', ['schema', 'maxBytes'], 'maxBytes'],
    ['get', ['GET', 'POST'], 'GET'],
    ['uri', ['url'], 'url'],
    ['lnit', ['init', 'lint'], 'lint'],
    ['inti', ['lint', 'init'], 'init'],
    ['linit', ['init', 'lint'], 'init'],
    ['ids', ['id', 'ids-of'], 'id'],
    ['plugins', ['version', 'routes'], undefined],
    ['', ['id'], undefined],
    ['a', ['auth'], undefined],
    ['xyz', [], undefined],
    ['constructor', ['contacts'], undefined],
  ])('%s among %j', (written, known, expected) => {
    expect(didYouMean(written, known)).toBe(expected);
  });

  test('of two that are as near, the first', () => expect(didYouMean('cat', ['bat', 'rat'])).toBe('bat'));
});

describe('what is said', () => {
  test('the word that is meant', () => expect(suggestion('methd', ['method'])).toBe('; did you mean "method"?'));
  test('or all of them', () => expect(suggestion('x', ['one', 'two'])).toBe('; write one of: one, two'));
  test('or the first twelve', () => {
    const many = Array.from({ length: 13 }, (_, index) => `word-${index}`);
    expect(suggestion('x', many)).toBe(`; write one of: ${many.slice(0, 12).join(', ')}, …`);
    expect(suggestion('x', many.slice(1))).not.toContain('…');
  });
  test('or nothing', () => expect(suggestion('x', [])).toBe(''));
});
