import { describe, expect, it } from 'vitest';
import { type BodyScanner, ChunkedBodyScanner, FixedLengthBodyScanner } from '../../src/gateway/server/body-scanner.ts';
import { HeadScanner } from '../../src/gateway/server/head-scanner.ts';
import { RequestLineScanner } from '../../src/gateway/server/request-line-scanner.ts';

const NEXT = 'GET /next HTTP/1.1\r\n\r\n';

/** All ways to cut a text into two pieces, and the one into single bytes. */
function* cuts(text: string): Generator<Buffer[]> {
  for (let at = 0; at <= text.length; at += 1) {
    yield [text.slice(0, at), text.slice(at)]
      .filter((piece) => piece !== '')
      .map((piece) => Buffer.from(piece, 'latin1'));
  }
  yield [...text].map((byte) => Buffer.from(byte, 'latin1'));
}

/** How many bytes are read until the end is reached. */
function lengthIn(end: Pick<BodyScanner, 'isComplete' | 'scan'>, pieces: readonly Buffer[]): number {
  let length = 0;
  for (const piece of pieces) {
    if (end.isComplete) break;
    length += end.scan(piece, 0);
  }
  return end.isComplete ? length : Number.NaN;
}

describe('the end of a body in chunks', () => {
  it.each([
    '0\r\n\r\n',
    '000\r\n\r\n',
    '0;x=1\r\n\r\n',
    '2\r\nab\r\n0\r\n\r\n',
    'A\r\n0\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n',
    '1f;name="a;b"\r\n0123456789012345678901234567890\r\n0\r\n\r\n',
    '1\r\na\r\n1\r\n\r\r\n1\r\n\n\r\n0\r\nX: 1\r\nY: 2\r\n\r\n',
  ])('%j is found however the bytes come', (body) => {
    for (const pieces of cuts(body + NEXT)) expect(lengthIn(new ChunkedBodyScanner(), pieces)).toBe(body.length);
  });

  it.each(['', '2\r\nab\r\n', '0\r\n', '0\r\nX: 1\r\n', '0\r\n\r'])('%j has none', (body) => {
    for (const pieces of cuts(body)) expect(lengthIn(new ChunkedBodyScanner(), pieces)).toBeNaN();
  });
});

describe('the end of a counted body', () => {
  it.each([1, 2, 7])('of %i bytes is found however they come', (length) => {
    for (const pieces of cuts('a'.repeat(length) + NEXT)) {
      expect(lengthIn(new FixedLengthBodyScanner(length), pieces)).toBe(length);
    }
  });
});

describe('the end of a head', () => {
  it.each(['\r\n', 'Host: a\r\n\r\n', 'A: \r\r\r\n\r\n', 'A: b\r\nC: d\r\n\r\n'])(
    '%j is found however it comes',
    (rest) => {
      for (const pieces of cuts(rest + NEXT)) expect(lengthIn(new HeadScanner(), pieces)).toBe(rest.length);
    },
  );

  it('is not found where there is none', () => {
    for (const pieces of cuts('A: b\r\n\rC: d\r\n')) expect(lengthIn(new HeadScanner(), pieces)).toBeNaN();
  });
});

describe('a request line', () => {
  const read = (pieces: readonly Buffer[]) => {
    const line = new RequestLineScanner();
    let length = 0;
    for (const piece of pieces) {
      if (line.isComplete) break;
      const at = line.scan(piece, 0);
      if (at === -1) return 'malformed';
      length += at;
    }
    return line.isComplete ? length : 'unfinished';
  };

  it.each([
    'GET / HTTP/1.1\r\n',
    '\r\nM-SEARCH * HTTP/1.0\r\n',
    'A http://a/b?c=%20"{}| HTTP/2.0\r\n',
    'A \xe9 HTTP/0.9\r\n',
  ])('%j is whole however it comes', (line) => {
    for (const pieces of cuts(`${line}Host: a\r\n\r\n`)) expect(read(pieces)).toBe(line.length);
  });

  it.each([
    ' GET / HTTP/1.1\r\n',
    'GET  / HTTP/1.1\r\n',
    'GET /  HTTP/1.1\r\n',
    'GET / HTTP/1.1 \r\n',
    'GET /\tHTTP/1.1\r\n',
    'GET\t/ HTTP/1.1\r\n',
    'GET /\x7f HTTP/1.1\r\n',
    'GET / RTSP/1.0\r\n',
    'GET / http/1.1\r\n',
    'GET / HTTP/1.1\n',
    'GET / HTTP/11\r\n',
    'GET / HTTP/1.10\r\n',
    'GET /\r\n',
    'GET\r\n',
    '\r\n\r\nGET / HTTP/1.1\r\n',
    '\nGET / HTTP/1.1\r\n',
    '\rGET / HTTP/1.1\r\n',
    '\0GET / HTTP/1.1\r\n',
  ])('%j is malformed however it comes', (line) => {
    for (const pieces of cuts(line)) expect(read(pieces)).toBe('malformed');
  });
});
