import { describe, expect, it } from 'vitest';
import { serializeHeaders } from '../src/engine/http1/message-head.ts';
import { forEachHeader, getAllHeaders, getHeader, setHeader, withoutHeaders } from '../src/engine/http1/raw-headers.ts';

const HEADERS = ['Vary', 'a', 'X-Vary', 'vary', 'VARY', 'b'];

describe('raw headers', () => {
  it('finds a header by its name in any letter case, and never by a value', () => {
    expect([getHeader(HEADERS, 'vary'), getHeader(HEADERS, 'b')]).toEqual(['a', undefined]);
    expect(getAllHeaders(HEADERS, 'vary')).toEqual(['a', 'b']);
  });

  it('removes headers by their names as written', () => {
    expect(withoutHeaders(HEADERS, (written) => written === 'VARY')).toEqual(['Vary', 'a', 'X-Vary', 'vary']);
  });

  it('sets the first header of a name, or appends the header', () => {
    expect(setHeader(HEADERS, 'Vary', 'c')).toEqual(['Vary', 'c', 'X-Vary', 'vary', 'VARY', 'b']);
    expect(setHeader(HEADERS, 'Age', '1')).toEqual([...HEADERS, 'Age', '1']);
  });

  it('serializes headers as lines, and visits them as pairs', () => {
    expect(serializeHeaders(['A', '1', 'b', ''])).toBe('A: 1\r\nb: \r\n');
    const pairs: [string, string][] = [];
    forEachHeader(['A', '1', 'b', ''], (name, value) => pairs.push([name, value]));
    expect(pairs).toEqual([
      ['A', '1'],
      ['b', ''],
    ]);
  });
});
