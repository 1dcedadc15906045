import { describe, expect, it } from 'vitest';
import {
  type BodyScanner,
  ChunkedBodyScanner,
  FixedLengthBodyScanner,
} from '../../src/engine/gateway/server/body-scanner.ts';
import { HeadScanner } from '../../src/engine/gateway/server/head-scanner.ts';
import { RequestLineScanner } from '../../src/engine/gateway/server/request-line-scanner.ts';

const NEXT = 'GET /next HTTP/1.1\r\n\r\n';

/** Yields every split of a text into two chunks, and the split into single bytes. */
function* splits(text: string): Generator<Buffer[]> {
  for (let at = 0; at <= text.length; at += 1) {
    yield [text.slice(0, at), text.slice(at)]
      .filter((chunk) => chunk !== '')
      .map((chunk) => Buffer.from(chunk, 'latin1'));
  }
  yield [...text].map((byte) => Buffer.from(byte, 'latin1'));
}

/** Returns the number of bytes that a scanner reads until it is complete. */
function scannedLength(scanner: Pick<BodyScanner, 'isComplete' | 'scan'>, chunks: readonly Buffer[]): number {
  let length = 0;
  for (const chunk of chunks) {
    if (scanner.isComplete) break;
    length += scanner.scan(chunk, 0);
  }
  return scanner.isComplete ? length : Number.NaN;
}

describe('ChunkedBodyScanner', () => {
  it.each([
    '0\r\n\r\n',
    '000\r\n\r\n',
    '0;x=1\r\n\r\n',
    '2\r\nab\r\n0\r\n\r\n',
    'A\r\n0\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n',
    '1f;name="a;b"\r\n0123456789012345678901234567890\r\n0\r\n\r\n',
    '1\r\na\r\n1\r\n\r\r\n1\r\n\n\r\n0\r\nX: 1\r\nY: 2\r\n\r\n',
  ])('finds the end of %j in any split', (body) => {
    for (const chunks of splits(body + NEXT)) expect(scannedLength(new ChunkedBodyScanner(), chunks)).toBe(body.length);
  });

  it.each(['', '2\r\nab\r\n', '0\r\n', '0\r\nX: 1\r\n', '0\r\n\r'])('finds no end in %j', (body) => {
    for (const chunks of splits(body)) expect(scannedLength(new ChunkedBodyScanner(), chunks)).toBeNaN();
  });
});

describe('FixedLengthBodyScanner', () => {
  it.each([1, 2, 7])('finds the end of a body of %i bytes in any split', (length) => {
    for (const chunks of splits('a'.repeat(length) + NEXT)) {
      expect(scannedLength(new FixedLengthBodyScanner(length), chunks)).toBe(length);
    }
  });
});

describe('HeadScanner', () => {
  it.each(['\r\n', 'Host: a\r\n\r\n', 'A: \r\r\r\n\r\n', 'A: b\r\nC: d\r\n\r\n'])(
    'finds the end of %j in any split',
    (rest) => {
      for (const chunks of splits(rest + NEXT)) expect(scannedLength(new HeadScanner(), chunks)).toBe(rest.length);
    },
  );

  it('finds no end in an incomplete head', () => {
    for (const chunks of splits('A: b\r\n\rC: d\r\n')) expect(scannedLength(new HeadScanner(), chunks)).toBeNaN();
  });
});

describe('RequestLineScanner', () => {
  const read = (chunks: readonly Buffer[]) => {
    const line = new RequestLineScanner();
    let length = 0;
    for (const chunk of chunks) {
      if (line.isComplete) break;
      const at = line.scan(chunk, 0);
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
  ])('accepts %j in any split', (line) => {
    for (const chunks of splits(`${line}Host: a\r\n\r\n`)) expect(read(chunks)).toBe(line.length);
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
  ])('refuses %j in any split', (line) => {
    for (const chunks of splits(line)) expect(read(chunks)).toBe('malformed');
  });
});
